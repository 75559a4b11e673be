// Execution runtimes: checked where they are given, found by name, never without a default, started and stopped once.
// And the id of a system.

import { describe, expect, test } from 'vitest'
import { ActorSystem, type ExecutionRuntime, ExecutionRuntimes, ManualRuntime, receive, same } from '@troupe/core'

const invalid = (text: string | RegExp): unknown =>
  expect.objectContaining({ code: 'invalid-option', message: typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text) })

class Watched extends ManualRuntime {
  readonly log: string[] = []
  start(): void {
    this.log.push('start')
  }
  stop(): void {
    this.log.push('stop')
  }
  override wake(task: () => void): void {
    this.log.push('wake')
    super.wake(task)
  }
}

describe('a runtime', () => {
  test('is started once, before it runs anything, and stopped once, when its system has ended', async () => {
    const runtime = new Watched()
    const system = ActorSystem.create('s', { runtime, root: receive<string>(() => same) })
    expect(runtime.log.slice(0, 2)).toEqual(['start', 'wake'])
    await system.shutdown()
    expect(runtime.log.filter((l) => l !== 'wake')).toEqual(['start', 'stop'])
  })
  test('that was started for a system that cannot be is stopped again', () => {
    const runtime = new Watched()
    expect(() => ActorSystem.create('s', { runtime, root: 5 as never })).toThrow(expect.objectContaining({ code: 'not-a-behavior' }))
    expect(runtime.log).toEqual(['start', 'stop'])
    const other = new Watched()
    expect(() => ActorSystem.create('s', { runtime: other, askTimeout: -1 })).toThrow(invalid('askTimeout'))
    expect(other.log).toEqual([])
  })
  test('without what a dispatcher needs is refused, by the name of what is missing', () => {
    for (const missing of ['now', 'random', 'wake', 'yield', 'timer', 'enter', 'hold'] as const) {
      const runtime = Object.assign(Object.create(new ManualRuntime()) as ExecutionRuntime, { [missing]: undefined })
      expect(() => ActorSystem.create('s', { runtime })).toThrow(invalid(`runtime.${missing}`))
      expect(() => ActorSystem.create('s', { runtime: 'mine', runtimes: { mine: () => runtime } })).toThrow(invalid(`.${missing}`))
    }
    for (const wrong of [{ start: 5 }, { stop: 'x' }, { pump: {} }])
      expect(() => ActorSystem.create('s', { runtime: Object.assign(new ManualRuntime(), wrong) as never })).toThrow(invalid('runtime.'))
    expect(() => ActorSystem.create('s', { runtime: null as never })).toThrow(invalid('runtime'))
  })
})

describe('runtimes of a system', () => {
  test('are all checked, also those that are not used', () => {
    expect(() => ActorSystem.create('s', { runtimes: { x: 5 as never } })).toThrow(invalid('runtimes.x'))
    expect(() => ActorSystem.create('s', { runtime: 'x', runtimes: { x: 5 as never } })).toThrow(invalid('runtimes.x'))
    expect(() => ActorSystem.create('s', { runtimes: 5 as never })).toThrow(invalid('runtimes'))
    expect(() => ActorSystem.create('s', { runtimes: null as never })).toThrow(invalid('runtimes'))
    expect(() => ActorSystem.create('s', { runtime: 'x', runtimes: { x: () => 7 as never } })).toThrow(invalid('runtimes.x'))
  })
})

describe('a registry of runtimes', () => {
  test("may be anybody else's, and a record may have runtimes called default and create", async () => {
    const asked: unknown[] = []
    const create = (name?: string): ExecutionRuntime => {
      asked.push(name)
      return new ManualRuntime()
    }
    const systems = [
      ActorSystem.create('s', { runtimes: { default: 'mine', create } }),
      ActorSystem.create('s', { runtimes: { default: 'mine', create }, runtime: 'other' }),
      ActorSystem.create('s', { runtimes: { default: () => new ManualRuntime(), create: () => new ManualRuntime() }, runtime: 'default' }),
    ]
    expect(asked).toEqual([undefined, 'other'])
    expect(systems.map((s) => s.pump())).toEqual(['idle', 'idle', 'idle'])
    expect(() => ActorSystem.create('s', { runtimes: { default: 'mine', create: () => 5 as never } })).toThrow(invalid('runtimes'))
    for (const s of systems) await s.shutdown()
  })
  test('has the built-in ones, takes others, lists them and lets them go', async () => {
    const runtimes = new ExecutionRuntimes()
    expect([runtimes.names, runtimes.default]).toEqual([['host', 'manual'], 'host'])
    const made: Watched[] = []
    runtimes.register('mine', () => made[made.push(new Watched()) - 1]!)
    expect(runtimes.names).toEqual(['host', 'manual', 'mine'])
    const system = ActorSystem.create('s', { runtimes, runtime: 'mine' })
    expect([made.length, made[0]!.log[0], system.pump()]).toEqual([1, 'start', 'idle'])
    runtimes.unregister('mine')
    expect(runtimes.names).toEqual(['host', 'manual'])
    expect(() => ActorSystem.create('s', { runtimes, runtime: 'mine' })).toThrow(invalid(/mine.*host, manual/))
    // Who has one keeps it.
    await system.shutdown()
    expect(made[0]!.log.at(-1)).toBe('stop')
  })
  test('has a default that can be changed and never goes away', async () => {
    const runtimes = new ExecutionRuntimes()
    expect(() => runtimes.unregister('host')).toThrow(expect.objectContaining({ code: 'not-allowed', message: expect.stringContaining('default') }))
    runtimes.register('mine', () => new Watched())
    runtimes.default = 'mine'
    const system = ActorSystem.create('s', { runtimes })
    expect(system.pump()).toBe('idle')
    expect(() => runtimes.unregister('mine')).toThrow(expect.objectContaining({ code: 'not-allowed' }))
    expect(() => (runtimes.default = 'warp')).toThrow(invalid(/warp.*host, manual, mine/))
    expect(runtimes.default).toBe('mine')
    runtimes.unregister('host')
    expect(runtimes.names).toEqual(['manual', 'mine'])
    await system.shutdown()
  })
  test('refuses what makes no runtime, names that are none, and what is not there', () => {
    const runtimes = new ExecutionRuntimes()
    expect(() => runtimes.register('x', 5 as never)).toThrow(invalid('x'))
    for (const name of ['', 5, null]) expect(() => runtimes.register(name as never, () => new ManualRuntime())).toThrow(invalid('name'))
    expect(() => runtimes.unregister('x')).toThrow(invalid(/x.*host, manual/))
    expect(() => runtimes.register('host', () => new ManualRuntime())).toThrow(invalid(/host.*[Uu]nregister/))
    runtimes.register('broken', () => ({}) as never)
    expect(() => ActorSystem.create('s', { runtimes, runtime: 'broken' })).toThrow(invalid('runtimes.broken'))
  })
})

test('each system has an id of its own, which its actors see', async () => {
  const [a, b] = ['same', 'same'].map((name) => ActorSystem.create(name, { keepAlive: false }))
  expect(Number.isSafeInteger(a!.id)).toBe(true)
  expect(b!.id).toBe(a!.id + 1)
  let seen: number | undefined
  const ref = a!.spawn<string>(
    receive((ctx) => {
      seen = ctx.system.id
      return same
    }),
  )
  ref.tell('look')
  await a!.shutdown({ drain: true })
  expect(seen).toBe(a!.id)
  await b!.shutdown()
})

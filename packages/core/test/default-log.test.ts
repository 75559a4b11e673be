// What a system prints that was given no logger, and what loggers of others are told.

import { createTestKit, simulate } from '@troupe/testkit'
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest'
import { ActorError, ActorSystem, ignore, type LevelledLogger, ManualRuntime, receive, same, setup, type SystemOptions } from '@troupe/core'

type Pay = { type: 'pay'; card: string } | { type: string }

const till = receive<Pay>((_ctx, m) => {
  if (m.type === 'pay') throw new Error('declined')
  return same
})

let spies: MockInstance[]
let lines: string[]
const printed = (): string[] => lines
beforeEach(() => {
  lines = []
  const write = (...args: unknown[]): void => void lines.push(args.join(' '))
  spies = (['warn', 'error', 'log', 'info', 'debug'] as const).map((level) => vi.spyOn(console, level).mockImplementation(write))
})
afterEach(() => vi.restoreAllMocks())

/** A system on a clock that only the test moves. */
function made(options: SystemOptions = {}): { readonly system: ActorSystem; readonly pass: (ms: number) => void } {
  let now = 0
  const system = ActorSystem.create('shop', { keepAlive: false, ...options, runtime: new ManualRuntime({ now: () => now }) })
  return {
    system,
    pass: (ms) => {
      system.pump()
      now += ms
      system.pump()
    },
  }
}

describe('a system without a logger', () => {
  test('says who failed, on what type of message, what was decided and why; never what was in the message', async () => {
    const { system, pass } = made()
    system.spawn(till, { name: 'till' }).tell({ type: 'pay', card: '4111 1111' })
    pass(0)
    expect(printed()).toHaveLength(1)
    const [first, second] = printed()[0]!.split('\n')
    expect(first).toBe('error [shop] /user/till: the actor failed (message pay, directive restart)')
    expect(second).toBe('    Error: declined')
    expect(printed()[0]).toContain('default-log.test.ts')
    expect(printed()[0]).not.toContain('4111')
    await system.shutdown()
  })

  test('prints warnings and errors to standard error, and nothing else anywhere', async () => {
    const { system, pass } = made()
    system.spawn(
      setup<never>((ctx) => {
        for (const level of ['debug', 'info', 'warn', 'error'] as const) ctx.log[level]({ table: 7, secret: { pin: 1234 } }, `said at ${level}`)
        return ignore
      }),
      { name: 'waiter' },
    )
    pass(0)
    expect(printed()).toEqual(['warn [shop] /user/waiter: said at warn (table 7)', 'error [shop] /user/waiter: said at error (table 7)'])
    const [warn, error, ...others] = spies.map((spy) => spy.mock.calls.length)
    expect([warn, error, others]).toEqual([1, 1, [0, 0, 0]])
    await system.shutdown()
  })

  test('says that a first start failed, and where that came from', async () => {
    const { system, pass } = made()
    system.spawn(
      setup<never>(() => {
        throw new Error('no till roll')
      }),
      { name: 'till' },
    )
    pass(0)
    const [first, second, third] = printed()[0]!.split('\n')
    expect(first).toBe('error [shop] /user/till: the actor failed (directive stop)')
    expect(second).toContain('ActorInitializationError: /user/till failed to start: no till roll')
    expect(third).toBe('    Error: no till roll')
    await system.shutdown()
  })

  test('sums up a storm of failures of one actor', async () => {
    const { system, pass } = made()
    const ref = system.spawn(till, { name: 'till', supervision: 'resume' })
    for (let i = 0; i < 1000; i++) ref.tell({ type: 'pay', card: '' })
    pass(1000)
    expect(printed()).toHaveLength(6)
    expect(printed()[5]).toContain('/user/till: the actor goes on failing (failures 995')
    await system.shutdown()
  })

  test('sums up a storm of failures of many actors', async () => {
    const { system, pass } = made()
    for (let i = 0; i < 1000; i++) system.spawn(till, { supervision: 'stop' }).tell({ type: 'pay', card: '' })
    pass(1000)
    expect(printed()).toHaveLength(51)
    expect(printed()[50]).toBe('warn [shop] … and 950 more lines in the last second')
    await system.shutdown()
  })

  test('sums up in one line what reached no actor while the system stopped', async () => {
    const { system, pass } = made()
    const drawer = system.spawn(
      receive<Pay>(() => same),
      { name: 'drawer' },
    )
    for (let i = 0; i < 20; i++)
      system.spawn(
        receive<Pay>(
          () => same,
          (_ctx, signal) => {
            if (signal.type === 'PostStop') drawer.tell({ type: 'pay', card: '4111' })
            return same
          },
        ),
      )
    pass(0)
    drawer.stop()
    pass(0)
    const ending = system.shutdown()
    pass(0)
    await ending
    expect(printed()).toEqual(['warn [shop] 20 messages reached no actor while the system stopped; system.deadLetters has the last of them'])
    expect(system.deadLetters.list()).toHaveLength(20)
  })
  test('tells of dead letters, a few one by one and the rest as a sum', async () => {
    const { system, pass } = made()
    const ref = system.spawn(till, { name: 'till' })
    ref.stop()
    pass(0)
    for (let i = 0; i < 1209; i++) ref.tell({ type: 'pay', card: '4111' })
    expect(printed()).toEqual(Array.from({ length: 5 }, () => 'warn [shop] a dead letter (message pay, to /user/till, reason stopped)'))
    pass(1000)
    expect(printed().slice(5)).toEqual(['warn [shop] … and 1,204 more dead letters in the last second'])
    await system.shutdown()
  })

  test('says at its end what it had held back', async () => {
    const { system, pass } = made()
    const ref = system.spawn(till)
    ref.stop()
    pass(0)
    for (let i = 0; i < 10; i++) ref.tell({ type: 'pay', card: '' })
    await system.shutdown()
    expect(printed().at(-1)).toBe('warn [shop] … and 5 more dead letters in the last second')
  })

  test('cuts paths at 200 characters, and keeps on one line what came from elsewhere', async () => {
    const { system, pass } = made()
    const ref = system.spawn(till, { name: 'x'.repeat(250) })
    ref.tell({ type: 'pay', card: '' })
    pass(0)
    expect(printed()[0]!.split('\n')[0]).toBe(`error [shop] /user/${'x'.repeat(194)}…: the actor failed (message pay, directive restart)`)
    ref.stop()
    pass(0)
    ref.tell({ type: `a\nb\u001b[31m${'c'.repeat(300)}` })
    const letter = printed().at(-1)!
    expect(letter).toMatch(/^warn \[shop\] a dead letter \(message a b \[31mc+…, to \/user\/x+…, reason stopped\)$/)
    await system.shutdown()
  })

  test('prints causes that cannot be read, and no cause at all', async () => {
    const { system, pass } = made()
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const hostile = Object.defineProperty(new Error('x'), 'stack', {
      get: () => {
        throw new Error('no stack for you')
      },
    })
    for (const cause of [proxy, hostile, undefined, null, 'a word', Object.assign(new Error('round'), { cause: 5 })])
      system
        .spawn(
          receive<string>(() => {
            throw cause
          }),
          { supervision: 'stop' },
        )
        .tell('go')
    pass(0)
    expect(printed()).toHaveLength(6)
    expect(printed()[4]).toContain('"a word"')
    await system.shutdown()
  })

  test('does without a console where the host has none', async () => {
    vi.stubGlobal('console', undefined)
    const { system, pass } = made()
    system.spawn(till).tell({ type: 'pay', card: '' })
    pass(0)
    await system.shutdown()
    vi.unstubAllGlobals()
    expect(system.failures.count).toBe(1)
  })
})

describe('silent are', () => {
  const trouble = (system: ActorSystem): void => {
    const ref = system.spawn(till)
    ref.tell({ type: 'pay', card: '' })
    ref.tell(undefined as never)
  }
  test('a system with logger: false', async () => {
    const { system, pass } = made({ logger: false })
    trouble(system)
    pass(2000)
    await system.shutdown()
    expect(printed()).toEqual([])
  })
  test('the test kit, which keeps what is logged; also where its logger is given as undefined', async () => {
    for (const options of [{}, { logger: undefined }]) {
      const kit = createTestKit(options)
      trouble(kit.system)
      await kit.settle()
      kit.expectLog('the actor failed')
      kit.expectLog({ message: 'undefined', reason: 'undefined-message' })
      await kit.end()
    }
    expect(printed()).toEqual([])
  })
  test('the simulator', async () => {
    await simulate((sim) => trouble(sim.system), { seeds: 3 })
    expect(printed()).toEqual([])
  })
})

/** Works as pino's: levels that are off are functions that do nothing, methods need their `this`, and there is more than four of them. */
class PinoShaped {
  readonly lines: [string, Readonly<Record<string, unknown>>, string | undefined][] = []
  readonly level: string
  constructor(level: 'debug' | 'info') {
    this.level = level
    if (level !== 'debug') this.debug = () => {}
  }
  isLevelEnabled(level: string): boolean {
    return this.level === 'debug' || level !== 'debug'
  }
  #note(level: string, obj: Readonly<Record<string, unknown>>, msg: string | undefined): void {
    this.lines.push([level, obj, msg])
  }
  debug(obj: Readonly<Record<string, unknown>>, msg?: string, ..._args: unknown[]): void {
    this.#note('debug', obj, msg)
  }
  info(obj: Readonly<Record<string, unknown>>, msg?: string, ..._args: unknown[]): void {
    this.#note('info', obj, msg)
  }
  warn(obj: Readonly<Record<string, unknown>>, msg?: string, ..._args: unknown[]): void {
    this.#note('warn', obj, msg)
  }
  error(obj: Readonly<Record<string, unknown>>, msg?: string, ..._args: unknown[]): void {
    this.#note('error', obj, msg)
  }
  fatal(obj: Readonly<Record<string, unknown>>, msg?: string): void {
    this.#note('fatal', obj, msg)
  }
}

describe('another logger', () => {
  test('such as pino fits as it is, and hears what would have been printed', async () => {
    const pino = new PinoShaped('info')
    const { system, pass } = made({ logger: pino })
    system.spawn(till, { name: 'till' }).tell({ type: 'pay', card: '4111' })
    pass(0)
    expect(pino.lines).toMatchObject([
      ['error', { actor: '/user/till', message: 'pay', directive: 'restart', cause: { message: 'declined' } }, 'the actor failed'],
    ])
    expect(printed()).toEqual([])
    await system.shutdown()
  })
  test('hears of phases at debug, where it says that debug is on', async () => {
    const pino = new PinoShaped('debug')
    const { system, pass } = made({ logger: pino })
    const ref = system.spawn(ignore, { name: 'till' })
    pass(0)
    ref.stop()
    pass(0)
    const own = pino.lines.filter(([, { actor }]) => actor !== '/user')
    expect(own.map(([level, fields, message]) => [level, message, fields])).toEqual(
      ['created starting', 'starting running', 'running stopping', 'stopping stopped', 'stopped terminated'].map((change) => {
        const [from, to] = change.split(' ')
        return ['debug', 'the actor changed its phase', { actor: '/user/till', from, to }]
      }),
    )
    await system.shutdown()
  })
  test('that does not say so hears of them; nothing is observed for one to which debug means nothing', async () => {
    const heard: string[] = []
    const note = ({ actor }: Readonly<Record<string, unknown>>, message: string): void => void (actor !== '/user' && heard.push(message))
    const plain: LevelledLogger = { debug: note, info: note, warn: note, error: note }
    const { system, pass } = made({ logger: plain })
    system.spawn(ignore)
    pass(0)
    expect(heard).toEqual(['the actor changed its phase', 'the actor changed its phase'])
    await system.shutdown()
    const quiet = made({ logger: new PinoShaped('info') })
    quiet.system.spawn(ignore)
    quiet.pass(0)
    expect(quiet.system.metrics().unheard).toBeGreaterThan(0)
    await quiet.system.shutdown()
  })
  test('may be the console', async () => {
    const { system, pass } = made({ logger: console })
    system.spawn(till, { name: 'till' }).tell({ type: 'pay', card: '4111' })
    pass(0)
    expect(spies[1]!.mock.calls).toMatchObject([[{ actor: '/user/till', message: 'pay' }, 'the actor failed']])
    await system.shutdown()
  })
  test('is refused where it is none, and where it cannot say what is on', () => {
    for (const logger of [true, null, {}, { ...console, warn: 5 }, { ...console, isLevelEnabled: 5 }])
      expect(() => ActorSystem.create('x', { logger: logger as never })).toThrow(expect.objectContaining({ code: 'invalid-option' }))
  })
  test('hears of a failure at the severity it was given', async () => {
    const pino = new PinoShaped('info')
    const { system, pass } = made({ logger: pino })
    system
      .spawn(
        receive<string>(() => {
          throw new ActorError('rain', { severity: 'info' })
        }),
      )
      .tell('go')
    pass(0)
    expect(pino.lines.map(([level]) => level)).toEqual(['info'])
    await system.shutdown()
  })
})

// What other packages join a system by: their state, its beginning and its end; and the sends that they may hold.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type ActorRef, ActorSystem, type Behavior, type Extension, receive, same, setup } from '@troupe/core'
import { type Catcher, type Cell, extensionOf, fuse, type Meta, type PendingAsk } from '@troupe/core/internal'

const quiet = { logger: false } as const

describe('extensions', () => {
  test('are opened before the first actor, found by name, and closed in reverse after the last', async () => {
    const log: string[] = []
    const extension = (name: string): Extension => ({
      name,
      open: (system) => {
        log.push(`open ${name} of ${system.name}`)
        return { name, close: () => void log.push(`close ${name}`) }
      },
    })
    const root: Behavior<never> = setup(
      (ctx) => {
        log.push(`root finds ${(extensionOf(ctx.system, 'b') as { name: string }).name}`)
        return receive<never>(() => same)
      },
      (_ctx, signal) => void (signal.type === 'PostStop' && log.push('root ends')),
    )
    const system = ActorSystem.create('shop', { ...quiet, root, extensions: [extension('a'), extension('b')] })
    await system.started(system.root!)
    expect(extensionOf(system, 'c')).toBeUndefined()
    await system.shutdown()
    expect(log).toEqual(['open a of shop', 'open b of shop', 'root finds b', 'root ends', 'close b', 'close a'])
  })

  test('a shutdown waits for what they have to finish, and a failure there is logged', async () => {
    const kit = createTestKit()
    let finish: () => void = () => undefined
    const slow: Extension = { name: 'slow', open: () => ({ close: () => new Promise<void>((resolve) => (finish = resolve)) }) }
    const errors: unknown[] = []
    const logger = { debug() {}, info() {}, warn() {}, error: (fields: unknown) => void errors.push(fields) }
    const broken: Extension = { name: 'broken', open: () => ({ close: () => Promise.reject(new Error('no')) }) }
    const system = ActorSystem.create('shop', { logger, extensions: [slow, broken] })
    let ended = false
    const ending = system.shutdown().then(() => (ended = true))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(ended).toBe(false)
    expect(system.phase).toBe('closing')
    finish()
    await ending
    expect(errors).toEqual([{ cause: new Error('no') }])
    await kit.end()
  })

  test('one that never finishes does not hold a shutdown beyond its deadline', async () => {
    const stuck: Extension = { name: 'stuck', open: () => ({ close: () => new Promise(() => {}) }) }
    for (const runtime of ['host', 'manual']) {
      const system = ActorSystem.create('shop', { ...quiet, runtime, extensions: [stuck] })
      system.spawn(receive<string>(() => same))
      await system.shutdown({ deadline: 30 })
      expect(system.phase).toBe('closed')
    }
  })

  test('one that cannot be opened fails create, and lets go of those before it', async () => {
    let closed = false
    const good: Extension = { name: 'good', open: () => ({ close: () => void (closed = true) }) }
    const bad: Extension = {
      name: 'bad',
      open: () => {
        throw new Error('no disk')
      },
    }
    expect(() => ActorSystem.create('shop', { ...quiet, extensions: [good, bad] })).toThrow('no disk')
    await Promise.resolve()
    expect(closed).toBe(true)
    expect(() => ActorSystem.create('shop', { ...quiet, extensions: [good, good] })).toThrow(/one of a name/)
    expect(() => ActorSystem.create('shop', { ...quiet, extensions: [{}] as never })).toThrow(/array of extensions/)
  })
})

/** Keeps what a handler sends until it is let go. */
class Holding implements Catcher {
  readonly held: (() => void)[] = []
  caught(target: Cell | PendingAsk, message: unknown, meta: Meta): void {
    this.held.push(() => ('send' in target ? target.send(message, meta) : target.tell(message)))
  }
  acted(act: () => void): void {
    this.held.push(act)
  }
  refuse(what: string): never {
    throw new Error(`cannot ${what}`)
  }
  release(): void {
    for (const go of this.held.splice(0)) go()
  }
}

describe('the fuse', () => {
  test('holds tells, asks, answers and stops of a handler, by whatever ref, until they are let go; counted when they go', async () => {
    const kit = createTestKit()
    const probe = kit.probe<string>()
    const holding = new Holding()
    type Gated = { type: 'go'; replyTo: ActorRef<string> }
    const victim = kit.system.spawn(receive<string>(() => same))
    const gated = kit.system.spawn(
      receive<Gated>((ctx, m) => {
        const outer = fuse.catch(holding)
        probe.ref.tell('told')
        m.replyTo.tell('answer')
        victim.stop()
        expect(() => ctx.spawn(receive<string>(() => same))).toThrow('cannot spawn')
        fuse.done(outer)
        return same
      }),
    )
    const answer = gated.ask({ type: 'go' })
    await kit.settle()
    expect(kit.system.phaseOf(victim)).toBe('running')
    const before = await kit.system.ledger()
    expect(before.sent).toBe(1)
    holding.release()
    await expect(answer).resolves.toBe('answer')
    await kit.settle()
    probe.expect('told')
    expect(kit.system.phaseOf(victim)).toBe('terminated')
    await kit.end()
  })

  test('afterwards it is as if it had not been there, also for a catcher inside another', () => {
    const before = fuse.left
    const [one, two] = [new Holding(), new Holding()]
    const outer = fuse.catch(one)
    const inner = fuse.catch(two)
    expect(fuse.catcher).toBe(two)
    fuse.done(inner)
    expect(fuse.catcher).toBe(one)
    expect(fuse.left).toBe(1)
    fuse.done(outer)
    expect(fuse.catcher).toBeUndefined()
    expect(fuse.left).toBe(before)
  })

  test('an offer is refused while sends are held', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(receive<string>(() => same))
    const outer = fuse.catch(new Holding())
    const offered = ref.offer('x')
    fuse.done(outer)
    await expect(offered).rejects.toThrow(/cannot offer/)
    await kit.end()
  })
})

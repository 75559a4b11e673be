// What acts while something async is pending: BEHAVIOURS 52–56.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type ActorContext, type ActorRef } from '@troupe/core'
import { boom, gate, keeper, type Msg, often, say } from './keeper.ts'
import { type Slow, waiter } from './waiter.ts'

/** The code of what a call throws. */
function codeOf(call: () => unknown): string | undefined {
  try {
    call()
    return undefined
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('55. suspended', () => {
  test('system messages are handled, user messages queue; resume keeps their order; inspect shows reason and since', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const watched = kit.system.spawn(keeper())
    const ref = kit.system.spawn(waiter(log, undefined, (ctx) => ctx.watch(watched)))
    await kit.settle()
    kit.system.suspend(ref, 'maintenance')
    for (const word of ['a', 'b', 'c']) ref.tell(say(word))
    watched.stop()
    await kit.settle()
    expect(log).toEqual(['Terminated 0'])
    kit.clock.tick(250)
    expect(await kit.system.inspect(ref)).toMatchObject({ phase: 'suspended', queued: 3, waiting: { reason: 'maintenance', ms: 250 } })
    kit.system.resume(ref)
    ref.tell(say('d'))
    await kit.settle()
    expect(log.slice(1)).toEqual(['a 0', 'b 0', 'c 0', 'd 0'])
    await kit.end()
  })

  test('repeated control verbs are no-ops', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(waiter(log))
    await kit.settle()
    kit.system.resume(ref)
    kit.system.suspend(ref, 'first')
    kit.system.suspend(ref, 'second')
    await kit.settle()
    expect((await kit.system.inspect(ref)).waiting?.reason).toBe('first')
    kit.system.resume(ref)
    kit.system.resume(ref)
    kit.system.restart(ref)
    kit.system.restart(ref)
    await kit.settle()
    ref.stop()
    ref.stop()
    kit.system.kill(ref)
    await kit.settle()
    kit.system.suspend(ref, 'too late')
    await kit.settle()
    expect(log.filter((l) => l.startsWith('PostStop'))).toHaveLength(2)
    expect(await kit.system.whenTerminated(ref)).toMatchObject({ reason: 'killed' })
    expect(kit.logs).toEqual([])
    await kit.end()
  })

  test('suspend without a reason is refused', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(keeper())
    expect(() => kit.system.suspend(ref, '')).toThrow(/say why/)
    await kit.end()
  })
})

describe('56. while a handler is pending', () => {
  test('a Terminated or a ChildFailed waits until it settles', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const held = gate()
    const watched = kit.system.spawn(keeper())
    let child!: ActorRef<Msg>
    const ref = kit.system.spawn(
      waiter(log, undefined, (ctx) => {
        ctx.watch(watched)
        child = ctx.spawn(keeper(), { supervision: 'resume' })
      }),
    )
    await kit.settle()
    ref.tell({ type: 'wait', until: held.promise })
    await kit.settle()
    watched.stop()
    child.tell(boom())
    ref.tell(say('after'))
    await kit.settle()
    expect(log).toEqual([])
    held.open()
    await kit.settle()
    expect(log).toEqual(['waited 0', 'Terminated 0', 'ChildFailed 0', 'after 0'])
    await kit.end()
  })

  test('suspend acts at once: what was pending completes, and nothing follows until resume', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const held = gate()
    const ref = kit.system.spawn(waiter(log))
    ref.tell({ type: 'wait', until: held.promise })
    ref.tell(say('after'))
    await kit.settle()
    kit.system.suspend(ref, 'a test')
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('suspended')
    held.open()
    await kit.settle()
    expect(log).toEqual(['waited 0'])
    kit.system.resume(ref)
    await kit.settle()
    expect(log).toEqual(['waited 0', 'after 0'])
    await kit.end()
  })

  test.each(['stop', 'restart'] as const)('%s aborts ctx.signal, waits for the handler, and takes its time only up to stopTimeout', async (verb) => {
    const kit = createTestKit()
    const log: string[] = []
    const held = gate()
    let ctx!: ActorContext<Slow>
    const ref = kit.system.spawn(waiter(log, (c) => (ctx = c)))
    ref.tell({ type: 'wait', until: held.promise })
    ref.tell(say('after'))
    await kit.settle()
    expect(ctx.signal.aborted).toBe(false)
    kit.system[verb](ref)
    await kit.advance(4999)
    expect(ctx.signal.aborted).toBe(true)
    expect(log).toEqual([])
    held.open()
    await kit.settle()
    expect(log).toEqual(
      verb === 'stop' ? ['waited 0', 'PreStop 0', 'PostStop 0'] : ['waited 0', 'PreRestart 0', 'PostStop 0', 'PostRestart 1', 'after 1'],
    )
    expect((await kit.checkLedger()).failed).toBe(0)
    await kit.end()
  })

  test('kill abandons it at once; its context refuses everything, its result is dropped', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const held = gate()
    let ctx!: ActorContext<Slow>
    const ref = kit.system.spawn(waiter(log, (c) => (ctx = c)))
    const asked = ref.ask((): Slow => ({ type: 'wait', until: held.promise })).catch((error: unknown) => error)
    await kit.settle()
    kit.system.kill(ref)
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(await asked).toMatchObject({ code: 'ask-target-stopped' })
    const other = kit.system.spawn(keeper())
    const uses: Readonly<Record<string, () => unknown>> = {
      parent: () => ctx.parent,
      children: () => ctx.children,
      system: () => ctx.system,
      sender: () => ctx.sender,
      headers: () => ctx.headers,
      log: () => ctx.log,
      incarnation: () => ctx.incarnation,
      handedOver: () => ctx.handedOver,
      timers: () => ctx.timers,
      stash: () => ctx.stash,
      spawn: () => ctx.spawn(keeper()),
      stop: () => ctx.stop(),
      watch: () => ctx.watch(other),
      watchWith: () => ctx.watchWith(other, say('x')),
      unwatch: () => ctx.unwatch(other),
      ask: () => ctx.ask(other, { type: 'get' }),
      reply: () => ctx.reply(1),
      forward: () => ctx.forward(other),
      adapt: () => ctx.adapt((n: number) => say(String(n))),
      pipeToSelf: () =>
        ctx.pipeToSelf(
          Promise.resolve(),
          () => say('x'),
          () => say('x'),
        ),
      setReceiveTimeout: () => ctx.setReceiveTimeout(1),
      handOver: () => ctx.handOver(1),
    }
    const refusals = Object.fromEntries(Object.entries(uses).map(([name, use]) => [name, codeOf(use)]))
    expect(refusals).toEqual(Object.fromEntries(Object.keys(uses).map((name) => [name, 'context-ended'])))
    expect(ctx.self).toBe(ref)
    expect(ctx.path).toBe(ref.path)
    expect(ctx.signal.aborted).toBe(true)
    held.open()
    await kit.settle()
    expect(log).toEqual(['PostStop 0', 'waited 0'])
    expect((await kit.checkLedger()).failed).toBe(1)
    await kit.end()
  })

  test('parts of a context that were kept are refused after the incarnation has ended, too', async () => {
    const kit = createTestKit()
    const kept: { timers?: { once(key: string, ms: number, m: Slow): void }; stash?: { add(m: Slow): void } } = {}
    const log: string[] = []
    const ref = kit.system.spawn(
      waiter(log, undefined, (ctx) => {
        if (ctx.incarnation > 0) return
        kept.timers = ctx.timers
        kept.stash = ctx.stash
      }),
      { supervision: often },
    )
    ref.tell(boom())
    await kit.settle()
    expect(() => kept.stash!.add(say('x'))).toThrow(expect.objectContaining({ code: 'context-ended' }))
    expect(() => kept.timers!.once('x', 10, say('from the grave'))).toThrow(expect.objectContaining({ code: 'context-ended' }))
    await kit.advance(100)
    expect(log.filter((l) => l.startsWith('from'))).toEqual([])
    await kit.end()
  })

  test.each(['stop', 'resume'] as const)(
    "a restart that was asked for happens although the handler rejects when it is aborted, under '%s'",
    async (supervision) => {
      const kit = createTestKit()
      const log: string[] = []
      let reject!: (cause: unknown) => void
      const ref = kit.system.spawn(waiter(log), { supervision })
      ref.tell({ type: 'wait', until: new Promise((_, no) => (reject = no)) })
      await kit.settle()
      kit.system.restart(ref)
      await kit.settle()
      reject(new Error('aborted'))
      await kit.settle()
      expect(kit.system.phaseOf(ref)).toBe('running')
      expect((await kit.system.inspect(ref)).incarnation).toBe(1)
      expect(log).toEqual(['PreRestart 0', 'PostStop 0', 'PostRestart 1'])
      expect(kit.logs).toMatchObject([{ fields: { cause: new Error('aborted'), message: 'wait' } }])
      expect((await kit.checkLedger()).failed).toBe(1)
      await kit.end()
    },
  )

  test('a late rejection of a suspended actor is a failure; resumed by its policy it stays suspended', async () => {
    const kit = createTestKit()
    const log: string[] = []
    let reject!: (cause: unknown) => void
    const ref = kit.system.spawn(waiter(log), { supervision: 'resume' })
    ref.tell({ type: 'wait', until: new Promise((_, no) => (reject = no)) })
    ref.tell(say('after'))
    await kit.settle()
    kit.system.suspend(ref, 'maintenance')
    await kit.settle()
    reject(new Error('late'))
    await kit.settle()
    expect(kit.logs).toHaveLength(1)
    expect(kit.system.phaseOf(ref)).toBe('suspended')
    expect((await kit.system.inspect(ref)).waiting?.reason).toBe('maintenance')
    expect(log).toEqual([])
    kit.system.resume(ref)
    await kit.settle()
    expect(log).toEqual(['after 0'])
    await kit.end()
  })
})

test('52. continuations from before a restart are dropped; a rejection after stop is observed', async () => {
  const kit = createTestKit()
  const log: string[] = []
  let reject!: (cause: unknown) => void
  const ref = kit.system.spawn(waiter(log), { stopTimeout: 10 })
  ref.tell({ type: 'wait', until: new Promise((_, no) => (reject = no)) })
  await kit.settle()
  kit.system.restart(ref)
  await kit.advance(10)
  expect(kit.system.phaseOf(ref)).toBe('running')
  reject(new Error('too late'))
  await kit.settle()
  expect(kit.logs).toEqual([])
  expect((await kit.system.inspect(ref)).incarnation).toBe(1)
  await kit.end()
})

test('53. a handler pending for ever does not hold up others, nor a shutdown beyond its deadline', async () => {
  const kit = createTestKit()
  const log: string[] = []
  const ref = kit.system.spawn(waiter(log), { name: 'stuck', stopTimeout: 1_000_000 })
  const other = kit.system.spawn(waiter(log))
  ref.tell({ type: 'wait', until: new Promise(() => {}) })
  await kit.settle()
  kit.system.suspend(other, 'a test')
  await kit.settle()
  expect(kit.system.phaseOf(other)).toBe('suspended')
  const ending = kit.system.shutdown({ deadline: 100 })
  await kit.advance(100)
  expect((await ending).killed).toEqual(['/user/stuck'])
  await kit.end()
})

test('54. messages that arrive during an await are handled after it, in order', async () => {
  const kit = createTestKit()
  const log: string[] = []
  const held = gate()
  const ref = kit.system.spawn(waiter(log))
  ref.tell({ type: 'wait', until: held.promise })
  for (const word of ['a', 'b']) ref.tell(say(word))
  await kit.settle()
  ref.tell(say('c'))
  held.open()
  await kit.settle()
  expect(log).toEqual(['waited 0', 'a 0', 'b 0', 'c 0'])
  await kit.end()
})

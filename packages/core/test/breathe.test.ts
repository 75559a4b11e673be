// A handler that takes long lets others have their turn in between: `await ctx.breathe()`.

import { BehaviorTestKit, createTestKit, simulate } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { Actor, type ActorContext, ActorSystem, type ActorRef, receive, same, setup, supervise } from '@troupe/core'

type Work = { readonly type: 'work'; readonly breaths: number } | { readonly type: 'next' }

/** Notes each stretch of its work. */
const worker = (log: string[]): ReturnType<typeof receive<Work>> =>
  receive<Work>(async (ctx, m) => {
    if (m.type === 'next') return void log.push('next')
    for (let i = 0; i < m.breaths; i++) {
      log.push(`stretch ${i}`)
      await ctx.breathe()
    }
    return void log.push('done')
  })

test('between two breaths others have their turn, and the actor itself does not (C3)', async () => {
  const kit = createTestKit()
  const log: string[] = []
  const busy = kit.system.spawn(worker(log))
  const other = kit.system.spawn(
    receive<number>((ctx, n) => {
      log.push(`other ${n}`)
      if (n < 3) ctx.self.tell(n + 1)
      return same
    }),
  )
  busy.tell({ type: 'work', breaths: 3 })
  busy.tell({ type: 'next' })
  other.tell(0)
  await kit.settle()
  expect(log.slice(-2)).toEqual(['done', 'next'])
  expect(log.indexOf('other 0')).toBeLessThan(log.indexOf('stretch 1'))
  expect(log.filter((line) => line.startsWith('other'))).toHaveLength(4)
  await kit.end()
})

test('on the event loop a breath lets the host serve what is due', async () => {
  const system = ActorSystem.create('host', { keepAlive: false })
  const log: string[] = []
  const ref = system.spawn(
    receive<{ readonly type: 'go'; readonly replyTo: ActorRef<string[]> }>(async (ctx, m) => {
      setImmediate(() => log.push('served'))
      await ctx.breathe()
      log.push('breathed')
      m.replyTo.tell(log)
    }),
  )
  expect(await ref.ask({ type: 'go' })).toEqual(['served', 'breathed'])
  await system.shutdown()
})

test('a manual runtime draws the breath when it is pumped', async () => {
  const system = ActorSystem.create('manual', { runtime: 'manual', keepAlive: false })
  const log: string[] = []
  system.spawn(worker(log)).tell({ type: 'work', breaths: 2 })
  for (let i = 0; i < 2; i++) {
    system.pump()
    await Promise.resolve().then(() => {})
  }
  const before = [...log]
  for (let i = 0; i < 10; i++) {
    system.pump()
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(before.at(0)).toBe('stretch 0')
  expect(log).toEqual(['stretch 0', 'stretch 1', 'done'])
  const ending = system.shutdown()
  for (let i = 0; i < 10; i++) system.pump()
  await ending
})

test('setup and signal handlers may breathe', async () => {
  const kit = createTestKit()
  const log: string[] = []
  const ref = kit.system.spawn(
    setup<Work>(async (ctx) => {
      await ctx.breathe()
      log.push('setup')
      return receive<Work>(
        () => same,
        async (c, signal) => {
          await c.breathe()
          log.push(signal.type)
          return same
        },
      )
    }),
  )
  await kit.settle()
  ref.stop()
  await kit.settle()
  expect(log).toEqual(['setup', 'PreStart', 'PostStart', 'PreStop', 'PostStop'])
  await kit.end()
})

test('work that breathes ends at its next breath when its incarnation is cut off, and nothing of it escapes', async () => {
  const kit = createTestKit()
  let stretches = 0
  let refusal: unknown
  const ref = kit.system.spawn(
    receive<Work>(async (ctx) => {
      try {
        // Ten ms of work each.
        for (;;) {
          stretches++
          kit.clock.tick(10)
          await ctx.breathe()
        }
      } catch (cause) {
        refusal = cause
        throw cause
      }
    }),
    { stopTimeout: 100 },
  )
  ref.tell({ type: 'work', breaths: Infinity })
  // Stopped from the outside once it is at work: it has its time to end, and is cut off then.
  kit.system.sendAfter({ tell: () => ref.stop() } as unknown as ActorRef<'due'>, 50, 'due')
  await kit.settle()
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  expect(refusal).toMatchObject({ code: 'context-ended' })
  expect((refusal as Error).message).toContain('breathe')
  const then = stretches
  await kit.advance(1000)
  expect(stretches).toBe(then)
  await kit.end()
})

test('a context that has ended refuses to breathe, also one of an earlier incarnation', async () => {
  const kit = createTestKit()
  const contexts: ActorContext<string>[] = []
  const ref = kit.system.spawn(
    setup<string>((ctx) => {
      contexts.push(ctx)
      return receive<string>(() => {
        throw new Error('as told')
      })
    }),
    { supervision: supervise({ backoff: { min: 0, max: 0 } }) },
  )
  await kit.settle()
  ref.tell('fail')
  await kit.settle()
  expect(contexts).toHaveLength(2)
  expect(() => void contexts[0]!.breathe()).toThrow(expect.objectContaining({ code: 'context-ended' }) as Error)
  let drawn = false
  void contexts[1]!.breathe().then(() => (drawn = true))
  await kit.settle()
  expect(drawn).toBe(true)
  await kit.end()
})

test('a breath that nobody waits for does not escape when it is refused', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(
    receive<string>((ctx) => {
      void ctx.breathe()
      ctx.stop()
      return same
    }),
  )
  const escaped: unknown[] = []
  const note = (cause: unknown): void => void escaped.push(cause)
  process.on('unhandledRejection', note)
  ref.tell('x')
  await kit.settle()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(escaped).toEqual([])
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  await kit.end()
})

test('a class actor and each call of a reentrant one may breathe', async () => {
  const kit = createTestKit()
  const log: string[] = []
  class Slow extends Actor {
    async work(name: string): Promise<string> {
      log.push(`${name} begins`)
      await this.ctx.breathe()
      log.push(`${name} ends`)
      return name
    }
  }
  const slow = kit.system.spawn(Slow, { reentrant: true })
  const done = Promise.all([slow.ask.work('a'), slow.ask.work('b')])
  await kit.settle()
  expect(await done).toEqual(['a', 'b'])
  expect(log).toEqual(['a begins', 'b begins', 'a ends', 'b ends'])
  await kit.end()
})

test('a behavior kit notes the breath and goes on', async () => {
  const kit = new BehaviorTestKit(worker([]))
  await kit.runAsync({ type: 'work', breaths: 2 })
  expect(kit.effects).toEqual([{ type: 'breathed' }, { type: 'breathed' }])
})

test('a simulation takes breaths for steps: work that breathes comes to its end under every schedule', async () => {
  const report = await simulate(
    (sim) => {
      const logs = [0, 1, 2].map(() => [] as string[])
      const refs = logs.map((log, i) => sim.system.spawn(worker(log), { name: `worker-${i}`, supervision: 'resume' }))
      sim.plan(12, (i) => refs[i % 3]!.tell(i % 4 === 3 ? { type: 'next' } : { type: 'work', breaths: sim.int(0, 4) }))
      sim.eventually('all work is done', () => logs.flat().filter((line) => line === 'done' || line === 'next').length === 12)
    },
    { seeds: 100, faults: 'none' },
  )
  expect(report.runs).toBe(100)
})

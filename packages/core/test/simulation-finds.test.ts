// What the simulator found in the core, each as the shortest test that shows it. The seeds that led here are in the
// regressions beside the library of scenarios.

import { createTestKit } from '@troupe/testkit'
import { ActorError, type ActorRef, bounded, receive, same, setup, supervise } from '@troupe/core'
import { expect, test } from 'vitest'

type Question = { type: 'get'; replyTo: ActorRef<number> }

test('asking an actor that has ended, or forwarding a question to it, leaves nothing registered there', async () => {
  const kit = createTestKit()
  const dead = kit.system.spawn(receive<Question>(() => same))
  const forwarder = kit.system.spawn(
    receive<Question>((ctx) => {
      ctx.forward(dead)
      return same
    }),
  )
  dead.stop()
  await kit.expectPhase(dead, 'terminated')
  const answers = [dead.ask({ type: 'get' }), forwarder.ask({ type: 'get' })].map((asked) => asked.catch((cause: Error) => cause.name))
  await kit.settle()
  expect(await Promise.all(answers)).toEqual(['AskTargetStopped', 'AskTargetStopped'])
  kit.checkLeaks()
  await kit.end()
})

test('a signal handler of a reentrant actor sees no sender, also after a question came through an adapter', async () => {
  const kit = createTestKit()
  const senders: unknown[] = []
  let adapter: ActorRef<number> | undefined
  const ref = kit.system.spawn(
    receive<'adapt' | 'number'>(
      (ctx, m) => {
        if (m === 'adapt') adapter = ctx.adapt<number>(() => 'number')
        return same
      },
      (ctx, signal) => {
        if (signal.type === 'PreStop') senders.push(ctx.sender)
        return same
      },
    ),
    { reentrant: true },
  )
  ref.tell('adapt')
  await kit.settle()
  const asked = adapter!.ask<string>(() => 1, { timeout: 10 }).catch((cause: Error) => cause.name)
  await kit.settle()
  ref.stop()
  await kit.settle()
  expect(senders).toEqual([undefined])
  await kit.advance(10)
  expect(await asked).toBe('AskTargetStopped')
  await kit.end()
})

test('PreStop by a poison pill does not see the sender of the message before it', async () => {
  const kit = createTestKit()
  const senders: unknown[] = []
  const ref = kit.system.spawn(
    receive<'work'>(
      () => same,
      (ctx, signal) => {
        if (signal.type === 'PreStop') senders.push(ctx.sender)
        return same
      },
    ),
  )
  await kit.settle()
  // Several, so that a turn takes the last one and the pill together.
  const sender = kit.probe().ref
  for (let i = 0; i < 200; i++) ref.tell('work', sender)
  ref.stop({ after: 'queued' })
  await kit.settle()
  expect(senders).toEqual([undefined])
  await kit.end()
})

test.each(['drop-oldest', 'drop-newest', 'reject'] as const)(
  'a second poison pill takes the place of no message in a full mailbox (%s)',
  async (overflow) => {
    const kit = createTestKit()
    const handled: number[] = []
    const behavior = receive<number>((_ctx, n) => {
      handled.push(n)
      return same
    })
    const ref = kit.system.spawn(behavior, { mailbox: bounded(2, overflow) })
    await kit.settle()
    ref.tell(1)
    ref.tell(2)
    ref.stop({ after: 'queued' })
    ref.stop({ after: 'queued' })
    await kit.settle()
    expect(handled).toEqual([1, 2])
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(kit.system.deadLetters.count).toBe(0)
    await kit.end()
  },
)

test('an actor that was suspended stays so when its failure climbed to a parent that fails twice and goes on', async () => {
  const kit = createTestKit()
  const fails = receive<'fail'>(() => {
    throw new Error('as asked')
  })
  const refs: ActorRef<'fail'>[] = []
  const top = kit.system.spawn(
    setup<'fail'>((ctx) => {
      // While it is decided about the child, the parent gets a reason of its own to fail.
      const decide = (): 'escalate' => {
        ctx.self.tell('fail')
        return 'escalate'
      }
      const middle = setup<'fail'>((inner) => {
        refs[1] = inner.spawn(fails, { supervision: 'escalate' })
        return fails
      })
      refs[0] = ctx.spawn(middle, { supervision: supervise({ decide }) })
      return fails
    }),
    { supervision: 'resume' },
  )
  await kit.settle()
  kit.system.suspend(refs[0]!, 'a test')
  await kit.settle()
  refs[1]!.tell('fail')
  await kit.settle()
  expect(kit.system.phaseOf(top)).toBe('running')
  expect(kit.system.phaseOf(refs[0]!)).toBe('suspended')
  await kit.end()
})

test('a start that fails again and again without a pause lets others have their turn', async () => {
  const kit = createTestKit()
  let starts = 0
  let seen = -1
  const other = kit.system.spawn(receive<'look'>(() => void (seen = starts)))
  const frail = kit.system.spawn(
    setup<'fail'>(() => {
      if (starts++ === 1) other.tell('look')
      if (starts > 1) throw new Error('no more')
      return receive<'fail'>(() => {
        throw new Error('once')
      })
    }),
    { supervision: supervise({ limit: { restarts: 500, within: 1000 }, backoff: { min: 0, max: 0 } }) },
  )
  await kit.settle()
  frail.tell('fail')
  await kit.settle()
  expect(seen).toBeLessThan(5)
  expect(starts).toBe(501)
  await kit.end()
})

test('an actor that is suspended while it starts stays so when its group restarts before it is up', async () => {
  const kit = createTestKit()
  let up = (): void => {}
  const refs: ActorRef<'fail'>[] = []
  const fails = receive<'fail'>(() => {
    throw new Error('asked to')
  })
  kit.system.spawn(
    setup<never>((ctx) => {
      refs.push(
        ctx.spawn(fails),
        ctx.spawn(setup<'fail'>((c) => (c.incarnation > 0 ? fails : new Promise<void>((resolve) => (up = resolve)).then(() => fails)))),
      )
      return receive<never>(() => same)
    }),
    { childSupervision: supervise({ scope: 'all-for-one' }) },
  )
  await kit.settle()
  kit.system.suspend(refs[1]!, 'a test')
  refs[0]!.tell('fail')
  await kit.settle()
  up()
  await kit.advance(1000)
  expect((await kit.system.inspect(refs[1])).incarnation).toBe(1)
  expect(refs.map((ref) => kit.system.phaseOf(ref))).toEqual(['running', 'suspended'])
  await kit.end()
})

test('a quiet time begins the backoff again also for an actor that went on after its failures and was never restarted', async () => {
  const kit = createTestKit()
  const starts: number[] = []
  let ref!: ActorRef<'fail' | 'retry'>
  kit.system.spawn(
    setup<never>((ctx) => {
      const child = setup<'fail' | 'retry'>(() => {
        starts.push(kit.clock.now)
        return receive<'fail' | 'retry'>((_c, m) => {
          throw m === 'fail' ? new Error('over the limit') : new ActorError('try again', { kind: 'transient', retry: { max: 3, within: 60 } })
        })
      })
      const limit = { restarts: 0, within: 60 }
      ref = ctx.spawn(child, { supervision: supervise({ limit, onLimit: 'escalate', backoff: { min: 4, max: 100, factor: 2, jitter: 0 } }) })
      return receive<never>(() => same)
    }),
    { supervision: 'resume' },
  )
  await kit.settle()
  ref.tell('fail')
  ref.tell('fail')
  await kit.advance(100)
  ref.tell('retry')
  await kit.advance(100)
  expect(starts).toEqual([0, 104])
  await kit.end()
})

test('a resume that reaches a failed actor takes back the suspension before it; one that goes on with its parent does not', async () => {
  const kit = createTestKit()
  for (const [verbs, phase] of [
    [['suspend', 'resume'], 'running'],
    [['suspend'], 'suspended'],
  ] as const) {
    let ref!: ActorRef<'fail'>
    const parent = kit.system.spawn(
      setup<never>((ctx) => {
        const child = receive<'fail'>(() => {
          throw new Error('failed up')
        })
        ref = ctx.spawn(child, { supervision: 'escalate' })
        return receive<never>(() => same)
      }),
      { supervision: 'resume' },
    )
    await kit.settle()
    // It has failed, and its parent has not heard of it yet.
    const heard = kit.system.events.listen((event) => {
      if ((event as { ref?: unknown }).ref !== ref) return
      for (const verb of verbs) kit.system[verb](ref, 'a test')
    }, 'actor.failed')
    ref.tell('fail')
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe(phase)
    heard.cancel()
    parent.stop()
  }
  await kit.end()
})

// Failure and restart: BEHAVIOURS 1–7, each by its claim.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type ActorRef, type Behavior, receive, same, setup, type Signal, supervise } from '@troupe/core'
import { boom, keeper, type Msg, often, quick, say } from './keeper.ts'

/** A parent that spawns one child and keeps the signals it hears. */
function family(child: Behavior<Msg>, options: object, heard: Signal[]): Behavior<'never'> {
  return setup<'never'>((ctx) => {
    ctx.spawn(child, { name: 'child', ...options })
    return receive<'never'>(
      () => same,
      (_c, s) => {
        heard.push(s)
        return same
      },
    )
  })
}

describe('1. stop', () => {
  test("with supervision 'stop' a throw stops the actor; the parent learns the cause", async () => {
    const kit = createTestKit()
    const heard: Signal[] = []
    const parent = kit.system.spawn(family(keeper(), { supervision: 'stop' }, heard), { name: 'parent' })
    await kit.settle()
    const child = kit.system.find('/user/parent/child') as ActorRef<Msg>
    const cause = new Error('boom')
    const message = boom(cause)
    child.tell(message)
    await kit.settle()
    expect(kit.system.phaseOf(child)).toBe('terminated')
    expect(await kit.system.whenTerminated(child)).toEqual({ reason: 'failure', cause })
    expect(heard.slice(2)).toEqual([
      { type: 'ChildFailed', child, cause, message, directive: 'stop' },
      { type: 'ChildStopped', child, reason: 'failure', cause },
    ])
    expect(kit.system.phaseOf(parent)).toBe('running')
    await kit.end()
  })

  test('without a word about supervision it restarts, 3 within a second, then stops', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(keeper(log))
    for (let i = 0; i < 3; i++) {
      ref.tell(boom())
      await kit.advance(100)
      expect(kit.system.phaseOf(ref)).toBe('running')
    }
    ref.tell(boom())
    await kit.advance(100)
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(log.filter((l) => l.startsWith('setup'))).toEqual(['setup 0', 'setup 1', 'setup 2', 'setup 3'])
    expect(kit.system.counts().supervision).toMatchObject({ restarts: 3, limitsHit: 1 })
    await kit.end()
  })

  test("a system's own default takes its place", async () => {
    const kit = createTestKit({ supervision: 'resume' })
    const ref = kit.system.spawn(keeper())
    for (let i = 0; i < 20; i++) ref.tell(boom())
    ref.tell(say('still here'))
    const answer = ref.ask({ type: 'get' })
    await kit.settle()
    expect(await answer).toEqual(['still here'])
    await kit.end()
  })
})

describe('2. restart', () => {
  test('begins again from the behavior given to spawn; state made in setup is fresh; queued messages are kept, in order', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(keeper(log))
    for (const m of [say('old'), boom(), say('a'), say('b')]) ref.tell(m)
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('restarting')
    ref.tell(say('c'))
    const answer = ref.ask({ type: 'get' })
    await kit.advance(20)
    expect(await answer).toEqual(['a', 'b', 'c'])
    expect(log.filter((l) => !l.startsWith('P'))).toEqual(['setup 0', 'old', 'setup 1', 'a', 'b', 'c'])
    await kit.end()
  })

  test('returns to the first behavior, not to the one it had become', async () => {
    const kit = createTestKit()
    const counter = (n: number): Behavior<Msg> =>
      receive<Msg>((_ctx, m) => {
        if (m.type === 'boom') throw m.cause
        if (m.type === 'get') m.replyTo.tell([String(n)])
        return m.type === 'say' ? counter(n + 1) : same
      })
    const ref = kit.system.spawn(counter(0))
    for (const m of [say('x'), say('x'), boom(), say('x')]) ref.tell(m)
    const answer = ref.ask({ type: 'get' })
    await kit.advance(20)
    expect(await answer).toEqual(['1'])
    await kit.end()
  })

  test("onRestart mailbox 'clear' drops what was queued and counts it", async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(keeper(log), { onRestart: { mailbox: 'clear' }, supervision: supervise({ backoff: { min: 10, jitter: 0 } }) })
    for (const m of [boom(), say('a'), say('b')]) ref.tell(m)
    await kit.settle()
    ref.tell(say('in the backoff'))
    await kit.advance(20)
    expect(log.filter((l) => !l.startsWith('P'))).toEqual(['setup 0', 'setup 1', 'in the backoff'])
    expect((await kit.checkLedger()).dropped).toBe(2)
    await kit.end()
  })
})

test('3. resume keeps state; the failed message is not retried', async () => {
  const kit = createTestKit()
  const log: string[] = []
  const ref = kit.system.spawn(keeper(log), { supervision: 'resume' })
  for (const m of [say('a'), boom(), say('b')]) ref.tell(m)
  const answer = ref.ask({ type: 'get' })
  await kit.settle()
  expect(await answer).toEqual(['a', 'b'])
  expect(log).toEqual(['setup 0', 'PreStart', 'PostStart', 'a', 'b'])
  expect((await kit.checkLedger()).failed).toBe(1)
  await kit.end()
})

describe('4. the limit', () => {
  test('failure n+1 within the window triggers onLimit, with PostStop', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(keeper(log), { supervision: supervise({ limit: { restarts: 2, within: 1000 }, backoff: quick }) })
    for (let i = 0; i < 3; i++) ref.tell(boom())
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(log.filter((l) => l === 'PostStop')).toHaveLength(3)
    expect(log.slice(-2)).toEqual(['PreStop', 'PostStop'])
    await kit.end()
  })

  test('the window resets the count', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(keeper(), { supervision: supervise({ limit: { restarts: 1, within: 100 }, backoff: quick }) })
    for (let i = 0; i < 10; i++) {
      ref.tell(boom())
      await kit.advance(100)
    }
    expect(kit.system.phaseOf(ref)).toBe('running')
    ref.tell(boom())
    await kit.advance(99)
    ref.tell(boom())
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    await kit.end()
  })
})

test('5. the budget belongs to the child, not to the parent; rebuilding a wrapper does not reset it', async () => {
  const kit = createTestKit()
  const policy = supervise({ limit: { restarts: 1, within: 1000 }, backoff: quick })
  let first!: ActorRef<Msg>
  let second!: ActorRef<Msg>
  kit.system.spawn(
    setup<'never'>((ctx) => {
      first = ctx.spawn(keeper(), { supervision: policy })
      second = ctx.spawn(keeper(), { supervision: policy })
      return receive<'never'>(() => same)
    }),
  )
  await kit.settle()
  first.tell(boom())
  second.tell(boom())
  await kit.settle()
  expect([kit.system.phaseOf(first), kit.system.phaseOf(second)]).toEqual(['running', 'running'])
  // The new incarnation is another behavior object with the same policy in front; the count goes on.
  first.tell(boom())
  await kit.settle()
  expect([kit.system.phaseOf(first), kit.system.phaseOf(second)]).toEqual(['terminated', 'running'])
  await kit.end()
})

describe('6. children of one that restarts', () => {
  const tree = (log: string[], held: Promise<void>): Behavior<Msg> =>
    setup<Msg>((ctx) => {
      log.push(`parent ${ctx.incarnation}`)
      if (ctx.children.length === 0) {
        ctx.spawn(
          receive<'never'>(
            () => same,
            (_c, s) => {
              if (s.type === 'PreStop') return held
              if (s.type === 'PostStop') log.push('child gone')
              return same
            },
          ),
          { name: 'child' },
        )
      }
      return receive<Msg>(
        (_c, m) => {
          if (m.type === 'boom') throw m.cause
          return same
        },
        (_c, s) => {
          if (s.type === 'PreRestart' || s.type === 'PostStop') log.push(s.type)
          return same
        },
      )
    })

  test('restart waits until children have stopped', async () => {
    const kit = createTestKit()
    const log: string[] = []
    let open!: () => void
    const ref = kit.system.spawn(tree(log, new Promise((resolve) => (open = resolve))), { name: 'parent', supervision: often })
    await kit.settle()
    const child = kit.system.find('/user/parent/child')!
    ref.tell(boom())
    await kit.advance(1000)
    expect(kit.system.phaseOf(ref)).toBe('restarting')
    expect(log).toEqual(['parent 0', 'PreRestart'])
    open()
    await kit.settle()
    expect(log).toEqual(['parent 0', 'PreRestart', 'child gone', 'PostStop', 'parent 1'])
    expect(kit.system.phaseOf(child)).toBe('terminated')
    expect((await kit.system.whenTerminated(child)).reason).toBe('shutdown')
    expect(kit.system.find('/user/parent/child')).not.toBe(child)
    await kit.end()
  })

  test('with children kept, they stay, and the new incarnation finds them', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(tree(log, Promise.resolve()), { name: 'parent', supervision: often, onRestart: { children: 'keep' } })
    await kit.settle()
    const child = kit.system.find('/user/parent/child')!
    ref.tell(boom())
    await kit.settle()
    expect(log).toEqual(['parent 0', 'PreRestart', 'PostStop', 'parent 1'])
    expect(kit.system.phaseOf(child)).toBe('running')
    expect(kit.system.find('/user/parent/child')).toBe(child)
    await kit.end()
  })

  test('the new incarnation hears nothing of the children that its predecessor took along', async () => {
    const kit = createTestKit()
    const heard: string[] = []
    const ref = kit.system.spawn(
      setup<Msg>((ctx) => {
        const { incarnation } = ctx
        ctx.spawn(keeper(), { name: 'child' })
        return receive<Msg>(
          (_c, m) => {
            if (m.type === 'boom') throw m.cause
            return same
          },
          (_c, s) => {
            if (s.type === 'ChildStopped') heard.push(`${s.type} ${incarnation}`)
            return same
          },
        )
      }),
      { supervision: often },
    )
    await kit.settle()
    ref.tell(boom())
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('running')
    expect(heard).toEqual([])
    await kit.end()
  })
})

test('7. a Terminated that arrives during a restart reaches the new incarnation', async () => {
  const kit = createTestKit()
  const heard: string[] = []
  const watched = kit.system.spawn(keeper(), { name: 'watched' })
  const ref = kit.system.spawn(
    setup<Msg>((ctx) => {
      const { incarnation } = ctx
      if (incarnation === 0) ctx.watch(watched)
      return receive<Msg>(
        (_c, m) => {
          if (m.type === 'boom') throw m.cause
          return same
        },
        (_c, s) => {
          if (s.type === 'Terminated') heard.push(`${s.ref.path} ${s.reason} ${incarnation}`)
          return same
        },
      )
    }),
    { supervision: supervise({ backoff: { min: 100, max: 100, jitter: 0 } }) },
  )
  await kit.settle()
  ref.tell(boom())
  await kit.settle()
  watched.stop()
  await kit.settle()
  expect(heard).toEqual([])
  await kit.advance(100)
  expect(heard).toEqual(['/user/watched normal 1'])
  await kit.end()
})

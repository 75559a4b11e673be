// Failure and restart: BEHAVIOURS 1–14 and 63, each by its claim.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  ActorError,
  ActorInitializationError,
  type ActorRef,
  type Behavior,
  NotABehavior,
  receive,
  same,
  setup,
  type Signal,
  StashOverflow,
  supervise,
} from 'troupe'

type Msg = { type: 'say'; word: string } | { type: 'boom'; cause?: unknown } | { type: 'get'; replyTo: ActorRef<string[]> }

const boom = (cause: unknown = new Error('boom')): Msg => ({ type: 'boom', cause })
const say = (word: string): Msg => ({ type: 'say', word })

/** Keeps what it was told in this incarnation; everything, in all of them, goes to `log`. */
const keeper = (log: string[] = [], onSignal?: (signal: Signal) => void): Behavior<Msg> =>
  setup<Msg>((ctx) => {
    const words: string[] = []
    log.push(`setup ${ctx.incarnation}`)
    return receive<Msg>(
      (_ctx, m) => {
        switch (m.type) {
          case 'boom':
            throw m.cause
          case 'say':
            words.push(m.word)
            log.push(m.word)
            return same
          case 'get':
            m.replyTo.tell([...words])
            return same
        }
      },
      (_ctx, s) => {
        if (onSignal === undefined) log.push(s.type)
        else onSignal(s)
        return same
      },
    )
  })

const quick = { min: 0, max: 0, factor: 1, jitter: 0 }
const often = supervise({ limit: { restarts: 1000, within: 1000 }, backoff: quick })

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
    expect(log.filter((l) => !/^P/.test(l))).toEqual(['setup 0', 'old', 'setup 1', 'a', 'b', 'c'])
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
    expect(log.filter((l) => !/^P/.test(l))).toEqual(['setup 0', 'setup 1', 'in the backoff'])
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

describe('8. a start that fails', () => {
  const where = ['setup', 'async setup', 'PreStart', 'PostStart'] as const
  /** Fails in that place as long as `failing` says so. */
  const fragile = (place: (typeof where)[number], failing: () => boolean, log: string[] = []): Behavior<Msg> => {
    const cause = new Error(`bad ${place}`)
    const ready = receive<Msg>(
      () => same,
      (_c, s) => {
        log.push(s.type)
        if (s.type === place && failing()) throw cause
        return same
      },
    )
    return setup<Msg>((): Behavior<Msg> | Promise<Behavior<Msg>> => {
      log.push('setup')
      if (place === 'setup' && failing()) throw cause
      if (place === 'async setup') return failing() ? Promise.reject(cause) : Promise.resolve(ready)
      return ready
    })
  }

  test.each(where)('a throw in the first %s is not retried: it stops with ActorInitializationError, started rejects, the name is free', async (place) => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(fragile(place, () => true, log), { name: 'fragile' })
    ref.tell(say('lost'))
    const started = kit.system.started(ref).catch((error: unknown) => error)
    await kit.advance(10_000)
    const error = (await started) as ActorInitializationError
    expect(error).toBeInstanceOf(ActorInitializationError)
    expect(error.cause).toEqual(new Error(`bad ${place}`))
    expect(await kit.system.whenTerminated(ref)).toEqual({ reason: 'failure', cause: error })
    await expect(kit.system.started(ref)).rejects.toBe(error)
    expect(log.filter((l) => l === 'setup')).toHaveLength(1)
    expect(log.filter((l) => l === 'PostStop')).toHaveLength(place.endsWith('setup') ? 0 : 1)
    expect(kit.system.find('/user/fragile')).toBeUndefined()
    kit.system.spawn(keeper(), { name: 'fragile' })
    expect(kit.system.deadLetters.list().map((l) => l.reason)).toEqual(['stopped'])
    await kit.end()
  })

  test.each(where)('with retryStart a failing first %s is retried under the limit and backoff', async (place) => {
    const kit = createTestKit()
    let left = 2
    const log: string[] = []
    const ref = kit.system.spawn(
      fragile(place, () => left-- > 0, log),
      { supervision: supervise({ retryStart: true, backoff: { min: 100, jitter: 0 } }) },
    )
    const started = kit.system.started(ref)
    await kit.advance(99)
    expect(log.filter((l) => l === 'setup')).toHaveLength(1)
    await kit.advance(1)
    expect(log.filter((l) => l === 'setup')).toHaveLength(2)
    await kit.advance(199)
    expect(log.filter((l) => l === 'setup')).toHaveLength(2)
    await kit.advance(1)
    await started
    expect(kit.system.phaseOf(ref)).toBe('running')
    await kit.end()
  })

  test('with retryStart a start that fails for good stops at the limit; started rejects, before and after', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(fragile('setup', () => true), { name: 'fragile', supervision: supervise({ retryStart: true }) })
    const started = kit.system.started(ref).catch((error: unknown) => error)
    await kit.advance(10_000)
    expect(await started).toBeInstanceOf(ActorInitializationError)
    await expect(kit.system.started(ref)).rejects.toBeInstanceOf(ActorInitializationError)
    expect(kit.system.counts().supervision).toMatchObject({ restarts: 3, limitsHit: 1 })
    expect(kit.system.find('/user/fragile')).toBeUndefined()
    await kit.end()
  })

  test.each(where)('a failing %s during a restart counts as a failure and is backed off', async (place) => {
    const kit = createTestKit()
    let failing = false
    const log: string[] = []
    const ref = kit.system.spawn(fragile(place, () => failing, log), {
      supervision: supervise({ limit: { restarts: 3, within: 10_000 }, backoff: { min: 100, max: 10_000, jitter: 0 } }),
    })
    await kit.settle()
    failing = true
    log.length = 0
    kit.system.restart(ref)
    await kit.settle()
    const setups = (): number => log.filter((l) => l === 'setup').length
    expect(setups()).toBe(1)
    await kit.advance(100)
    expect(setups()).toBe(2)
    await kit.advance(199)
    expect(setups()).toBe(2)
    await kit.advance(1)
    expect(setups()).toBe(3)
    await kit.advance(400)
    expect(setups()).toBe(4)
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(kit.system.counts().supervision).toMatchObject({ restarts: 3, limitsHit: 1 })
    await kit.end()
  })

  test("a start that fails during a restart under 'resume' stops: there is nothing to resume", async () => {
    const kit = createTestKit()
    let failing = false
    const ref = kit.system.spawn(
      fragile('setup', () => failing),
      { supervision: 'resume' },
    )
    await kit.settle()
    failing = true
    kit.system.restart(ref)
    await kit.settle()
    ref.tell(say('anyone?'))
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    await kit.end()
  })
})

describe('9. backoff', () => {
  test('doubles, is clamped, resets after quiet', async () => {
    const kit = createTestKit()
    const starts: number[] = []
    const ref = kit.system.spawn(
      setup<Msg>(() => {
        starts.push(kit.clock.now)
        return receive<Msg>(() => {
          throw new Error('boom')
        })
      }),
      { supervision: supervise({ limit: { restarts: 100, within: 1000 }, backoff: { min: 10, max: 50, factor: 2, jitter: 0 } }) },
    )
    for (let i = 0; i < 5; i++) ref.tell(boom())
    await kit.advance(500)
    const gaps = starts.slice(1).map((at, i) => at - starts[i]!)
    expect(gaps).toEqual([10, 20, 40, 50, 50])
    await kit.advance(1000)
    const before = kit.clock.now
    ref.tell(boom())
    await kit.advance(100)
    expect(starts.at(-1)! - before).toBe(10)
    await kit.end()
  })

  test('a start that keeps failing never spins', async () => {
    const kit = createTestKit()
    let starts = 0
    kit.system.spawn(
      setup<Msg>(() => {
        starts++
        throw new Error('never')
      }),
      { supervision: supervise({ retryStart: true, limit: { restarts: 1000, within: 1 }, backoff: { min: 10, max: 1000, jitter: 0 } }) },
    )
    await kit.advance(10_000)
    // 10, 20, … 640, and then once a second.
    expect(starts).toBe(1 + 7 + 8)
    await kit.end()
  })

  test('without a delay a start that keeps failing leaves others their turns', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      setup<Msg>(() => {
        throw new Error('never')
      }),
      { supervision: supervise({ retryStart: true, limit: { restarts: 500, within: 1000 }, backoff: quick }) },
    )
    const other = kit.system.spawn(keeper())
    other.tell(say('hello'))
    const answer = other.ask({ type: 'get' })
    await kit.settle()
    expect(await answer).toEqual(['hello'])
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    await kit.end()
  })
})

describe('10. failures while unstashing', () => {
  type Stashing = Msg | { type: 'open' }
  const gatekeeper = (log: string[]): Behavior<Stashing> =>
    setup<Stashing>((ctx) => {
      const open: Behavior<Stashing> = receive<Stashing>((_c, m) => {
        if (m.type === 'boom') throw m.cause
        if (m.type === 'say') log.push(m.word)
        return same
      })
      if (ctx.incarnation > 0) return open
      return receive<Stashing>((c, m) => {
        if (m.type === 'open') {
          c.stash.unstashAll()
          return open
        }
        c.stash.add(m)
        return same
      })
    })

  test('the failure of a handler while unstashing loses none of the rest of the stash, also on a second failure', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(gatekeeper(log), { supervision: often })
    for (const m of [say('a'), boom(), say('b'), boom(), say('c')]) ref.tell(m)
    ref.tell({ type: 'open' })
    ref.tell(say('after'))
    await kit.settle()
    expect(log).toEqual(['a', 'b', 'c', 'after'])
    expect(await kit.checkLedger()).toMatchObject({ failed: 2, stashed: 0, queued: 0 })
    await kit.end()
  })

  test('a stash that was not yet unstashed survives the restart', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(
      receive<Stashing>((c, m) => {
        if (m.type === 'boom') throw m.cause
        if (m.type === 'open') c.stash.unstashAll()
        else if (c.incarnation === 0) c.stash.add(m)
        else if (m.type === 'say') log.push(m.word)
        return same
      }),
      { supervision: often },
    )
    for (const m of [say('a'), say('b'), boom()]) ref.tell(m)
    await kit.settle()
    expect((await kit.system.inspect(ref)).stashed).toBe(2)
    ref.tell({ type: 'open' })
    await kit.settle()
    expect(log).toEqual(['a', 'b'])
    await kit.end()
  })

  test('a stash that overflows with error is a failure of the actor and loses nothing that it held', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      receive<Stashing>((c, m) => {
        c.stash.add(m)
        return same
      }),
      { stash: { capacity: 2 }, supervision: 'resume' },
    )
    for (const word of ['a', 'b', 'c']) ref.tell(say(word))
    await kit.settle()
    expect(kit.logs.find((l) => l.level === 'error')?.fields['cause']).toBeInstanceOf(StashOverflow)
    expect(await kit.checkLedger()).toMatchObject({ stashed: 2, failed: 1 })
    await kit.end()
  })
})

describe('11. throws elsewhere', () => {
  test('a throw in an adapter goes through supervision, with the foreign message', async () => {
    const kit = createTestKit()
    const log: string[] = []
    let adapter!: ActorRef<number>
    const ref = kit.system.spawn(
      setup<Msg>((ctx) => {
        log.push(`setup ${ctx.incarnation}`)
        if (ctx.incarnation === 0)
          adapter = ctx.adapt((n: number): Msg => {
            if (n === 13) throw new Error('unlucky')
            return say(String(n))
          })
        return receive<Msg>((_c, m) => {
          if (m.type === 'say') log.push(m.word)
          return same
        })
      }),
      { supervision: often },
    )
    await kit.settle()
    adapter.tell(1)
    adapter.tell(13)
    await kit.settle()
    expect(log).toEqual(['setup 0', '1', 'setup 1'])
    expect(kit.logs.at(-1)!.fields).toMatchObject({ actor: ref.path, cause: new Error('unlucky'), message: 'number', directive: 'restart' })
    expect((await kit.checkLedger()).failed).toBe(1)
    await kit.end()
  })

  test('a throw in an adapter of a reentrant actor is accounted for as one failed message', async () => {
    const kit = createTestKit()
    let adapter!: ActorRef<number>
    kit.system.spawn(
      setup<Msg>((ctx) => {
        adapter = ctx.adapt((): Msg => {
          throw new Error('unlucky')
        })
        return receive<Msg>(() => same)
      }),
      { supervision: 'resume', reentrant: true },
    )
    await kit.settle()
    adapter.tell(13)
    await kit.settle()
    expect(await kit.checkLedger()).toMatchObject({ failed: 1, inProgress: 0 })
    await kit.end()
  })

  test('a guard that throws refuses the message, and does not harm the actor', async () => {
    const kit = createTestKit()
    const validate = (): never => {
      throw new Error('bad guard')
    }
    const ref = kit.system.spawn(keeper(), { accepts: { '~standard': { version: 1, vendor: 'test', validate } } })
    const asked = ref.ask({ type: 'get' }).catch((error: unknown) => error)
    await kit.settle()
    expect(await asked).toMatchObject({ code: 'ask-refused', message: expect.stringContaining('bad guard') as string })
    expect(kit.system.phaseOf(ref)).toBe('running')
    expect(await kit.checkLedger()).toMatchObject({ deadLettered: 1, inProgress: 0 })
    await kit.end()
  })

  test.each(['Terminated', 'ChildStopped', 'ChildFailed', 'ReceiveTimeout'] as const)('a throw in onSignal of %s goes through supervision', async (type) => {
    const kit = createTestKit()
    const incarnations: number[] = []
    const cause = new Error(`bad ${type}`)
    const ref = kit.system.spawn(
      setup<Msg>((ctx) => {
        incarnations.push(ctx.incarnation)
        if (ctx.incarnation === 0) {
          const child = ctx.spawn(keeper(), { supervision: 'stop' })
          ctx.watch(child)
          if (type === 'ReceiveTimeout') ctx.setReceiveTimeout(100)
          else child.tell(boom())
        }
        return receive<Msg>(
          () => same,
          (c, s) => {
            if (s.type === type && c.incarnation === 0) throw cause
            return same
          },
        )
      }),
      { supervision: often },
    )
    await kit.advance(150)
    expect(incarnations).toEqual([0, 1])
    expect(kit.system.phaseOf(ref)).toBe('running')
    expect(kit.logs.some((l) => l.fields['cause'] === cause && l.fields['directive'] === 'restart')).toBe(true)
    await kit.end()
  })

  test('an async signal handler that rejects goes through supervision too', async () => {
    const kit = createTestKit()
    const incarnations: number[] = []
    kit.system.spawn(
      setup<Msg>((ctx) => {
        incarnations.push(ctx.incarnation)
        if (ctx.incarnation === 0) ctx.spawn(keeper(), { supervision: 'stop' }).tell(boom())
        return receive<Msg>(
          () => same,
          (_c, s) => (s.type === 'ChildStopped' ? Promise.reject(new Error('late')) : same),
        )
      }),
      { supervision: often },
    )
    await kit.settle()
    expect(incarnations).toEqual([0, 1])
    await kit.end()
  })

  for (const late of [false, true]) {
    const how = late ? 'A rejection' : 'A throw'
    const throwing = (type: Signal['type'], log: string[]): Behavior<Msg> =>
      receive<Msg>(
        (_c, m) => {
          if (m.type === 'boom') throw m.cause
          return same
        },
        (_c, s) => {
          log.push(s.type)
          if (s.type !== type) return same
          if (late) return Promise.reject(new Error(`bad ${type}`))
          throw new Error(`bad ${type}`)
        },
      )

    test.each(['PreStop', 'PostStop'] as const)(`${how} in %s is logged and counted; the stop goes on`, async (type) => {
      const kit = createTestKit()
      const log: string[] = []
      const ref = kit.system.spawn(throwing(type, log))
      await kit.settle()
      ref.stop()
      await kit.settle()
      expect(log).toEqual(['PreStart', 'PostStart', 'PreStop', 'PostStop'])
      expect(await kit.system.whenTerminated(ref)).toEqual({ reason: 'normal', cause: undefined })
      expect(kit.logs.map((l) => [l.level, l.fields['signal'], l.fields['actor']])).toEqual([['error', type, ref.path]])
      expect(kit.system.counts().supervision.failedEndSignals).toBe(1)
      await kit.end()
    })

    test.each(['PreRestart', 'PostStop'] as const)(`${how} in %s is logged and counted; the restart goes on`, async (type) => {
      const kit = createTestKit()
      const log: string[] = []
      const ref = kit.system.spawn(throwing(type, log), { supervision: often })
      ref.tell(boom())
      await kit.settle()
      expect(kit.system.phaseOf(ref)).toBe('running')
      expect(log).toEqual(['PreStart', 'PostStart', 'PreRestart', 'PostStop', 'PreStart', 'PostStart', 'PostRestart'])
      expect(kit.system.counts().supervision).toMatchObject({ failedEndSignals: 1, restarts: 1 })
      await kit.end()
    })
  }

  test('what a handler returns that is no behavior is a failure', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      receive<Msg>((_c, m) => (m.type === 'say' ? (m.word as never) : same)),
      { supervision: 'stop' },
    )
    ref.tell(say('nonsense'))
    await kit.settle()
    expect((await kit.system.whenTerminated(ref)).cause).toBeInstanceOf(NotABehavior)
    expect((await kit.checkLedger()).failed).toBe(1)
    await kit.end()
  })
})

test('12. a setup that throws runs in the first turn, never inside spawn, and leaves no zombie', async () => {
  const kit = createTestKit()
  let ran = false
  const ref = kit.system.spawn(
    setup<Msg>((ctx) => {
      ran = true
      ctx.spawn(keeper(), { name: 'orphan' })
      ctx.timers.every('tick', 10, say('tick'))
      throw new Error('no')
    }),
    { name: 'twice', supervision: supervise({ retryStart: true, backoff: quick }) },
  )
  expect(ran).toBe(false)
  await kit.advance(100)
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  expect(kit.system.counts()).toMatchObject({ active: 0, terminated: 5 })
  expect((await kit.checkLedger()).sent).toBe(0)
  kit.system.spawn(keeper(), { name: 'twice' })
  await kit.end()
})

describe('13. the log of failures', () => {
  test('says actor, cause, message type and directive', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(keeper(), { name: 'noisy' })
    const cause = new ActorError('bad card', { severity: 'warn', labels: { shop: '7' } })
    ref.tell(boom(cause))
    await kit.settle()
    expect(kit.logs).toHaveLength(1)
    expect(kit.logs[0]).toMatchObject({
      level: 'warn',
      fields: { actor: '/user/noisy', cause, message: 'boom', directive: 'restart', incarnation: 0, kind: 'transient', labels: { shop: '7' } },
    })
    await kit.end()
  })

  test('a crash loop is not logged once per message when it storms: a few lines, then one that sums up', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(keeper(), { supervision: 'resume' })
    for (let i = 0; i < 1000; i++) ref.tell(boom(new Error(`boom ${i}`)))
    await kit.settle()
    expect(kit.logs.length).toBeLessThan(10)
    const lines = kit.logs.length
    await kit.advance(1000)
    expect(kit.logs.slice(lines)).toMatchObject([{ level: 'error', fields: { actor: ref.path, failures: 1000 - lines, cause: new Error('boom 999') } }])
    // A second storm is told again.
    for (let i = 0; i < 100; i++) ref.tell(boom())
    await kit.advance(1000)
    expect(kit.logs.slice(lines + 1).reduce((n, l) => n + ((l.fields['failures'] as number | undefined) ?? 1), 0)).toBe(100)
    await kit.end()
  })

  test('an actor that ends in a storm has its summary written at the end', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(keeper(), { supervision: 'resume' })
    for (let i = 0; i < 50; i++) ref.tell(boom())
    await kit.settle()
    const lines = kit.logs.length
    ref.stop()
    await kit.settle()
    expect(kit.logs.slice(lines)).toMatchObject([{ fields: { failures: 50 - lines } }])
    await kit.end()
  })

  test('a decider that throws is logged, and the actor stops', async () => {
    const kit = createTestKit()
    const broken = new Error('broken decider')
    const ref = kit.system.spawn(keeper(), {
      supervision: supervise({
        decide: () => {
          throw broken
        },
      }),
    })
    ref.tell(boom())
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(kit.logs.map((l) => l.fields['cause'])).toContain(broken)
    await kit.end()
  })
})

describe('14. a fatal error', () => {
  test.each(['restart', 'resume', 'escalate'] as const)('is never restarted, although decide says %s; it counts as fatalStops', async (directive) => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(keeper(log), { supervision: supervise({ decide: () => directive }) })
    ref.tell(boom(new ActorError('end of the world', { kind: 'fatal' })))
    await kit.advance(1000)
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect((await kit.system.whenTerminated(ref)).reason).toBe('failure')
    expect(log.filter((l) => l.startsWith('setup'))).toEqual(['setup 0'])
    expect(kit.system.counts().supervision).toMatchObject({ fatalStops: 1, restarts: 0 })
    expect(kit.system.phase).toBe('open')
    await kit.end()
  })

  test.each([false, true])('in a first start is not retried and counts as a fatal stop, retryStart %s', async (retryStart) => {
    const kit = createTestKit()
    let starts = 0
    const ref = kit.system.spawn(
      setup<Msg>(() => {
        starts++
        throw new ActorError('no licence', { kind: 'fatal' })
      }),
      { supervision: supervise({ retryStart }) },
    )
    await kit.advance(1000)
    expect(starts).toBe(1)
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    expect(kit.system.counts().supervision.fatalStops).toBe(1)
    await kit.end()
  })
})

describe('63. handOver', () => {
  test('in PreRestart reaches the next setup, and only that one', async () => {
    const kit = createTestKit()
    const found: unknown[] = []
    const ref = kit.system.spawn(
      setup<Msg>((ctx) => {
        found.push(ctx.handedOver)
        return receive<Msg>(
          (_c, m) => {
            if (m.type === 'boom') throw m.cause
            return same
          },
          (c, s) => {
            if (s.type === 'PreRestart' && c.incarnation === 0) c.handOver({ kept: 'treasure' })
            return same
          },
        )
      }),
      { supervision: often },
    )
    ref.tell(boom())
    ref.tell(boom())
    await kit.settle()
    expect(found).toEqual([undefined, { kept: 'treasure' }, undefined])
    await kit.end()
  })

  test('is lost with a next setup that fails: it reaches only that one', async () => {
    const kit = createTestKit()
    const found: unknown[] = []
    const ref = kit.system.spawn(
      setup<Msg>((ctx) => {
        found.push(ctx.handedOver)
        if (ctx.incarnation === 1) throw new Error('choked on it')
        return receive<Msg>(
          () => same,
          (c, s) => {
            if (s.type === 'PreRestart') c.handOver('hot potato')
            return same
          },
        )
      }),
      { supervision: often },
    )
    await kit.settle()
    kit.system.restart(ref)
    await kit.settle()
    expect(found).toEqual([undefined, 'hot potato', undefined])
    await kit.end()
  })

  test('anywhere else is refused', async () => {
    const kit = createTestKit()
    const refused: string[] = []
    const attempt = (ctx: { handOver(value: unknown): void }, place: string): void => {
      try {
        ctx.handOver(1)
      } catch (error) {
        refused.push(`${place} ${(error as { code: string }).code}`)
      }
    }
    const ref = kit.system.spawn(
      setup<Msg>((ctx) => {
        if (ctx.incarnation === 0) attempt(ctx, 'setup')
        return receive<Msg>(
          (c, m) => {
            attempt(c, 'message')
            if (m.type === 'boom') throw m.cause
            return same
          },
          (c, s) => {
            if (s.type === 'PostStop' && c.incarnation === 0) attempt(c, 'PostStop')
            return same
          },
        )
      }),
      { supervision: often },
    )
    ref.tell(boom())
    await kit.settle()
    expect(refused).toEqual(['setup not-allowed', 'message not-allowed', 'PostStop not-allowed'])
    await kit.end()
  })
})

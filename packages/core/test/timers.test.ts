// Keyed timers, receive timeouts and sendAfter: claims 35, 36, 37 and 61.

import { createTestKit } from '@troupe/testkit'
import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import {
  type ActorContext,
  type ActorRef,
  ActorSystem,
  type Behavior,
  delay,
  ignore,
  receive,
  same,
  setup,
  supervise,
  type Timers,
} from '@troupe/core'
import { scriptArguments } from './script.ts'

type Do = (ctx: ActorContext<Do>) => void

/** Does what it is told; a signal handler may be given. */
const doer = (onSignal?: (type: string, ctx: ActorContext<Do>) => void): Behavior<Do> =>
  receive<Do>(
    (ctx, act) => {
      act(ctx)
      return same
    },
    (ctx, signal) => {
      onSignal?.(signal.type, ctx)
      return same
    },
  )

describe('35. a same-key timer discards the tick already queued; ticks of an earlier incarnation are discarded; none fires in PreRestart or PostStop', () => {
  for (const how of ['replacing', 'cancelling', 'cancelling all'] as const)
    test(`${how} discards the tick that is already in the mailbox, and counts it as dropped`, async () => {
      const kit = createTestKit()
      const ticks: string[] = []
      let proceed = (): void => {}
      const ref = kit.system.spawn(
        receive<string>(async (ctx, m) => {
          if (m !== 'go') return void ticks.push(m)
          ctx.timers.once('k', 5, 'first')
          // While this waits, the tick comes into the mailbox.
          await new Promise<void>((resolve) => (proceed = resolve))
          expect(ctx.timers.has('k')).toBe(true)
          if (how === 'replacing') ctx.timers.once('k', 5, 'second')
          else if (how === 'cancelling') ctx.timers.cancel('k')
          else ctx.timers.cancelAll()
          expect(ctx.timers.has('k')).toBe(how === 'replacing')
        }),
      )
      ref.tell('go')
      await kit.advance(10)
      expect((await kit.checkLedger()).queued).toBe(1)
      proceed()
      await kit.advance(20)
      expect(ticks).toEqual(how === 'replacing' ? ['second'] : [])
      expect((await kit.checkLedger()).dropped).toBe(1)
      await kit.end()
    })

  test('a tick of an earlier incarnation that is queued is discarded by the next', async () => {
    const kit = createTestKit()
    const ticks: number[] = []
    const ref = kit.system.spawn(
      receive<string>((ctx, m) => {
        if (m === 'tick') ticks.push(ctx.incarnation)
        if (m !== 'boom') return same
        ctx.timers.once('k', 1, 'tick')
        ctx.timers.every('e', 1, 'tick')
        kit.clock.tick(3)
        throw new Error('boom')
      }),
      { supervision: supervise({ backoff: { min: 0, max: 0, jitter: 0 } }) },
    )
    ref.tell('boom')
    await kit.advance(100)
    expect(kit.system.phaseOf(ref)).toBe('running')
    expect(ticks).toEqual([])
    await kit.end()
  })

  test('nor does one that an ending incarnation sets for itself; what it sets for others does, as long as it is there', async () => {
    const kit = createTestKit()
    const told: string[] = []
    const other = kit.system.spawn(receive<string>((_ctx, m) => void told.push(m)))
    const ref = kit.system.spawn(
      receive<string>(
        (_ctx, m) => {
          told.push(`own ${m}`)
          throw new Error('boom')
        },
        async (ctx, signal) => {
          if (signal.type !== 'PreStop' && signal.type !== 'PreRestart') return
          ctx.timers.once('own', 10, 'late')
          ctx.timers.every('own too', 10, 'late')
          ctx.timers.once('other', 10, signal.type, { to: other })
          await delay(100, { clock: kit.system.clock })
        },
      ),
    )
    ref.tell('begin')
    await kit.advance(500)
    ref.stop()
    await kit.advance(500)
    expect(told).toEqual(['own begin', 'PreRestart', 'PreStop'])
    expect((await kit.system.ledger()).dropped).toBe(0)
    expect(kit.system.deadLetters.list()).toEqual([])
    await kit.end()
  })

  test('no timer fires while PreRestart, PostStop or PreStop are pending', async () => {
    const kit = createTestKit()
    const events: string[] = []
    const wait = (): Promise<void> => new Promise((resolve) => void kit.system.sendAfter(waker, 50, resolve))
    const waker = kit.system.spawn(
      receive<() => void>((_ctx, resolve) => {
        resolve()
        return same
      }),
    )
    const ref = kit.system.spawn(
      receive<'start' | 'tick'>(
        (ctx, m) => {
          events.push(m)
          if (m === 'start') ctx.timers.every('k', 10, 'tick')
          return same
        },
        async (_ctx, signal) => {
          if (signal.type === 'PreStart' || signal.type === 'PostStart') return
          events.push(signal.type)
          await wait()
          events.push(`${signal.type} done`)
        },
      ),
    )
    ref.tell('start')
    await kit.advance(10)
    kit.system.restart(ref)
    await kit.advance(200)
    expect(events).toEqual(['start', 'tick', 'PreRestart', 'PreRestart done', 'PostStop', 'PostStop done', 'PostRestart', 'PostRestart done'])
    events.length = 0
    ref.tell('start')
    await kit.advance(10)
    ref.stop()
    await kit.advance(200)
    expect(events).toEqual(['start', 'tick', 'PreStop', 'PreStop done', 'PostStop', 'PostStop done'])
    await kit.end()
  })

  test('timers kept from an ended incarnation refuse, and nothing of them reaches the next', async () => {
    const kit = createTestKit()
    const ticks: number[] = []
    const kept: Timers<string>[] = []
    const ref = kit.system.spawn(
      setup<string>((ctx) => {
        kept.push(ctx.timers)
        return receive((c) => {
          ticks.push(c.incarnation)
          return same
        })
      }),
      { name: 'kept' },
    )
    await kit.settle()
    kit.system.restart(ref)
    await kit.settle()
    expect(() => kept[0]!.once('k', 1, 'late')).toThrow(
      expect.objectContaining({ code: 'context-ended', message: expect.stringContaining('/user/kept') }),
    )
    expect(() => kept[0]!.every('k', 1, 'late')).toThrow(expect.objectContaining({ code: 'context-ended' }))
    kept[1]!.once('k', 1, 'good')
    await kit.advance(10)
    expect(ticks).toEqual([1])
    await kit.end()
  })
})

describe('fixed rate and coalescing', () => {
  test('every keeps its rate whatever handlers take', async () => {
    const kit = createTestKit()
    const at: number[] = []
    const ref = kit.system.spawn(doer())
    ref.tell((ctx) =>
      ctx.timers.every('k', 10, () => {
        at.push(kit.clock.now)
        kit.clock.tick(3)
      }),
    )
    await kit.advance(55)
    expect(at).toEqual([10, 20, 30, 40, 50])
    await kit.end()
  })

  test('61. `every` coalesces missed ticks and stays on its grid', async () => {
    const kit = createTestKit()
    const at: number[] = []
    const ref = kit.system.spawn(doer())
    ref.tell((ctx) => ctx.timers.every('k', 10, () => void at.push(kit.clock.now)))
    await kit.settle()
    ref.tell(() => kit.clock.tick(57))
    await kit.settle()
    await kit.advance(20)
    // The ticks of 10 to 50 are one, at 57; then the grid goes on.
    expect(at).toEqual([57, 60, 70])
    await kit.end()
  })

  test('ticks that find the actor suspended are one when it resumes', async () => {
    const kit = createTestKit()
    let ticks = 0
    const ref = kit.system.spawn(doer())
    ref.tell((ctx) => ctx.timers.every('k', 10, () => void ticks++))
    await kit.settle()
    kit.system.suspend(ref, 'test')
    await kit.advance(95)
    kit.system.resume(ref)
    await kit.settle()
    expect(ticks).toBe(1)
    await kit.advance(10)
    expect(ticks).toBe(2)
    await kit.end()
  })
})

test('ms beyond 2^31 works, and ms 0 fires at once but not inside the handler', async () => {
  const kit = createTestKit()
  const ticks: string[] = []
  const ref = kit.system.spawn(doer())
  ref.tell((ctx) => {
    ctx.timers.once('far', 2 ** 33, () => void ticks.push('far'))
    ctx.timers.once('now', 0, () => void ticks.push('now'))
    expect(ticks).toEqual([])
  })
  await kit.settle()
  expect(ticks).toEqual(['now'])
  await kit.advance(2 ** 33 - 1)
  expect(ticks).toEqual(['now'])
  await kit.advance(1)
  expect(ticks).toEqual(['now', 'far'])
  await kit.end()
})

test('a timer on the host with ms beyond 2^31 does not fire early', async () => {
  const system = ActorSystem.create('far', { keepAlive: false })
  let fired = false
  const ref = system.spawn(
    receive<string>((_ctx, m) => {
      fired ||= m === 'far'
      return same
    }),
  )
  const warnings: string[] = []
  const warned = (warning: Error): void => void warnings.push(warning.name)
  process.on('warning', warned)
  system.sendAfter(ref, 2 ** 31 + 5, 'far')
  // A host that overflows would call back after a millisecond.
  await new Promise((resolve) => setTimeout(resolve, 10))
  process.off('warning', warned)
  expect(fired).toBe(false)
  // Nor does it wake the host again and again.
  expect(warnings).toEqual([])
  await system.shutdown()
})

test('once with `to` sends to another, and keys are independent', async () => {
  const kit = createTestKit()
  const probe = kit.probe<string>()
  const ref = kit.system.spawn(doer())
  let has = true
  ref.tell((ctx) => {
    ctx.timers.once('a', 10, 'a', { to: probe.ref })
    ctx.timers.once('b', 20, 'b', { to: probe.ref })
    ctx.timers.once('c', 30, 'c', { to: probe.ref })
    ctx.timers.cancel('b')
  })
  await kit.advance(40)
  ref.tell((ctx) => void (has = ctx.timers.has('a')))
  await kit.settle()
  probe.expect('a')
  probe.expect('c')
  probe.expectNone()
  expect(has).toBe(false)
  await kit.end()
})

describe('36. ReceiveTimeout: reset by user messages, not by system messages; a stale one after cancel is discarded', () => {
  const idler = (log: string[], ms: number): Behavior<Do> =>
    setup<Do>((ctx) => {
      ctx.setReceiveTimeout(ms)
      return doer((type) => void (type === 'ReceiveTimeout' && log.push(type)))
    })

  test('user messages reset it; it comes again and again', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(idler(log, 10))
    await kit.advance(9)
    ref.tell(() => {})
    await kit.advance(9)
    expect(log).toEqual([])
    await kit.advance(1)
    expect(log).toHaveLength(1)
    await kit.advance(20)
    expect(log).toHaveLength(3)
    await kit.end()
  })

  test('system messages do not reset it', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(idler(log, 10))
    const other = kit.system.spawn(ignore)
    await kit.advance(9)
    kit.system.watch(other, ref)
    other.stop()
    kit.system.suspend(ref, 'test')
    kit.system.resume(ref)
    await kit.advance(1)
    expect(log).toEqual(['ReceiveTimeout'])
    await kit.end()
  })

  test('a pending handler is no silence', async () => {
    const kit = createTestKit()
    const log: string[] = []
    let finish = (): void => {}
    const ref = kit.system.spawn(
      setup<string>((ctx) => {
        ctx.setReceiveTimeout(10)
        return receive(
          () => new Promise<void>((resolve) => (finish = resolve)),
          (_c, s) => void (s.type === 'ReceiveTimeout' && log.push(s.type)),
        )
      }),
    )
    ref.tell('work')
    await kit.advance(35)
    expect(log).toEqual([])
    finish()
    await kit.advance(9)
    expect(log).toEqual([])
    await kit.advance(20)
    expect(log.length).toBeGreaterThan(0)
    await kit.end()
  })

  test('a stale one that is queued when it is cancelled or replaced is discarded', async () => {
    const kit = createTestKit()
    const log: string[] = []
    let finish = (): void => {}
    // A signal handler that is pending lets the ReceiveTimeout queue up behind it.
    const ref = kit.system.spawn(
      setup<string>((ctx) => {
        ctx.setReceiveTimeout(10)
        return receive(ignoreMessage, async (c, s) => {
          if (s.type === 'Terminated') {
            await new Promise<void>((resolve) => (finish = resolve))
            c.setReceiveTimeout(null)
          } else if (s.type === 'ReceiveTimeout') log.push(s.type)
        })
      }),
    )
    const other = kit.system.spawn(ignore)
    kit.system.watch(other, ref)
    await kit.settle()
    other.stop()
    await kit.settle()
    kit.clock.tick(50)
    await kit.settle()
    finish()
    await kit.advance(100)
    expect(log).toEqual([])
    await kit.end()
  })

  test('it ends with the incarnation', async () => {
    const kit = createTestKit()
    const log: string[] = []
    let first = true
    const ref = kit.system.spawn(
      setup<string>((ctx) => {
        if (first) ctx.setReceiveTimeout(10)
        first = false
        return receive(ignoreMessage, (_c, s) => void (s.type === 'ReceiveTimeout' && log.push(s.type)))
      }),
    )
    await kit.settle()
    kit.system.restart(ref)
    await kit.advance(100)
    expect(log).toEqual([])
    await kit.end()
  })
})

function ignoreMessage(): void {}

const dist = new URL('../dist/index.js', import.meta.url).href

test('37. timers do not keep the process alive after shutdown', () => {
  const script = `
    import { ActorSystem, receive, same, setup } from ${JSON.stringify(dist)}
    const system = ActorSystem.create('t', { logger: false })
    const ref = system.spawn(setup((ctx) => { ctx.timers.every('k', 5, 'x'); ctx.timers.once('far', 1e9, 'x'); ctx.setReceiveTimeout(1e9); return receive(() => same) }))
    system.sendAfter(ref, 1e9, 'x')
    ref.ask((replyTo) => 'q', { timeout: 1e9 }).catch(() => {})
    await system.started(ref)
    await system.shutdown()
    process.stdout.write('done')
  `
  const ran = spawnSync(process.execPath, scriptArguments(script), { timeout: 150_000, encoding: 'utf8' })
  expect(ran.stderr).toBe('')
  expect(ran.stdout).toBe('done')
  expect(ran.status).toBe(0)
})

describe('61. `sendAfter` from outside works, cancels, and is dropped with its reason when the target is gone', () => {
  test('it arrives in time order, and a cancelled one does not', async () => {
    const kit = createTestKit()
    const probe = kit.probe<string>()
    kit.system.sendAfter(probe.ref, 20, 'second')
    kit.system.sendAfter(probe.ref, 10, 'first')
    const cancel = kit.system.sendAfter(probe.ref, 15, 'never')
    cancel()
    cancel()
    await kit.advance(9)
    probe.expectNone()
    await kit.advance(30)
    probe.expect('first')
    probe.expect('second')
    probe.expectNone()
    await kit.end()
  })

  test('a target that is gone makes it a dead letter', async () => {
    const kit = createTestKit()
    const probe = kit.probe<string>()
    kit.system.sendAfter(probe.ref, 20, 'late')
    await kit.settle()
    probe.ref.stop()
    await kit.advance(20)
    expect(kit.system.deadLetters.list()).toMatchObject([{ message: 'late', reason: 'stopped', recipient: probe.ref, at: 20 }])
    await kit.end()
  })

  test('cancelling from a handler of the same moment works', async () => {
    const kit = createTestKit()
    const probe = kit.probe<string>()
    const ref: ActorRef<Do> = kit.system.spawn(doer())
    let cancel = (): void => {}
    kit.system.sendAfter(ref, 10, () => cancel())
    cancel = kit.system.sendAfter(probe.ref, 11, 'never')
    await kit.advance(20)
    probe.expectNone()
    await kit.end()
  })
})

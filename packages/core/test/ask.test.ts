// Questions: claims 38, 39, 40, 42 and 57, C9, deadlines that flow, forwarded and nested questions.

import { createTestKit } from '@troupe/testkit'
import { fc } from './properties.ts'
import { describe, expect, test } from 'vitest'
import type { ActorSystem } from '@troupe/core'
import { type ActorContext, type ActorRef, type AskTimeout, type Behavior, delay, ignore, receive, same, stopped, unhandled } from '@troupe/core'

type Q = { type: 'q'; n?: number; replyTo: ActorRef<unknown> }

/** What became of a promise: its value, or the code or message of what it was rejected with. */
const outcome = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    (value) => `ok ${String(value)}`,
    (error: { code?: string; message: string }) => error.code ?? error.message,
  )
const never = (): Promise<void> => new Promise(() => {})
const answering = (answer: (ctx: ActorContext<Q>, m: Q) => unknown): Behavior<Q> => receive<Q>((ctx, m) => answer(ctx, m) as undefined)

describe('38. asking a dead actor rejects at once and dead-letters the question; asking one that dies meanwhile rejects at once', () => {
  test('dead', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      answering(() => {}),
      { name: 'dead' },
    )
    ref.stop()
    await kit.settle()
    const asked = ref.ask({ type: 'q' })
    await expect(asked).rejects.toMatchObject({ code: 'ask-target-stopped', message: expect.stringContaining('/user/dead') })
    expect(kit.clock.now).toBe(0)
    expect(kit.system.deadLetters.list()).toMatchObject([{ message: { type: 'q' }, reason: 'stopped', recipient: ref }])
    await kit.end()
  })

  const ends: [string, (system: ActorSystem, ref: ActorRef<Q>) => void][] = [
    ['stop', (_s, ref) => ref.stop()],
    ['poison', (_s, ref) => ref.stop({ after: 'queued' })],
    ['kill', (s, ref) => s.kill(ref)],
  ]
  for (const [name, end] of ends)
    test(`dies by ${name}, the question queued, in progress, stashed, or kept for later`, async () => {
      const kit = createTestKit()
      const kept: ActorRef<unknown>[] = []
      const keeping = kit.system.spawn(answering((_c, m) => void kept.push(m.replyTo)))
      const stashing = kit.system.spawn(answering((c, m) => c.stash.add(m)))
      const pending = kit.system.spawn(answering(never), { stopTimeout: 1 })
      const refs = [keeping, stashing, pending]
      const asks = refs.map((ref) => outcome(ref.ask({ type: 'q' })))
      const queued = outcome(pending.ask({ type: 'q' }))
      await kit.settle()
      for (const ref of refs) end(kit.system, ref)
      // A pill waits behind a handler that never settles.
      if (name === 'poison') kit.system.kill(pending)
      await kit.advance(2)
      expect(await Promise.all([...asks, queued])).toEqual(Array(4).fill('ask-target-stopped'))
      for (const replyTo of kept) replyTo.tell('too late')
      expect(kit.system.deadLetters.list().at(-1)).toMatchObject({ message: 'too late', reason: 'late-reply' })
      await kit.end()
    })

  test('an actor that answers and stops has answered; one that stops itself without an answer rejects at once', async () => {
    const kit = createTestKit()
    const good = kit.system.spawn(
      answering((ctx) => {
        ctx.reply('bye')
        return stopped
      }),
    )
    const bad = kit.system.spawn(answering(() => stopped))
    const asks = [outcome(good.ask({ type: 'q' })), outcome(bad.ask({ type: 'q' }))]
    await kit.settle()
    expect(await Promise.all(asks)).toEqual(['ok bye', 'ask-target-stopped'])
    await kit.end()
  })
})

describe('39. a late reply is a dead letter, and harmless; a second reply too', () => {
  test('late', async () => {
    const kit = createTestKit()
    let replyTo: ActorRef<unknown> | undefined
    const ref = kit.system.spawn(
      answering((_c, m) => void (replyTo = m.replyTo)),
      { name: 'slow' },
    )
    const asked = outcome(ref.ask({ type: 'q' }, { timeout: 10 }))
    await kit.advance(10)
    expect(await asked).toBe('ask-timeout')
    replyTo!.tell('late')
    expect(kit.system.deadLetters.list()).toMatchObject([{ message: 'late', reason: 'late-reply', at: 10 }])
    await kit.end()
  })

  test('second, by the replyTo and by ctx.reply', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      answering((ctx, m) => {
        ctx.reply(1)
        ctx.reply(2)
        m.replyTo.tell(3)
      }),
    )
    const asked = outcome(ref.ask({ type: 'q' }))
    await kit.settle()
    expect(await asked).toBe('ok 1')
    expect(kit.system.deadLetters.list().map((l) => [l.message, l.reason])).toEqual([
      [2, 'late-reply'],
      [3, 'late-reply'],
    ])
    await kit.end()
  })

  test('a timeout explains itself: phase, queue, and what is in progress since when', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(answering(never), { name: 'busy' })
    const first = outcome(ref.ask({ type: 'q' }, { timeout: 1000 }))
    const asked = ref.ask({ type: 'q' }, { timeout: 50 })
    const message = asked.catch((e: Error) => e.message)
    await kit.advance(50)
    expect(await message).toMatch(/\/user\/busy did not answer within 50 ms: it is running, 0 messages are ahead, q in progress for 50 ms/)
    await kit.advance(1000)
    expect(await first).toBe('ask-timeout')
    await kit.end()
  })
})

test('40. an ask rejected by timeout leaves nothing behind', async () => {
  const kit = createTestKit()
  const ref: ActorRef<Q> = kit.system.spawn(ignore)
  const controller = new AbortController()
  let listeners = 0
  const signal = controller.signal
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args))
  signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove(...args))
  const asks = Array.from({ length: 1000 }, (_, i) => outcome(ref.ask({ type: 'q' }, { timeout: 1 + (i % 50), signal })))
  await kit.advance(100)
  expect(new Set(await Promise.all(asks))).toEqual(new Set(['ask-timeout']))
  expect(listeners).toBe(0)
  // The first thousand were handled without an answer, so none is under way.
  expect(await kit.checkLedger()).toMatchObject({ handled: 1000, queued: 0, inProgress: 0 })
  await kit.end()
})

describe('42. abort rejects the ask, and the expired question is skipped in the mailbox', () => {
  test('abort while queued', async () => {
    const kit = createTestKit()
    const seen: unknown[] = []
    const ref = kit.system.spawn(answering((_c, m) => void seen.push(m.n)))
    await kit.settle()
    kit.system.suspend(ref, 'test')
    const controller = new AbortController()
    const asked = ref.ask({ type: 'q', n: 1 }, { signal: controller.signal })
    const other = outcome(ref.ask({ type: 'q', n: 2 }, { timeout: 100 }))
    const why = new Error('why')
    const rejected = asked.catch((cause: unknown) => cause)
    await kit.settle()
    controller.abort(why)
    expect(await rejected).toMatchObject({ code: 'cancelled', cause: why })
    kit.system.resume(ref)
    await kit.settle()
    expect(seen).toEqual([2])
    expect((await kit.checkLedger()).dropped).toBe(1)
    await kit.advance(100)
    expect(await other).toBe('ask-timeout')
    await kit.end()
  })

  test('a signal that is aborted already sends nothing', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(answering(() => {}))
    expect(await outcome(ref.ask({ type: 'q' }, { signal: AbortSignal.abort() }))).toBe('cancelled')
    expect((await kit.checkLedger()).sent).toBe(0)
    await kit.end()
  })

  test('a timed out question is skipped too', async () => {
    const kit = createTestKit()
    let handled = 0
    const ref = kit.system.spawn(answering(() => void handled++))
    await kit.settle()
    kit.system.suspend(ref, 'test')
    const asked = outcome(ref.ask({ type: 'q' }, { timeout: 10 }))
    await kit.advance(10)
    expect(await asked).toBe('ask-timeout')
    kit.system.resume(ref)
    await kit.settle()
    expect(handled).toBe(0)
    await kit.end()
  })
})

describe('57. an ask whose handler throws is rejected at once with that cause, under restart, resume and stop alike; an unhandled question rejects with Unhandled', () => {
  for (const supervision of ['restart', 'resume', 'stop', 'escalate'] as const)
    for (const kind of ['throw', 'reject', 'adapter'] as const)
      test(`${kind} under ${supervision}`, async () => {
        const kit = createTestKit({ onEscalation: 'stop' })
        const boom = new Error('boom')
        let adapter: ActorRef<Q> | undefined
        const ref = kit.system.spawn(
          receive<Q>(
            (_ctx) => {
              if (kind === 'throw') throw boom
              return Promise.reject(boom)
            },
            (ctx, s) => {
              if (s.type === 'PreStart')
                adapter = ctx.adapt<Q>(() => {
                  throw boom
                })
            },
          ),
          { supervision },
        )
        await kit.settle()
        const asked = (kind === 'adapter' ? adapter! : ref).ask({ type: 'q' })
        const rejected = asked.catch((cause: unknown) => cause)
        await kit.settle()
        expect(await rejected).toBe(boom)
        expect(kit.clock.now).toBe(0)
        expect((await kit.checkLedger()).failed).toBe(1)
        await kit.end()
      })

  test('unhandled, also when it says so later, and by a behavior that understands nothing', async () => {
    const kit = createTestKit()
    const sync = kit.system.spawn(answering(() => unhandled))
    const later = kit.system.spawn(answering(() => Promise.resolve(unhandled)))
    const reentrant = kit.system.spawn(
      answering(() => Promise.resolve(unhandled)),
      { reentrant: true },
    )
    const asks = [sync, later, reentrant].map((ref) => outcome(ref.ask({ type: 'q' })))
    await kit.settle()
    expect(await Promise.all(asks)).toEqual(['unhandled', 'unhandled', 'unhandled'])
    expect((await kit.checkLedger()).unhandled).toBe(3)
    await kit.end()
  })

  test('a question returned with what is no behavior rejects with that', async () => {
    const kit = createTestKit()
    const ref = kit.system.spawn(
      answering(() => 42),
      { supervision: 'stop' },
    )
    const asked = outcome(ref.ask({ type: 'q' }))
    await kit.settle()
    expect(await asked).toBe('not-a-behavior')
    await kit.end()
  })
})

describe('deadlines flow into nested questions', () => {
  for (const how of ['plain', 'reentrant', 'adapter'] as const)
    test(`what is left of the outer one bounds the inner one: ${how}`, async () => {
      const kit = createTestKit()
      const inner = kit.system.spawn(
        answering(() => {}),
        { name: 'inner' },
      )
      const at: [string, number][] = []
      let adapter: ActorRef<Q> | undefined
      const outer = kit.system.spawn(
        receive<Q>(
          async (ctx) => {
            kit.clock.tick(30)
            await ctx.ask(inner, { type: 'q' }, { timeout: 1000 }).catch((e: { code: string }) => at.push([e.code, kit.clock.now]))
          },
          (ctx, s) => {
            if (s.type === 'PreStart') adapter = ctx.adapt<Q>((q) => q)
          },
        ),
        { reentrant: how === 'reentrant' },
      )
      await kit.settle()
      const asked = outcome((how === 'adapter' ? adapter! : outer).ask({ type: 'q' }, { timeout: 100 }))
      await kit.advance(2000)
      expect(await asked).toBe('ask-timeout')
      expect(at).toEqual([['ask-timeout', 100]])
      await kit.end()
    })

  test('the outer one expires first, also where what is left of it is rounded', async () => {
    const kit = createTestKit()
    // A time at which what is left, added to the time, is less than the deadline.
    const start = 20 + 1 / 3
    const deadline = start + 3_000
    const late = Array.from({ length: 10_000 }, (_, i) => 10 + i / 1009).find((ms) => start + ms + (deadline - (start + ms)) < deadline)!
    const inner = kit.system.spawn(
      answering(() => new Promise(() => {})),
      { name: 'inner', stopTimeout: 0 },
    )
    const expired: string[] = []
    const outer = kit.system.spawn(
      answering(async (ctx) => {
        kit.clock.tick(late)
        try {
          await ctx.ask(inner, { type: 'q' })
        } catch {
          expired.push('inner')
        }
      }),
      { name: 'outer' },
    )
    await kit.advance(start)
    const asked = outer.ask({ type: 'q' }, { timeout: 3_000 }).catch((error: AskTimeout) => {
      expired.push('outer')
      return error.chain
    })
    await kit.advance(4_000)
    expect(await asked).toEqual(['/user/outer', '/user/inner'])
    expect(expired).toEqual(['outer', 'inner'])
    kit.system.kill(inner)
    await kit.end()
  })

  test('a shorter timeout of its own stays', async () => {
    const kit = createTestKit()
    const inner = kit.system.spawn(answering(() => {}))
    let at = 0
    const outer = kit.system.spawn(
      answering(async (ctx) => {
        await ctx.ask(inner, { type: 'q' }, { timeout: 10 }).catch(() => (at = kit.clock.now))
        ctx.reply('done')
      }),
    )
    const asked = outcome(outer.ask({ type: 'q' }, { timeout: 100 }))
    await kit.advance(50)
    expect(await asked).toBe('ok done')
    expect(at).toBe(10)
    await kit.end()
  })

  for (const [when, answers, until] of [
    ['who lets the time run out has none left', false, 201],
    ['who has answered is free again', true, 1200],
  ] as const)
    test(when, async () => {
      const kit = createTestKit()
      const inner = kit.system.spawn(answering(() => {}))
      let at = 0
      const outer = kit.system.spawn(
        answering(async (ctx) => {
          if (answers) ctx.reply('done')
          await delay(200, { clock: ctx.system.clock })
          await ctx.ask(inner, { type: 'q' }, { timeout: 1000 }).catch(() => (at = kit.clock.now))
        }),
      )
      const asked = outcome(outer.ask({ type: 'q' }, { timeout: 100 }))
      await kit.advance(2000)
      expect(await asked).toBe(answers ? 'ok done' : 'ask-timeout')
      expect(at).toBe(until)
      await kit.end()
    })
})

describe('forwarded questions', () => {
  test('are answered by whom they were forwarded to, and end with it', async () => {
    const kit = createTestKit()
    const last = kit.system.spawn(answering((ctx, m) => (m.n === 1 ? ctx.reply('last') : undefined)))
    const middle = kit.system.spawn(answering((ctx) => ctx.forward(last)))
    const first = kit.system.spawn(answering((ctx) => ctx.forward(middle)))
    const answered = outcome(first.ask({ type: 'q', n: 1 }))
    const open = outcome(first.ask({ type: 'q', n: 2 }))
    await kit.settle()
    expect(await answered).toBe('ok last')
    // The question lives with the last one now: the others may go.
    first.stop()
    middle.stop()
    await kit.settle()
    let settled = false
    void open.then(() => (settled = true))
    await kit.settle()
    expect(settled).toBe(false)
    last.stop()
    await kit.settle()
    expect(await open).toBe('ask-target-stopped')
    expect((await kit.checkLedger()).sent).toBe(3)
    await kit.end()
  })

  test('forwarded to a dead actor reject at once', async () => {
    const kit = createTestKit()
    const dead = kit.system.spawn(answering(() => {}))
    dead.stop()
    await kit.settle()
    const ref = kit.system.spawn(answering((ctx) => ctx.forward(dead)))
    const asked = outcome(ref.ask({ type: 'q' }))
    await kit.settle()
    expect(await asked).toBe('ask-target-stopped')
    await kit.end()
  })
})

test('bad timeouts are refused and send nothing', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(answering(() => {}))
  for (const timeout of [0, -1, NaN, Infinity, '5' as never, null as never])
    await expect(ref.ask({ type: 'q' }, { timeout })).rejects.toMatchObject({ code: 'invalid-option', message: expect.stringContaining('timeout') })
  expect((await kit.checkLedger()).sent).toBe(0)
  await kit.end()
})

test('a factory that throws, returns nothing, or answers at once is dealt with', async () => {
  const kit = createTestKit()
  const ref: ActorRef<Q> = kit.system.spawn(ignore)
  const boom = new Error('boom')
  await expect(
    ref.ask(() => {
      throw boom
    }),
  ).rejects.toBe(boom)
  expect(await outcome(ref.ask(() => undefined as never))).toBe('ask-refused')
  const early = outcome(
    ref.ask((replyTo) => {
      replyTo.tell('early')
      return { type: 'q', replyTo }
    }),
  )
  await kit.settle()
  expect(await early).toBe('ok early')
  await kit.end()
})

test('a signal that is none is refused and leaves nothing behind', async () => {
  const kit = createTestKit()
  const ref: ActorRef<Q> = kit.system.spawn(ignore)
  await expect(ref.ask({ type: 'q' }, { signal: {} as never })).rejects.toMatchObject({
    code: 'invalid-option',
    message: expect.stringContaining('signal'),
  })
  expect((await kit.checkLedger()).sent).toBe(0)
  await kit.end()
})

test('the questions of an incarnation end with it', async () => {
  const kit = createTestKit()
  const silent = kit.system.spawn(answering(() => {}))
  const got: string[] = []
  const asker = kit.system.spawn(
    receive<string>((ctx) => {
      void ctx.ask(silent, { type: 'q' }).catch((e: { code: string }) => got.push(e.code))
      return same
    }),
  )
  asker.tell('go')
  await kit.settle()
  kit.system.restart(asker)
  await kit.settle()
  expect(got).toEqual(['cancelled'])
  await kit.end()
})

test('an answer of undefined is an answer', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(answering((ctx) => ctx.reply(undefined)))
  const asked = outcome(ref.ask({ type: 'q' }))
  await kit.settle()
  expect(await asked).toBe('ok undefined')
  await kit.end()
})

test('C9: every ask settles exactly once, by the first pass after its deadline, and nothing is left', async () => {
  const step = fc.record({
    timeout: fc.integer({ min: 1, max: 50 }),
    delay: fc.integer({ min: 0, max: 60 }),
    act: fc.constantFrom('reply', 'reply', 'twice', 'throw', 'never', 'unhandled', 'abort', 'forward', 'stash'),
    wait: fc.nat(10),
    control: fc.constantFrom('none', 'none', 'none', 'restart', 'suspend', 'resume', 'stop'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const kit = createTestKit({ supervision: 'resume' })
      type Job = { act: string; delay: number; replyTo: ActorRef<string> }
      const second = kit.system.spawn(receive<Job>((_ctx, m) => m.replyTo.tell('second')))
      const ref = kit.system.spawn(
        receive<Job>((ctx, m) => {
          if (m.act === 'throw') throw new Error('boom')
          if (m.act === 'unhandled') return unhandled
          if (m.act === 'forward') ctx.forward(second)
          if (m.act === 'stash') ctx.stash.add(m)
          if (m.act === 'twice') m.replyTo.tell('one')
          if (m.act === 'reply' || m.act === 'twice') ctx.timers.once(`${Math.random()}`, m.delay, 'x', { to: m.replyTo })
          return same
        }),
      )
      const settled: { times: number; at: number; by: number }[] = []
      for (const s of steps) {
        const controller = new AbortController()
        const entry = { times: 0, at: -1, by: kit.clock.now + s.timeout }
        settled.push(entry)
        const note = (): void => {
          entry.times++
          entry.at = kit.clock.now
        }
        ref.ask({ act: s.act, delay: s.delay }, { timeout: s.timeout, signal: controller.signal }).then(note, note)
        if (s.act === 'abort') kit.system.sendAfter({ tell: () => controller.abort() } as never, s.delay, 'x' as never)
        if (s.control === 'restart') kit.system.restart(ref)
        if (s.control === 'suspend') kit.system.suspend(ref, 'test')
        if (s.control === 'resume') kit.system.resume(ref)
        if (s.control === 'stop' && s.delay < 5) ref.stop()
        await kit.advance(s.wait)
      }
      await kit.advance(60)
      for (const entry of settled) {
        expect(entry.times).toBe(1)
        expect(entry.at).toBeLessThanOrEqual(entry.by)
      }
      await kit.end()
    }),
    { numRuns: 200 },
  )
})

test('what is no question is refused at once, and nothing is sent', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(
    answering(() => {}),
    { name: 'strict' },
  ) as ActorRef<never>
  for (const question of ['text', 7, undefined, null, Symbol('q')]) expect(await outcome(ref.ask(question as never))).toBe('ask-refused')
  await expect(ref.ask('text' as never)).rejects.toThrow(/\/user\/strict.*a question is an object/)
  await kit.settle()
  expect((await kit.system.ledger()).sent).toBe(0)
  await kit.end()
})

test('questions that share a signal share one listener, which goes with the last of them', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(answering((_ctx, m) => (m.n === 0 ? m.replyTo.tell('done') : never())))
  const controller = new AbortController()
  const { signal } = controller
  let listeners = 0
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)]
  signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args))
  signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove(...args))
  const answered = Array.from({ length: 20 }, () => ref.ask({ type: 'q', n: 0 }, { signal }))
  expect(listeners).toBe(1)
  await kit.settle()
  await Promise.all(answered)
  expect(listeners).toBe(0)
  const aborted = Array.from({ length: 20 }, () => outcome(ref.ask({ type: 'q', n: 1 }, { signal })))
  await kit.settle()
  controller.abort()
  expect(new Set(await Promise.all(aborted))).toEqual(new Set(['cancelled']))
  ref.stop()
  await kit.advance(10_000)
  await kit.end()
})

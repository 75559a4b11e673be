// Nothing vanishes: claim 59 and C2, over random mixes of everything that moves messages.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { fc } from './properties.ts'
import { describe, expect, test } from 'vitest'
import {
  type ActorContext,
  type ActorRef,
  type Behavior,
  ignore,
  type LedgerReport,
  type Observation,
  receive,
  same,
  setup,
  stopped,
  supervise,
  unhandled,
} from '@troupe/core'

/** Looks at the ledger now; what does not add up fails the test at its end. */
class Auditor {
  readonly #kit: TestKit
  readonly #looks: Promise<unknown>[] = []
  constructor(kit: TestKit) {
    this.#kit = kit
  }
  look(): void {
    // Observed at once: a failed look must not be an unhandled rejection meanwhile.
    this.#looks.push(this.#kit.checkLedger().catch((error: unknown) => error))
  }
  async verdict(): Promise<number> {
    for (const look of await Promise.all(this.#looks)) if (look instanceof Error) throw look
    return this.#looks.length
  }
}

describe('59. the ledger adds up at every instant', () => {
  test('in a handler, in a signal handler, in setup, during an await', async () => {
    const kit = createTestKit()
    const audit = new Auditor(kit)
    const reports: LedgerReport[] = []
    let finish = (): void => {}
    const ref = kit.system.spawn(
      setup<string>((c) => {
        audit.look()
        void c
        return receive<string>(
          async () => {
            audit.look()
            await new Promise<void>((resolve) => (finish = resolve))
            audit.look()
          },
          () => audit.look(),
        )
      }),
    )
    ref.tell('a')
    ref.tell('b')
    audit.look()
    await kit.settle()
    reports.push(await kit.checkLedger())
    finish()
    await kit.settle()
    finish()
    await kit.settle()
    reports.push(await kit.checkLedger())
    expect(reports).toMatchObject([
      { sent: 2, inProgress: 1, queued: 1, handled: 0 },
      { sent: 2, inProgress: 0, queued: 0, handled: 2 },
    ])
    expect(await audit.verdict()).toBeGreaterThan(6)
    await kit.end()
  })

  test('after redirect, forward, stash, adapter, refused offer, and in the eyes of a listener', async () => {
    const kit = createTestKit()
    const audit = new Auditor(kit)
    kit.system.events.listen(() => audit.look())
    const probe = kit.probe<unknown>()
    let adapter: ActorRef<number> | undefined
    const ref = kit.system.spawn(
      setup<unknown>((ctx) => {
        adapter = ctx.adapt<number>((n) => {
          audit.look()
          return { adapted: n }
        })
        return receive((c, m) => {
          audit.look()
          if (m === 'forward') c.forward(probe.ref)
          else c.stash.add(m)
          audit.look()
          return same
        })
      }),
      { drain: { redirect: probe.ref } },
    )
    ref.tell('forward')
    ref.tell('stash')
    await kit.settle()
    adapter!.tell(1)
    await kit.settle()
    expect(await kit.checkLedger()).toMatchObject({ sent: 3, handled: 1, stashed: 2 })
    ref.stop()
    await kit.settle()
    await expect(ref.offer('refused')).rejects.toMatchObject({ code: 'offer-refused' })
    await expect(ref.offer(undefined)).rejects.toMatchObject({ code: 'offer-refused' })
    expect(await kit.checkLedger()).toMatchObject({ sent: 3, handled: 3, deadLettered: 0 })
    expect(probe.messages).toEqual(['forward', 'stash', { adapted: 1 }])
    await audit.verdict()
    await kit.end()
  })

  test('undefined is no message: a dead letter wherever it is told', async () => {
    const kit = createTestKit()
    let adapter: ActorRef<unknown> | undefined
    const ref = kit.system.spawn(
      setup<unknown>((ctx) => {
        adapter = ctx.adapt<unknown>((m) => m)
        return receive(() => same)
      }),
    )
    await kit.settle()
    ref.tell(undefined)
    adapter!.tell(undefined)
    kit.system.sendAfter(ref, 1, undefined)
    await kit.advance(1)
    expect(kit.system.deadLetters.list().map((l) => l.reason)).toEqual(Array(3).fill('undefined-message'))
    for (const message of [null, 0, '', false, NaN]) ref.tell(message)
    await kit.settle()
    expect(await kit.checkLedger()).toMatchObject({ sent: 8, handled: 5, deadLettered: 3 })
    await kit.end()
  })

  test('unhandled is counted and observed', async () => {
    const kit = createTestKit()
    const events: Observation[] = []
    kit.system.events.listen((e) => events.push(e as Observation), 'message.unhandled')
    const ref = kit.system.spawn(receive<string>(() => unhandled))
    const later = kit.system.spawn(receive<string>(async () => unhandled))
    ref.tell('a')
    later.tell('b')
    await kit.settle()
    expect(events).toMatchObject([
      { ref, message: 'a' },
      { ref: later, message: 'b' },
    ])
    expect(await kit.checkLedger()).toMatchObject({ unhandled: 2, handled: 0 })
    await kit.end()
  })

  test('a subscriber of dead letters that is stopping does not breed dead letters of its own', async () => {
    const kit = createTestKit()
    const dead = kit.system.spawn(ignore)
    dead.stop()
    await kit.settle()
    const subscriber = kit.system.spawn(
      receive<unknown>(
        () => same,
        (_c, s) => (s.type === 'PostStop' ? new Promise<void>(() => {}) : undefined),
      ),
      { stopTimeout: 100 },
    )
    kit.system.events.subscribe(subscriber, 'message.dead')
    await kit.settle()
    subscriber.stop()
    await kit.settle()
    expect(kit.system.phaseOf(subscriber)).toBe('stopping')
    dead.tell('x')
    // The letter, and its notice that reached nobody.
    expect(kit.system.deadLetters.count).toBe(2)
    await kit.end()
  })

  test('an actor that has ended cannot be subscribed', async () => {
    const kit = createTestKit()
    const dead = kit.system.spawn(ignore)
    dead.stop()
    await kit.settle()
    const subscription = kit.system.events.subscribe(dead, () => true)
    expect(subscription.active).toBe(false)
    kit.system.events.publish({ type: 'x' })
    expect(kit.system.deadLetters.count).toBe(0)
    subscription.cancel()
    await kit.end()
  })
})

type Message = { type: 'work'; act: string; replyTo?: ActorRef<unknown> } | { type: 'question'; act: string; replyTo: ActorRef<unknown> }

const acts = [
  'nothing',
  'nothing',
  'throw',
  'reject',
  'await',
  'stash',
  'unstash',
  'clear-stash',
  'forward',
  'unhandled',
  'reply',
  'reply-twice',
  'adapt',
  'adapt-badly',
  'tell-other',
  'ask-other',
  'timer',
  'timer-replace',
  'watch-with',
  'pipe',
  'stop-self',
  'become',
  'undefined',
  'garbage',
] as const

function worker(kit: TestKit, audit: Auditor, others: () => ActorRef<Message>[]): Behavior<Message> {
  const pick = (): ActorRef<Message> => others()[Math.floor(kit.clock.now) % others().length]!
  const handle = (ctx: ActorContext<Message>, m: Message): unknown => {
    audit.look()
    const other = pick()
    switch (m.type === 'work' || m.type === 'question' ? m.act : '') {
      case 'throw':
        throw new Error('boom')
      case 'reject':
        return Promise.reject(new Error('boom'))
      case 'await':
        return new Promise<void>((resolve) => void kit.system.sendAfter({ tell: resolve } as never, 3, 'x' as never)).then(() => audit.look())
      case 'stash':
        ctx.stash.add(m)
        break
      case 'unstash':
        ctx.stash.unstashAll()
        break
      case 'clear-stash':
        ctx.stash.clear()
        break
      case 'forward':
        if (other.path !== ctx.path) ctx.forward(other)
        break
      case 'unhandled':
        return unhandled
      case 'reply-twice':
        ctx.reply(1)
        ctx.reply(2)
        break
      case 'reply':
        ctx.reply(1)
        break
      case 'adapt':
      case 'adapt-badly': {
        const bad = m.act === 'adapt-badly'
        const ref = ctx.adapt<string>(
          (act) => {
            audit.look()
            if (bad) throw new Error('adapter')
            return { type: 'work', act }
          },
          { key: 'k' },
        )
        ref.tell('stash')
        void ref.ask(() => 'reply', { timeout: 5 }).catch(() => {})
        break
      }
      case 'tell-other':
        other.tell({ type: 'work', act: 'stash' }, ctx.self)
        break
      case 'ask-other':
        void ctx.ask(other, { type: 'question', act: 'reply' }, { timeout: 4 })
        break
      case 'timer':
        ctx.timers.every('t', 2, { type: 'work', act: 'nothing' })
        break
      case 'timer-replace':
        ctx.timers.once('t', 1, { type: 'work', act: 'stash' })
        break
      case 'watch-with':
        if (other.path !== ctx.path) {
          ctx.unwatch(other)
          ctx.watchWith(other, { type: 'work', act: 'stash' })
        }
        break
      case 'pipe':
        ctx.pipeToSelf(
          Promise.resolve(),
          () => ({ type: 'work', act: 'nothing' }),
          () => ({ type: 'work', act: 'nothing' }),
        )
        break
      case 'stop-self':
        return stopped
      case 'become':
        return worker(kit, audit, others)
      case 'undefined':
        other.tell(undefined as never)
        break
      case 'garbage':
        return 'garbage'
      default:
    }
    audit.look()
    return same
  }
  return receive<Message>(handle as never, () => audit.look())
}

test(
  'C2: every message sent ends as exactly one of handled, failed, unhandled, dropped or dead-lettered, at every instant',
  { timeout: 60_000 },
  async () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ op: fc.constantFrom('tell', 'ask'), to: fc.nat(3), act: fc.constantFrom(...acts), ms: fc.nat(4) }) },
      {
        weight: 2,
        arbitrary: fc.record({
          op: fc.constantFrom('stop', 'poison', 'kill', 'restart', 'suspend', 'resume', 'advance', 'advance'),
          to: fc.nat(3),
          act: fc.constant('nothing' as const),
          ms: fc.nat(4),
        }),
      },
    )
    let looks = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
        const kit = createTestKit()
        const audit = new Auditor(kit)
        kit.system.events.listen(() => audit.look())
        const refs: ActorRef<Message>[] = []
        const make = (i: number): ActorRef<Message> => {
          const drains = ['dead-letter', 'drop', { redirect: refs[0] ?? ignored }, { redirect: ignored }] as const
          return kit.system.spawn(
            worker(kit, audit, () => refs),
            {
              drain: drains[i]!,
              reentrant: i === 3,
              stopTimeout: 2,
              stash: { capacity: 3, overflow: i % 2 === 0 ? 'error' : 'drop-oldest' },
              onRestart: { mailbox: i === 1 ? 'clear' : 'keep' },
              supervision: i === 2 ? 'resume' : supervise({ limit: { restarts: 50, within: 1000 }, backoff: { min: 1, max: 2, jitter: 0 } }),
            },
          )
        }
        const ignored = kit.system.spawn(ignore)
        for (let i = 0; i < 4; i++) refs.push(make(i))
        for (const { op, to, act, ms } of steps) {
          const ref = refs[to]!
          if (op === 'tell') ref.tell({ type: 'work', act })
          else if (op === 'ask') void ref.ask({ type: 'question', act }, { timeout: 1 + ms }).catch(() => {})
          else if (op === 'stop') ref.stop()
          else if (op === 'poison') ref.stop({ after: 'queued' })
          else if (op === 'kill') kit.system.kill(ref)
          else if (op === 'restart') kit.system.restart(ref)
          else if (op === 'suspend') kit.system.suspend(ref, 'x')
          else if (op === 'resume') kit.system.resume(ref)
          else await kit.advance(ms)
          audit.look()
          if (kit.system.phaseOf(ref) === 'terminated') refs[to] = make(to)
        }
        await kit.advance(20)
        looks += await audit.verdict()
        await kit.end()
        const { queued, stashed, inProgress, unknown } = await kit.checkLedger()
        expect({ queued, stashed, inProgress, unknown }).toEqual({ queued: 0, stashed: 0, inProgress: 0, unknown: 0 })
      }),
      { numRuns: 500 },
    )
    expect(looks).toBeGreaterThan(5000)
  },
)

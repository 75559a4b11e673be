// C2 and C10 over random systems: whatever the kind of mailbox, the policy, the senders, failures, stops and restarts,
// every message is in exactly one place at every instant, and no bound is ever passed.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { fc } from './properties.ts'
import { expect, test } from 'vitest'
import {
  measured,
  type ActorRef,
  bounded,
  grow,
  type MailboxKind,
  type Overflow,
  priority,
  receive,
  same,
  stopped,
  type SpawnOptions,
  supervise,
  swallow,
  unbounded,
} from '@troupe/core'

type Order =
  | { readonly do: 'tell' | 'offer' | 'ask'; readonly to: number; readonly what: What }
  | { readonly do: 'stop' | 'kill' | 'restart' | 'suspend' | 'resume' | 'poison'; readonly to: number }
  | { readonly do: 'run' }
  | { readonly do: 'advance'; readonly ms: number }
type What = 'plain' | 'fail' | 'stash' | 'unstash' | 'forward' | 'wait' | 'last' | 'unhandled' | 'swallow'
type Message = { readonly what: What; readonly rank: number; readonly replyTo?: ActorRef<number> }

interface Setting {
  readonly kind: 'default' | 'unbounded' | 'bounded' | 'priority'
  readonly capacity: number
  readonly overflow: Overflow
  readonly drain: 'dead-letter' | 'drop' | 'redirect'
  readonly metrics: boolean
  readonly middleware: boolean
  readonly clear: boolean
}

const overflow: fc.Arbitrary<Overflow> = fc.oneof(
  fc.constantFrom('drop-newest', 'drop-oldest', 'reject', 'block' as const),
  fc.double({ min: 1, max: 4, noNaN: true }).map(grow),
)
const setting: fc.Arbitrary<Setting> = fc.record({
  kind: fc.constantFrom('default', 'unbounded', 'bounded', 'priority'),
  capacity: fc.integer({ min: 1, max: 6 }),
  overflow,
  drain: fc.constantFrom('dead-letter', 'drop', 'redirect'),
  metrics: fc.boolean(),
  middleware: fc.boolean(),
  clear: fc.boolean(),
})
const what: fc.Arbitrary<What> = fc.constantFrom(
  'plain',
  'plain',
  'plain',
  'fail',
  'stash',
  'unstash',
  'forward',
  'wait',
  'last',
  'unhandled',
  'swallow',
)
const order: fc.Arbitrary<Order> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('tell', 'offer', 'ask'), to: fc.nat(2), what }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('stop', 'kill', 'restart', 'suspend', 'resume', 'poison'), to: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.constant({ do: 'run' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 200 }) }) },
)

function mailboxOf({ kind, capacity, overflow: policy }: Setting): MailboxKind | undefined {
  if (kind === 'default') return undefined
  if (kind === 'unbounded') return unbounded({ systemShare: 50 })
  if (kind === 'bounded') return bounded(capacity, policy)
  return priority<Message>((a, b) => a.rank - b.rank, { capacity, overflow: policy })
}

/** The most user messages that may be queued: the bound, what came back from the stash, and the pill. */
function boundOf({ kind, capacity, overflow: policy }: Setting): number {
  if (kind === 'default' || kind === 'unbounded') return Infinity
  const most = typeof policy === 'object' ? Math.floor(capacity * policy.maxFactor) : capacity
  return most + stashCapacity + 1
}

const stashCapacity = 3

function spawnAll(kit: TestKit, settings: readonly Setting[]): ActorRef<Message>[] {
  const refs: ActorRef<Message>[] = []
  settings.forEach((s, i) => {
    const behavior = receive<Message>((ctx, m) => {
      m.replyTo?.tell(m.rank)
      switch (m.what) {
        case 'fail':
          throw new Error('as asked')
        case 'stash':
          ctx.stash.add(m)
          return same
        case 'unstash':
          ctx.stash.unstashAll()
          return same
        case 'forward':
          // Onwards only: in a circle it would never end.
          if (i + 1 < refs.length) ctx.forward(refs[i + 1]!)
          return same
        case 'wait':
          return Promise.resolve().then(() => same)
        case 'last':
          return stopped
        default:
          return same
      }
    })
    const options: SpawnOptions = {
      mailbox: mailboxOf(s),
      stash: { capacity: stashCapacity, overflow: 'drop-oldest' },
      drain: s.drain === 'redirect' ? (refs[0] === undefined ? 'drop' : { redirect: refs[0] }) : s.drain,
      metrics: s.metrics && measured(),
      middleware: s.middleware ? [{ before: (m) => ((m as Message).what === 'swallow' ? swallow : m) }] : [],
      onRestart: { mailbox: s.clear ? 'clear' : 'keep' },
      supervision: supervise({ limit: { restarts: 2, within: 100 }, backoff: { min: 5, max: 50, factor: 2, jitter: 0 } }),
    }
    refs.push(kit.system.spawn(behavior, options))
  })
  return refs
}

async function obey(kit: TestKit, refs: readonly ActorRef<Message>[], o: Order, rank: number): Promise<void> {
  const { system } = kit
  switch (o.do) {
    case 'run':
      return kit.settle()
    case 'advance':
      return kit.advance(o.ms)
    case 'tell':
      return refs[o.to]!.tell({ what: o.what, rank })
    case 'offer':
      return void refs[o.to]!.offer({ what: o.what, rank }).catch(() => {})
    case 'ask':
      return void refs[o.to]!.ask<number>((replyTo) => ({ what: o.what, rank, replyTo }), { timeout: 100 }).catch(() => {})
    case 'suspend':
      return system.suspend(refs[o.to]!, 'by chance')
    case 'poison':
      return refs[o.to]!.stop({ after: 'queued' })
    default:
      return system[o.do](refs[o.to]!)
  }
}

test('the ledger adds up at every instant and every bound holds, over random policies, senders, failures and stops', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(setting, { minLength: 3, maxLength: 3 }),
      fc.array(order, { minLength: 5, maxLength: 60 }),
      async (settings, orders) => {
        const kit = createTestKit()
        const refs = spawnAll(kit, settings)
        for (const [rank, o] of orders.entries()) {
          await obey(kit, refs, o, (rank * 7) % 5)
          await kit.checkLedger()
          for (const [i, ref] of refs.entries()) {
            const { queued } = await kit.system.inspect(ref)
            expect(queued).toBeLessThanOrEqual(boundOf(settings[i]!))
          }
        }
        await kit.advance(1000)
        await kit.end()
        const ledger = await kit.system.ledger()
        expect([ledger.queued, ledger.stashed, ledger.inProgress]).toEqual([0, 0, 0])
      },
    ),
    { numRuns: 200, interruptAfterTimeLimit: 20_000 },
  )
})

test('with no stash and no pill a bounded mailbox never holds more than its capacity', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 8 }), overflow, fc.array(fc.nat(3), { maxLength: 80 }), async (capacity, policy, steps) => {
      const kit = createTestKit()
      const most = typeof policy === 'object' ? Math.floor(capacity * policy.maxFactor) : capacity
      const ref = kit.system.spawn<number>(
        receive(async (ctx, n) => {
          if (n === 2) throw new Error('as asked')
          return n === 1 ? ctx.self.tell(0) : undefined
        }),
        { mailbox: bounded(capacity, policy), supervision: 'resume' },
      )
      for (const step of steps) {
        if (step === 3) await kit.settle()
        else {
          ref.tell(step)
          void ref.offer(step).catch(() => {})
        }
        expect((await kit.checkLedger()).queued).toBeLessThanOrEqual(most)
      }
      await kit.end()
    }),
    { numRuns: 100, interruptAfterTimeLimit: 15_000 },
  )
})

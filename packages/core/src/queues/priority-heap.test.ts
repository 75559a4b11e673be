// The heap against a list that is searched from end to end: whatever is put in, taken out and given up, in any order; and
// whatever a comparator does besides comparing.

import { createTestKit, type TestKit } from '@troupe/testkit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ActorRef, priority, receive, same } from '@troupe/core'
import { PriorityHeap } from './priority-heap.ts'

function collecting(kit: TestKit, compare: (a: number, b: number) => number): { readonly ref: ActorRef<number>; readonly seen: number[] } {
  const seen: number[] = []
  const ref = kit.system.spawn(
    receive<number>((_ctx, n) => {
      seen.push(n)
      return same
    }),
    { mailbox: priority(compare) },
  )
  return { ref, seen }
}
const inOrder = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b)

describe('a compare that does more than compare', () => {
  for (const when of ['while it is told', 'while it takes'])
    test(`and tells its own actor ${when}: each message is handled once`, async () => {
      const kit = createTestKit()
      let extra = 100
      let telling = when === 'while it is told'
      const { ref, seen } = collecting(kit, (a, b) => {
        if (telling && extra < 130) {
          telling = false
          // One that goes first, and so has the longest way through the heap.
          ref.tell(-extra++)
          telling = true
        }
        return a - b
      })
      for (const n of [5, 3, 9, 1, 7, 2, 8, 4, 6]) ref.tell(n)
      telling = true
      await kit.settle()
      expect(inOrder(seen.map(Math.abs))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, ...Array.from({ length: extra - 100 }, (_, i) => 100 + i)])
      expect(extra).toBe(130)
      await kit.checkLedger()
      await kit.end()
    })

  for (const [name, odd] of Object.entries<() => unknown>({
    'a symbol': () => Symbol('odd'),
    NaN: () => NaN,
    'a bigint': () => 1n,
    nothing: () => undefined,
    'what throws as a number': () => ({
      valueOf: () => {
        throw new Error('bang')
      },
    }),
  }))
    test(`and returns ${name}: each message is handled once`, async () => {
      const kit = createTestKit()
      const { ref, seen } = collecting(kit, odd as () => number)
      for (let n = 1; n <= 20; n++) ref.tell(n)
      expect(await kit.checkLedger()).toMatchObject({ sent: 20, queued: 20 })
      await kit.settle()
      expect(inOrder(seen)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
      await kit.end()
    })

  test('and takes from the heap, by hand, at every turn: nothing is lost or doubled', () => {
    for (let seed = 1; seed <= 200; seed++) {
      let state = seed
      const chance = (of: number): number => (state = (state * 48_271) % 2_147_483_647) % of
      const out: unknown[] = []
      let pushed = 0
      let depth = 0
      const meddle = (): void => {
        if (depth > 0 || chance(3) > 0) return
        depth++
        const act = chance(3)
        if (act === 0) heap.push(++pushed, undefined)
        else {
          const taken = act === 1 ? heap.shift() : heap.evict()
          if (taken !== undefined) out.push(taken)
        }
        depth--
      }
      const heap = new PriorityHeap(
        (a, b) => {
          meddle()
          return ((a as number) % 7) - ((b as number) % 7)
        },
        () => {},
      )
      for (let step = 0; step < 100; step++) {
        if (chance(3) > 0) heap.push(++pushed, undefined)
        else {
          const taken = chance(2) === 0 ? heap.shift() : heap.evict()
          if (taken !== undefined) out.push(taken)
        }
        expect(heap.size).toBe(pushed - out.length)
      }
      for (let m = heap.shift(); m !== undefined; m = heap.shift()) out.push(m)
      expect(inOrder(out as number[])).toEqual(Array.from({ length: pushed }, (_, i) => i + 1))
    }
  })
})

interface Item {
  readonly rank: number
  readonly urgency: number
  readonly order: number
}

const rankOf = (a: unknown, b: unknown): number => (a as Item).rank - (b as Item).rank

/** Who goes first: the most urgent, then by rank, then who came first. */
function firstOf(items: readonly Item[]): Item | undefined {
  return [...items].toSorted((a, b) => b.urgency - a.urgency || a.rank - b.rank || a.order - b.order)[0]
}

type Act = { readonly type: 'push'; readonly rank: number; readonly urgency: number } | { readonly type: 'shift' | 'evict' }

const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ type: fc.constant('push' as const), rank: fc.nat(30), urgency: fc.constantFrom(0, 0, 0, 1) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('shift' as const) }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('evict' as const) }) },
  ),
  { size: 'max', maxLength: 120 },
)

test('a heap gives up whoever waits longest and hands out whoever goes first, as a list that is searched does', () => {
  fc.assert(
    fc.property(acts, (script) => {
      const heap = new PriorityHeap(rankOf, (cause) => {
        throw cause
      })
      const list: Item[] = []
      let order = 0
      for (const act of [...script, ...Array.from({ length: script.length }, () => ({ type: 'shift' as const }))]) {
        if (act.type === 'push') {
          const item: Item = { rank: act.rank, urgency: act.urgency, order: order++ }
          list.push(item)
          heap.push(item, { priority: item.urgency })
        } else {
          const expected = act.type === 'shift' ? firstOf(list) : list[0]
          const got = heap[act.type]()
          if (got !== expected) throw new Error(`${act.type} gave ${JSON.stringify(got)} instead of ${JSON.stringify(expected)}`)
          if (expected !== undefined) list.splice(list.indexOf(expected), 1)
        }
        expect(heap.size).toBe(list.length)
      }
    }),
    { numRuns: 400 },
  )
})

test('the last one, filling the place of one that was given up, goes up where it belongs above', () => {
  const heap = new PriorityHeap(rankOf, () => {})
  const item = (rank: number, order: number): Item => ({ rank, urgency: 0, order })
  // The oldest sinks below 90, the first child of the root; the last lies below 50, the second, and is less than 90.
  const ranks = [100, 50, 1, 95, 96, 90, 91, 92, 93, 60]
  const items = ranks.map((rank, order) => item(rank, order))
  for (const one of items) heap.push(one, undefined)
  heap.evict()
  const out: number[] = []
  for (let one = heap.shift(); one !== undefined; one = heap.shift()) out.push((one as Item).rank)
  expect(out).toEqual(ranks.slice(1).toSorted((a, b) => a - b))
})

// The heap against a list that is searched from end to end: whatever is put in, taken out and given up, in any order.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PriorityHeap } from './priority-heap.ts'

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

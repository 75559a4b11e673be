import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type ActorRef, priority, receive, same } from 'troupe'
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

test('messages come out as a stable sort would put them, whatever is taken out in between', () => {
  for (let seed = 1; seed <= 100; seed++) {
    let state = seed
    const chance = (of: number): number => (state = (state * 48_271) % 2_147_483_647) % of
    const heap = new PriorityHeap(
      (a, b) => (a as { rank: number }).rank - (b as { rank: number }).rank,
      () => {},
    )
    let model: { rank: number; id: number }[] = []
    for (let step = 0; step < 200; step++) {
      const act = chance(5)
      if (act < 3) {
        const entry = { rank: chance(6), id: step }
        heap.push(entry, undefined)
        model.push(entry)
      } else if (act === 3) {
        const expected = model.toSorted((a, b) => a.rank - b.rank || a.id - b.id)[0]
        expect(heap.shift()).toBe(expected)
        model = model.filter((e) => e !== expected)
      } else expect(heap.evict()).toBe(model.shift())
    }
  }
})

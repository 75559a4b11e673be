import { expect, test } from 'vitest'
import { Poll } from './poll.ts'

function asked(...awaited: readonly number[]): { readonly poll: Poll<string>; readonly id: number; readonly results: unknown[] } {
  const poll = new Poll<string>()
  const results: unknown[] = []
  const id = poll.begin(awaited, (answers) => void results.push(answers === undefined ? undefined : [...answers]))
  return { poll, id, results }
}

test('it is over when all have answered, and an answer that nobody waits for is said to be none', () => {
  const { poll, id, results } = asked(1, 2)
  expect(poll.answered(id, 3, 'x')).toBe(false)
  expect(poll.answered(id, 1, 'a')).toBe(true)
  expect(poll.answered(id, 1, 'again')).toBe(false)
  expect(results).toEqual([])
  expect(poll.awaitedFor(id)).toEqual([2])
  poll.answered(id, 2, 'b')
  expect(poll.answered(id, 2, 'late')).toBe(false)
  expect(results).toEqual([
    [
      [1, 'a'],
      [2, 'b'],
    ],
  ])
})

test('who is gone is not waited for, and what it had answered stands', () => {
  const { poll, id, results } = asked(1, 2)
  poll.answered(id, 1, 'a')
  poll.gone(1)
  expect(results).toEqual([])
  poll.gone(2)
  expect(results).toEqual([[[1, 'a']]])
  expect(poll.awaited).toEqual([])
})

test('where nobody is asked it is over at once; numbers go up', () => {
  const { poll, id, results } = asked()
  expect(results).toEqual([[]])
  expect(poll.begin([], () => {})).toBeGreaterThan(id)
})

test('it may be over before all have answered: by an answer that is enough, or because nobody needs them', () => {
  const first = asked(1, 2)
  first.poll.answered(first.id, 1, 'a')
  first.poll.enough(first.id)
  first.poll.answered(first.id, 2, 'b')
  expect(first.results).toEqual([[[1, 'a']]])
  const second = asked(1)
  second.poll.drop()
  expect(second.results).toEqual([undefined])
})

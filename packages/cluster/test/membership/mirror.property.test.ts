// A mirror of the registry: hints may come late, twice, in any order and among lists; what it shows is never older than what it showed.

import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { Mirror } from '../../src/membership/mirror.ts'
import type { Change, Entry } from '../../src/ports/registry.ts'

test('after any hints in any order, and a list at the end, it shows what the registry has', async () => {
  const write = fc.record({ key: fc.constantFrom('session.a', 'session.b', 'member.a'), gone: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(
      fc.array(write, { minLength: 1, maxLength: 30 }),
      fc.array(fc.nat(), { maxLength: 60 }),
      fc.nat(),
      async (writes, order, cut) => {
        const changes: Change[] = writes.map(({ key, gone }, i) => ({ key, revision: i + 1, value: gone ? undefined : String(i + 1) }))
        const truth = (upTo: number): Map<string, Change> => {
          const now = new Map<string, Change>()
          for (const change of changes.slice(0, upTo)) now.set(change.key, change)
          return now
        }
        const entries = (upTo: number) =>
          [...truth(upTo).values()].flatMap((c) => (c.value === undefined ? [] : [{ key: c.key, revision: c.revision, value: c.value }]))
        const mirror = new Mirror()
        const shown = new Map<string, number>()
        const note = (): void => {
          for (const { key } of changes) {
            const revision = mirror.revision(key) ?? 0
            expect(revision).toBeGreaterThanOrEqual(mirror.value(key) === undefined ? 0 : (shown.get(key) ?? 0))
            shown.set(key, Math.max(revision, shown.get(key) ?? 0))
          }
        }
        for (const i of order) {
          mirror.change(changes[i % changes.length]!)
          note()
        }
        // A list that saw the registry at some moment, with all later changes told of while it was under way.
        // It was asked for after the hints so far had come, so that it has seen at least those.
        const at = Math.max(cut % (changes.length + 1), ...shown.values())
        await mirror.refresh(async () => {
          for (const change of changes.slice(at)) mirror.change(change)
          return entries(at)
        })
        for (const [key, change] of truth(changes.length)) expect(mirror.value(key)).toBe(change.value)
        await mirror.refresh(async () => entries(changes.length))
        expect([...mirror.keys()].toSorted()).toEqual(
          entries(changes.length)
            .map((e) => e.key)
            .toSorted(),
        )
        expect(mirror.size).toBe(entries(changes.length).length)
      },
    ),
  )
})

test('a read that found nothing counts only where nothing came meanwhile', () => {
  const mirror = new Mirror()
  mirror.change({ key: 'member.a', revision: 1, value: 'x' })
  mirror.read('member.a', undefined, 1)
  expect(mirror.value('member.a')).toBeUndefined()
  expect(mirror.change({ key: 'member.a', revision: 1, value: 'x' })).toBe(false)
  mirror.change({ key: 'member.a', revision: 3, value: 'y' })
  mirror.read('member.a', undefined, 1)
  expect(mirror.value('member.a')).toBe('y')
})

test('lists never overlap: one that was asked for first and is answered last does not bring back what is over', async () => {
  const mirror = new Mirror()
  const answers: ((revision: number) => void)[] = []
  const list = (): Promise<readonly Entry[]> =>
    new Promise((resolve) => answers.push((revision) => resolve([{ key: 'own.k.1', revision, value: String(revision) }])))
  const both = [mirror.refresh(list), mirror.refresh(list)]
  await Promise.resolve()
  // The second is asked for when the first is there.
  expect(answers).toHaveLength(1)
  answers[0]!(1)
  await both[0]
  await vi.waitFor(() => expect(answers).toHaveLength(2))
  // A change that came while the second was under way is newer than what it saw.
  mirror.change({ key: 'own.k.1', revision: 3, value: '3' })
  answers[1]!(2)
  await both[1]
  expect(mirror.value('own.k.1')).toBe('3')
})

test('a list that fails leaves what is there, and the next one is taken', async () => {
  const mirror = new Mirror()
  mirror.change({ key: 'own.k.1', revision: 1, value: 'x' })
  await expect(mirror.refresh(() => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(mirror.value('own.k.1')).toBe('x')
  await mirror.refresh(async () => [])
  expect(mirror.size).toBe(0)
})

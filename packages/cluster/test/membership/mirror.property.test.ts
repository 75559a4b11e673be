// A mirror of the registry: hints may come late, twice, in any order and among lists; what it shows is never older than what it showed.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Mirror } from '../../src/membership/mirror.ts'
import type { Change } from '../../src/ports/registry.ts'

test('after any hints in any order, and a list at the end, it shows what the registry has', () => {
  const write = fc.record({ key: fc.constantFrom('session.a', 'session.b', 'member.a'), gone: fc.boolean() })
  fc.assert(
    fc.property(fc.array(write, { minLength: 1, maxLength: 30 }), fc.array(fc.nat(), { maxLength: 60 }), fc.nat(), (writes, order, cut) => {
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
      mirror.beginList()
      for (const change of changes.slice(at)) mirror.change(change)
      mirror.endList(entries(at))
      for (const [key, change] of truth(changes.length)) expect(mirror.value(key)).toBe(change.value)
      mirror.beginList()
      mirror.endList(entries(changes.length))
      expect([...mirror.keys()].toSorted()).toEqual(
        entries(changes.length)
          .map((e) => e.key)
          .toSorted(),
      )
      expect(mirror.size).toBe(entries(changes.length).length)
    }),
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
  mirror.failList()
})

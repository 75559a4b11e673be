// Findings as a function of what was seen: the same for the same frames, none where nothing is wrong, muted where that was said, and never
// younger than they were.

import fc from 'fast-check'
import type { LedgerReport, SystemMetrics } from '@troupe/core'
import { type Finding, findings, type Frame, ruleNames } from '@troupe/observer/findings'
import { expect, test } from 'vitest'

interface Seen {
  readonly uid: number
  readonly queued: number
  readonly processed: number
  readonly busy: number
  readonly pending: number | undefined
  readonly stashed: number
}

const column = (values: readonly number[]): Float64Array => Float64Array.from(values)

function frameOf(at: number, seen: readonly Seen[], more: Partial<Frame> = {}): Frame {
  const words = (values: readonly number[]): Uint32Array => Uint32Array.from(values)
  const rows = {
    length: seen.length,
    uid: column(seen.map((s) => s.uid)),
    parent: column(seen.map(() => 1)),
    processed: column(seen.map((s) => s.processed)),
    busy: column(seen.map((s) => s.busy)),
    turns: column(seen.map((s) => s.processed)),
    pending: column(seen.map((s) => s.pending ?? NaN)),
    queued: words(seen.map((s) => s.queued)),
    stashed: words(seen.map((s) => s.stashed)),
    timers: words(seen.map(() => 0)),
    incarnation: words(seen.map(() => 0)),
    phase: Uint8Array.from(seen.map(() => 2)),
    stub: Uint8Array.from(seen.map(() => 0)),
  }
  const part = { at, epoch: at, whole: true, rows, gone: column([]), waits: [], waitsLeftOut: 0, spent: 0, place: 0, thread: -1 }
  const metrics = { timers: 0, dropReasons: {} } as unknown as SystemMetrics
  return { at, parts: [part], waits: [], metrics, events: [], ...more }
}

test('slow turns of a thread that waited for a core are blamed on no actor, those that it worked in are', () => {
  const slow = (ms: number, path: string): Frame['events'][number] => ({ type: 'turn.slow', at: 1000, path, ms, text: 'x' })
  const held = (waited: number, ran: number, ...events: Frame['events']): string[] =>
    findings([frameOf(1000, [], { events, processor: { ran, waited } })]).map(({ rule, subject, sentence }) => `${rule} ${subject} ${sentence}`)
  const turns = [1, 2, 3].map(() => slow(60, '/user/innocent'))
  expect(held(0, 200, ...turns)).toEqual(['holds-loop /user/innocent 3 turns held the thread, the longest for 60 ms; all other actors of it waited'])
  expect(held(175, 50, ...turns)).toEqual([])
  // Most of it was work: so long a turn is named, with the time that it took itself.
  expect(held(60, 400, slow(460, '/user/guilty'))).toEqual([
    'holds-loop /user/guilty 1 turn held the thread, the longest for 400 ms; all other actors of it waited',
  ])
  expect(held(0, 1, slow(460, '/user/blocked'))).toHaveLength(1)
  // A thread that waits all the time, also outside of slow turns: this one worked for about as long as the thread had a core.
  expect(held(700, 300, slow(460, '/user/guilty'))).toEqual([
    'holds-loop /user/guilty 1 turn held the thread, the longest for 138 ms; all other actors of it waited',
  ])
  expect(held(900, 100, slow(460, '/user/innocent'))).toEqual([])
})

const actor = fc.record({
  uid: fc.integer({ min: 2, max: 6 }),
  queued: fc.nat(500),
  processed: fc.nat(10_000),
  busy: fc.nat(1000),
  pending: fc.option(fc.nat(20_000), { nil: undefined }),
  stashed: fc.nat(3),
})
const event = fc.record({
  type: fc.constantFrom('actor.failed', 'turn.slow', 'message.dead', 'other'),
  at: fc.constant(0),
  uid: fc.integer({ min: 2, max: 6 }),
  path: fc.constantFrom('/user/a', '/user/b', '/user/c'),
  text: fc.constant('x'),
  cause: fc.constantFrom('broken 1', 'broken 2', 'other'),
  directive: fc.constantFrom('restart', 'stop'),
  ms: fc.nat(300),
  reason: fc.constantFrom('stopped', 'late-reply'),
})
const wait = fc.record({
  asker: fc.option(fc.integer({ min: 2, max: 6 }), { nil: undefined }),
  target: fc.integer({ min: 2, max: 6 }),
  ms: fc.nat(5000),
  binds: fc.boolean(),
})
const frames = fc
  .array(
    fc.record({
      seen: fc.uniqueArray(actor, { selector: (a) => a.uid, maxLength: 5 }),
      events: fc.array(event, { maxLength: 12 }),
      waits: fc.array(wait),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((all) =>
    all.map(({ seen, events, waits }, i) =>
      frameOf(1000 * i, seen, {
        events: events.map((e) => ({ ...e, at: 1000 * i })),
        waits: waits.map((w) => ({
          ...w,
          askerPath: w.asker === undefined ? undefined : `/user/a${w.asker}`,
          targetPath: `/user/a${w.target}`,
          type: 'q',
          left: 1000,
          state: 'taken' as const,
          mark: undefined,
        })),
      }),
    ),
  )

test('the same frames give the same findings, each whole, the worst first, none twice', () => {
  fc.assert(
    fc.property(frames, (all) => {
      const found = findings(all)
      expect(findings(all)).toEqual(found)
      expect(new Set(found.map((f) => f.id)).size).toBe(found.length)
      const last = all.at(-1)!.at
      for (const f of found) {
        expect(ruleNames).toContain(f.rule)
        expect(f.sentence.length).toBeGreaterThan(10)
        expect(f.sentence).not.toMatch(/NaN|undefined|Infinity/)
        expect(f.since).toBeLessThanOrEqual(last)
      }
      const severities = found.map((f) => f.severity)
      expect(severities).toEqual(severities.toSorted((a, b) => (a === b ? 0 : a === 'error' ? -1 : 1)))
    }),
    { numRuns: 200 },
  )
})

test('what is muted is not said, by rule and by id, and nothing else is missing', () => {
  fc.assert(
    fc.property(frames, fc.constantFrom(...ruleNames), (all, rule) => {
      const found = findings(all)
      expect(findings(all, { mute: [rule] })).toEqual(found.filter((f) => f.rule !== rule))
      const [first] = found
      if (first !== undefined) expect(findings(all, { mute: [first.id] })).toEqual(found.slice(1))
    }),
    { numRuns: 100 },
  )
})

test('a finding that lasts is not younger with the next frame', () => {
  fc.assert(
    fc.property(frames, (all) => {
      const since = (found: readonly Finding[]): Map<string, number> => new Map(found.map((f) => [f.id, f.since]))
      const before = since(findings(all.slice(0, -1)))
      for (const [id, at] of since(findings(all))) if (before.has(id)) expect(at).toBeLessThanOrEqual(before.get(id)!)
    }),
    { numRuns: 100 },
  )
})

test('a mailbox that comes and goes is never said to grow, whatever its height', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(100_000), { minLength: 8, maxLength: 40 }), (heights) => {
      // Every third look it is empty: it keeps up.
      const all = heights.map((queued, i) =>
        frameOf(1000 * i, [{ uid: 2, queued: i % 3 === 0 ? 0 : queued, processed: 10 * i, busy: i, pending: undefined, stashed: 0 }]),
      )
      expect(findings(all).filter((f) => f.rule === 'mailbox-grows' || f.rule === 'starved')).toEqual([])
    }),
    { numRuns: 100 },
  )
})

test('a mailbox that grows by a hundred a second is found after five seconds, and not any more once it has shrunk', () => {
  const at = (i: number, queued: number): Frame =>
    frameOf(1000 * i, [{ uid: 2, queued, processed: 10 * i, busy: 900 * i, pending: undefined, stashed: 0 }])
  const growing = Array.from({ length: 12 }, (_, i) => at(i, 100 * i))
  expect(findings(growing.slice(0, 5))).toEqual([])
  expect(findings(growing)).toMatchObject([{ rule: 'mailbox-grows', evidence: { queued: 1100, perSecond: 100 }, since: 0 }])
  expect(findings([...growing, at(12, 50)])).toEqual([])
})

test('what was queued before somebody looked has not grown since', () => {
  const at = (i: number, queued: number): Frame =>
    frameOf(1000 * i, [{ uid: 2, queued, processed: 10 * i, busy: 900 * i, pending: undefined, stashed: 0 }])
  const standing = Array.from({ length: 12 }, (_, i) => at(i, 25_000))
  expect(findings(standing)).toEqual([])
  expect(findings(Array.from({ length: 12 }, (_, i) => at(i, 25_000 + 50 * i)))).toMatchObject([{ evidence: { perSecond: 50 } }])
})

test('a circle of questions is one only while everybody in it stands still', () => {
  const question = (asker: number, target: number, binds: boolean): Frame['waits'][number] => ({
    asker,
    target,
    askerPath: `/user/a${asker}`,
    targetPath: `/user/a${target}`,
    type: 'q',
    ms: 100,
    left: 1000,
    state: 'taken',
    binds,
    mark: undefined,
  })
  const found = (binds: boolean): readonly Finding[] => findings([frameOf(0, [], { waits: [question(2, 3, true), question(3, 2, binds)] })])
  expect(found(true)).toMatchObject([{ rule: 'wait-cycle', subject: 'a2 → a3 → a2' }])
  expect(found(false)).toEqual([])
})

test('a ledger that adds up is not mentioned, one that is off by one is, until it adds up again', () => {
  const ledger: LedgerReport = {
    sent: 7,
    handled: 3,
    failed: 1,
    unhandled: 0,
    dropped: 0,
    deadLettered: 1,
    queued: 1,
    stashed: 0,
    inProgress: 1,
    unknown: 0,
  }
  const good = frameOf(0, [], { ledger })
  const bad = frameOf(1000, [], { ledger: { ...ledger, sent: 8 } })
  expect(findings([good])).toEqual([])
  expect(findings([good, bad, frameOf(2000, [])])).toMatchObject([{ rule: 'ledger-off', evidence: { sent: 8, sum: 7 }, since: 1000 }])
  expect(findings([good, bad, frameOf(3000, [], { ledger })])).toEqual([])
})

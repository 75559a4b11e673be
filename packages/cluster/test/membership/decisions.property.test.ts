// What membership decides, for all that it may see.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  deadlineOf,
  decideName,
  endsAfter,
  isSuspect,
  lookInterval,
  mayEnd,
  nextLook,
  nextNumber,
  steadyAfter,
} from '../../src/membership/decisions.ts'
import { type MemberRecord, readMember, readSession, type SessionRecord, writeMember, writeSession } from '../../src/values/member.ts'
import { commonVersion, versionsText } from '../../src/values/versions.ts'

const time = fc.double({ min: 0, max: 1e9, noNaN: true })
const lease = fc.integer({ min: 1_000, max: 60_000 })

test('a lease is trusted for less than the registry keeps it, also by a clock that runs a tenth slower', () => {
  fc.assert(
    fc.property(time, lease, fc.double({ min: 0, max: 5_000, noNaN: true }), (sentAt, ms, onTheWay) => {
      // The slow clock shows 0.9 lease when this much has passed; the registry's count begins when the write arrives.
      const passed = (deadlineOf(sentAt, ms) - sentAt) / 0.9
      expect(passed).toBeLessThanOrEqual(onTheWay + ms + 1e-6)
    }),
  )
})

test('numbers grow, whatever the wall clock does, and never begin anew where the registry lost its data', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 2e12, noNaN: true }), { minLength: 1 }), (walls) => {
      let last: number | undefined
      for (const wall of walls) {
        const next = nextNumber(last, wall)
        if (last !== undefined) expect(next).toBeGreaterThan(last)
        expect(next).toBeGreaterThanOrEqual(Math.max(1, Math.floor(wall)))
        expect(Number.isSafeInteger(next)).toBe(true)
        last = next
      }
      expect(nextNumber(undefined, 1e12)).toBe(1e12)
    }),
  )
})

const sessionRecord = fc.record<SessionRecord>({
  number: fc.integer({ min: 1, max: 100 }),
  ended: fc.boolean(),
  returns: fc.nat(9),
  token: fc.string(),
})
const versions = fc.tuple(fc.integer({ min: 1, max: 9 }), fc.nat(3)).map(([oldest, more]) => ({ oldest, newest: oldest + more }))
const memberRecord = (number: number): fc.Arbitrary<MemberRecord> =>
  fc.record({
    session: fc.constant({ node: 'a', number }),
    roles: fc.array(fc.string()),
    wire: versions,
    maxMessageBytes: fc.integer({ min: 1, max: 2 ** 40 }),
    lease: fc.integer({ min: 1, max: 600_000 }),
    beat: fc.nat(),
  })

test('a name is never taken from a session that lives: it ended, or had a whole lease to show itself and did not', () => {
  const seen = sessionRecord.chain((session) =>
    fc.record({
      session: fc.constantFrom(session, undefined),
      member: fc.option(
        fc.integer({ min: -1, max: 1 }).chain((d) => fc.record({ record: memberRecord(Math.max(1, session.number + d)), revision: fc.nat(5) })),
        { nil: undefined },
      ),
      firstRevision: fc.option(fc.nat(5), { nil: undefined }),
      waited: fc.double({ min: 0, max: 100_000, noNaN: true }),
      missingFor: fc.double({ min: 0, max: 100_000, noNaN: true }),
    }),
  )
  fc.assert(
    fc.property(seen, lease, (name, ms) => {
      const decision = decideName(name, ms)
      const lives = name.session !== undefined && !name.session.ended
      const shows = lives && name.member?.record.session.number === name.session!.number
      if (decision === 'take') expect(!lives || (!shows && name.missingFor >= ms)).toBe(true)
      if (decision === 'taken') expect(shows && (name.member!.revision !== name.firstRevision || name.waited >= ms)).toBe(true)
      // It never waits for ever.
      if (decision === 'wait') expect(shows ? name.waited : name.missingFor).toBeLessThan(shows ? ms + 2_000 : ms)
    }),
  )
})

test('no session is ended by a node that was not itself steady for a lease, nor before its time', () => {
  const sighting = fc.record({ up: fc.boolean(), lastSeen: time, lastHint: time, lookedAt: time, endsAt: time })
  fc.assert(
    fc.property(sighting, time, time, lease, (seen, now, steadyFor, ms) => {
      if (mayEnd(seen, now, steadyFor, ms)) {
        expect(steadyFor).toBeGreaterThanOrEqual(ms)
        expect(now).toBeGreaterThanOrEqual(seen.endsAt)
      } else expect(steadyFor < ms || now < seen.endsAt).toBe(true)
      const recent = now - seen.lookedAt < lookInterval(ms)
      const { endsAt } = seen
      if (isSuspect(seen, now, ms)) expect(!recent || (!seen.up && now >= endsAt && seen.lookedAt < endsAt)).toBe(true)
      else expect((seen.up && now - seen.lastHint < ms / 2) || recent).toBe(true)
      const next = nextLook([seen], now, ms)
      expect(next).toBeGreaterThan(0)
      expect(next).toBeLessThanOrEqual(lookInterval(ms))
    }),
  )
})

test('a session whose key ran out ends a lease after its renewal was seen; one whose key vanished early a lease after that', () => {
  const share = fc.double({ min: 0, max: 3, noNaN: true })
  fc.assert(
    fc.property(time, lease, share, share, (writtenAt, ms, seenLate, goneLate) => {
      const lastSeen = writtenAt + seenLate
      const goneAt = writtenAt + goneLate * ms
      const ends = endsAfter(lastSeen, writtenAt, goneAt, ms)
      expect(ends).toBeGreaterThanOrEqual(Math.min(goneAt, lastSeen) + ms)
      // Run out: no later. Early: its node may have renewed it until it was gone, and trusts that for nearly a lease.
      if (goneAt >= writtenAt + ms) expect(ends).toBe(lastSeen + ms)
      else if (goneAt < writtenAt + 0.89 * ms && goneAt >= lastSeen) expect(ends).toBe(goneAt + ms)
    }),
  )
})

test('an outage that lets the lease of anybody run out is noticed by everybody who renews every third', () => {
  fc.assert(
    fc.property(
      lease,
      time,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 2 / 3, max: 5, noNaN: true }),
      (ms, start, phase, length) => {
        // Of two renewals in a row the first came before it, the second after it.
        const last = start - (phase * ms) / 3
        const next = start + length * ms
        expect(steadyAfter(0, last, next, ms)).toBe(next)
        expect(steadyAfter(7, last, last + ms / 3, ms)).toBe(7)
      },
    ),
  )
})

test('records are read as they were written; what is none is undefined, and never an error', () => {
  fc.assert(
    fc.property(sessionRecord, memberRecord(7), (session, member) => {
      expect(readSession(writeSession(session))).toEqual(session)
      expect(readMember('a', writeMember(member))).toEqual(member)
    }),
  )
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      for (const read of [readSession(text), readMember('a', text)]) expect(read === undefined || typeof read === 'object').toBe(true)
    }),
  )
  for (const text of ['', 'null', '[]', '{"number":0,"ended":false,"returns":0,"token":""}', '{"number":1.5,"ended":false,"returns":0,"token":""}'])
    expect(readSession(text)).toBeUndefined()
  for (const text of [
    '{"number":1,"roles":[1],"wire":{"oldest":1,"newest":1},"beat":1}',
    '{"number":1,"roles":[],"wire":{"oldest":2,"newest":1},"beat":1}',
  ])
    expect(readMember('a', text)).toBeUndefined()
})

test('two nodes speak the newest version that both have, in either order; neighbours always have one', () => {
  fc.assert(
    fc.property(versions, versions, (a, b) => {
      const common = commonVersion(a, b)
      expect(commonVersion(b, a)).toBe(common)
      if (common === undefined) expect(a.newest < b.oldest || b.newest < a.oldest).toBe(true)
      else for (const v of [a, b]) expect(common >= v.oldest && common <= v.newest).toBe(true)
    }),
  )
  for (let n = 2; n < 10; n++) expect(commonVersion({ oldest: n - 1, newest: n }, { oldest: n, newest: n + 1 })).toBe(n)
  expect([versionsText({ oldest: 1, newest: 1 }), versionsText({ oldest: 1, newest: 2 })]).toEqual(['1', '1 to 2'])
})

// The auditor on made-up books, and the whole fleet on virtual time: drones that crash, a district that burns down, a journal that refuses and
// delays, systems that end in the middle.

import { type ActorRef, receive, same } from '@troupe/core'
import { createTestKit } from '@troupe/testkit'
import { type MemorySource, memory } from '@troupe/persistence'
import { expect, test } from 'vitest'
import { Auditor, type Sum } from './auditor.ts'
import type { Books, DepotEvent } from './depot.ts'
import { Fleet } from './fleet.ts'
import { hillsOf, type Planner, route } from './planner.ts'
import { districtsOf, dronesOf, seeded, type World } from './world.ts'

const empty: Books = { sent: 0, returned: 0, delivered: 0, held: new Map(), flights: new Map(), arrived: [] }
const parcel = 128 // the first of district 0

function audit(...events: readonly (readonly [district: number, event: DepotEvent])[]): Auditor {
  const auditor = new Auditor(2)
  for (const district of [0, 1]) auditor.open({ district, seq: 0, books: empty }, 0)
  events.forEach(([district, event], i) => auditor.take(district, i + 1, event, 5000))
  return auditor
}
const sent = { type: 'sent', parcel, to: 1 } as const
const delivered = { type: 'delivered', parcel } as const
const closed = { type: 'closed', parcel } as const

test('the auditor counts a parcel as in flight until the other district has it', () => {
  expect(audit([0, sent]).sum).toEqual({ sent: 1, delivered: 0, inFlight: 1, returned: 0, lost: 0 })
  expect(audit([0, sent], [1, delivered]).sum).toEqual({ sent: 1, delivered: 1, inFlight: 0, returned: 0, lost: 0 })
  expect(audit([0, sent], [1, delivered], [0, closed]).sum).toEqual({ sent: 1, delivered: 1, inFlight: 0, returned: 0, lost: 0 })
  expect(audit([0, sent], [0, { type: 'returned', parcel }]).sum).toEqual({ sent: 1, delivered: 0, inFlight: 0, returned: 1, lost: 0 })
})

test('the auditor notices parcels that were lost, doubled or made up', () => {
  expect(audit([0, sent], [0, closed]).sum.lost).toBeGreaterThan(0)
  expect(audit([0, sent], [1, delivered], [1, delivered]).problems).toEqual(['parcel 0-1 was delivered twice'])
  expect(audit([1, delivered]).problems).toEqual(['parcel 0-1 was delivered, but nobody holds it'])
  expect(audit([0, sent], [0, { type: 'returned', parcel }], [1, delivered]).problems).toHaveLength(1)
})

test('books that were read while a receipt was on its way count its parcel once', () => {
  const held = new Map([[parcel, { to: 1, handed: true }]])
  const auditor = new Auditor(2)
  auditor.open({ district: 0, seq: 9, books: { ...empty, sent: 1, held } }, 0)
  auditor.open({ district: 1, seq: 4, books: { ...empty, delivered: 1, arrived: [parcel] } }, 0)
  expect(auditor.sum).toEqual({ sent: 1, delivered: 1, inFlight: 0, returned: 0, lost: 0 })
  auditor.take(1, 4, delivered, 5000) // was in the books already
  auditor.take(0, 10, closed, 5000)
  expect(auditor.sum).toEqual({ sent: 1, delivered: 1, inFlight: 0, returned: 0, lost: 0 })
  expect(auditor.problems).toEqual([])
})

test('an auditor that comes too late for events notices it by later books, and begins anew with them', () => {
  const auditor = audit([0, sent])
  auditor.open({ district: 0, seq: 8, books: { ...empty, sent: 3, held: new Map([[parcel, { to: 1, handed: false }], [256, { to: 1, handed: false }], [384, { to: 1, handed: false }]]) } }, 6000) // prettier-ignore
  auditor.take(0, 9, { type: 'returned', parcel }, 7000) // events 2 to 8 are gone
  expect({ ready: auditor.ready, rereads: auditor.rereads, sum: auditor.sum }).toEqual({
    ready: false,
    rereads: 1,
    sum: { sent: 1, delivered: 0, inFlight: 1, returned: 0, lost: 0 },
  })
  auditor.open({ district: 0, seq: 8, books: { ...empty, sent: 3, held: new Map([parcel, 256, 384].map((one) => [one, { to: 1, handed: false }])) } }, 8000) // prettier-ignore
  auditor.open({ district: 1, seq: 0, books: empty }, 8000)
  expect(auditor.sum).toEqual({ sent: 3, delivered: 0, inFlight: 2, returned: 1, lost: 0 })
})

test('books that an auditor is past already are not compared with what it has counted since', () => {
  const auditor = audit([0, sent], [1, delivered], [0, closed])
  auditor.open({ district: 0, seq: 1, books: { ...empty, sent: 1, held: new Map([[parcel, { to: 1, handed: true }]]) } }, 6000)
  auditor.take(0, 4, { type: 'sent', parcel: 256, to: 1 }, 7000)
  auditor.open({ district: 0, seq: 1, books: { ...empty, sent: 1 } }, 8000)
  auditor.take(0, 5, { type: 'returned', parcel: 256 }, 9000)
  expect({ rereads: auditor.rereads, sum: auditor.sum }).toEqual({ rereads: 0, sum: { sent: 2, delivered: 1, inFlight: 0, returned: 1, lost: 0 } })
})

const world: World = { columns: 3, rows: 2, dronesEach: 5, seed: 7 }

/** One life of a fleet: it flies, things break, and it ends without a word. Says what the auditor has. */
async function life(journal: MemorySource, seed: number, began: number, ms: number, breaks: boolean): Promise<Sum & { problems: readonly string[] }> {
  let time = began
  const fleet = new Fleet(world, () => time)
  const kit = createTestKit({ seed, extensions: [fleet.extension(journal)] })
  const hills = hillsOf(world.seed)
  const planners: ActorRef<Planner> = kit.system.spawn(
    receive<Planner>((_ctx, m) => {
      if (m.type === 'plan') m.replyTo.tell({ type: 'route', drone: m.drone, ...route(hills, m.from, m.to) })
      return same
    }),
  )
  fleet.start(kit.system, planners)
  fleet.switches.open = breaks
  const random = seeded(seed)
  for (; time < began + ms; time += 250) {
    await kit.advance(250)
    if (!breaks) continue
    if (random() < 0.5) fleet.drones[Math.floor(random() * dronesOf(world))]?.tell({ type: 'crash', why: 'rotor failure' })
    const district = fleet.districts[Math.floor(random() * districtsOf(world))]!
    if (random() < 0.05) district.tell({ type: 'crash' })
    if (random() < 0.1) district.tell({ type: 'breakCharger' })
    fleet.switches.supervised = random() > 0.3
    if (fleet.switches.supervised) district.tell({ type: 'revive' })
  }
  if (breaks) {
    for (const one of fleet.districts) kit.system.kill(one)
    const down = kit.system.shutdown({ deadline: 1 })
    await kit.advance(1000)
    await down
  } else await kit.end()
  return { ...fleet.auditor.sum, problems: fleet.auditor.problems }
}

test.each([1, 2])('no parcel is lost or doubled, whatever breaks and however often it ends (seed %d)', async (seed) => {
  const journal = memory()
  let began = 1000
  for (let round = 0; round < 2; round++) {
    Object.assign(journal.faults, { delay: 5, fail: 0.01, unknown: 0.01 })
    const { problems, lost } = await life(journal, seed * 100 + round, began, 40_000, true)
    expect({ problems, lost }).toEqual({ problems: [], lost: 0 })
    began += 100_000
  }
  // The last time nothing breaks and nobody sends: what is in flight arrives, all of it.
  Object.assign(journal.faults, { delay: 0, fail: 0, unknown: 0 })
  const last = await life(journal, seed, began, 120_000, false)
  expect(last).toMatchObject({ problems: [], lost: 0, inFlight: 0 })
  expect(last.sent).toBe(last.delivered + last.returned)
  expect(last.delivered).toBeGreaterThan(20)
  expect(last.returned).toBeGreaterThan(3)
})

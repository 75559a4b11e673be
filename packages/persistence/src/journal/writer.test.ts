import { expect, test } from 'vitest'
import type { Outcome, Write } from '../values/stored.ts'
import type { Journal } from './port.ts'
import { Tally } from './tally.ts'
import { Writer, type WriterHost, type Writing } from './writer.ts'

/** A writer whose journal refuses everything at first, and whose two clocks are set by the test. */
function stage(): { writer: Writer; clock: { wall: number; ticks: number }; asks: () => Promise<Outcome>; journal: { away: boolean } } {
  const clock = { wall: 1_000_000, ticks: 0 }
  const journal = { away: true }
  const host: WriterHost = {
    environment: { now: () => clock.wall, random: () => 0, after: () => () => undefined, logger: { debug() {}, info() {}, warn() {}, error() {} } },
    scope: 'default',
    name: 'test',
    whenAway: 'reject',
    ready: () =>
      Promise.resolve({
        epoch: 1,
        journal: {
          limits: { writes: 10, events: 10, bytes: 1000 },
          append: (group: readonly Write[]): Promise<Outcome[]> =>
            Promise.resolve(group.map((): Outcome => (journal.away ? { is: 'failed', cause: new Error('away') } : { is: 'stored' }))),
        } as unknown as Journal,
      }),
    lost: () => undefined,
    closing: false,
    ticks: () => clock.ticks,
    breathe: () => Promise.resolve(),
    tally: new Tally(),
  }
  const writer = new Writer(host)
  const asks = (): Promise<Outcome> =>
    new Promise((resolve) => {
      const actor: Writing = {
        id: 'a',
        wanted: false,
        queued: 1,
        take(owner) {
          actor.wanted = false
          return { write: 'run', id: 'a', first: 1, events: [], timers: [], ...owner }
        },
        outcome: (_, outcome) => resolve(outcome),
      }
      writer.wants(actor)
    })
  return { writer, clock, asks, journal }
}

test('a clock that is put back does not lengthen the pause that a journal is given', async () => {
  const { writer, clock, asks, journal } = stage()
  for (let i = 0; i < 6; i++) expect((await asks()).is).toBe('failed')
  const { retryIn } = writer.standing
  expect(retryIn).toBeGreaterThan(0)
  journal.away = false
  expect((await asks()).is).toBe('failed')
  clock.wall -= 3_600_000
  clock.ticks += retryIn
  expect(writer.standing.retryIn).toBe(0)
  expect((await asks()).is).toBe('stored')
})

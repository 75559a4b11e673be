import { expect, test } from 'vitest'
import type { Outcome, Write } from '../values/stored.ts'
import type { Journal } from './port.ts'
import { Tally } from './tally.ts'
import { Writer, type WriterHost, type Writing } from './writer.ts'

/** A writer whose journal refuses everything at first, and whose two clocks are set by the test. */
function stage(): {
  writer: Writer
  clock: { wall: number; ticks: number }
  asks: () => Promise<Outcome>
  journal: { away: boolean }
  warned: unknown[]
} {
  const warned: unknown[] = []
  const clock = { wall: 1_000_000, ticks: 0 }
  const journal = { away: true }
  const host: WriterHost = {
    environment: {
      now: () => clock.wall,
      random: () => 0,
      after: () => () => undefined,
      logger: { debug() {}, info() {}, warn: (...said: unknown[]) => void warned.push(said), error() {} },
    },
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
    erased: () => undefined,
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
  return { writer, clock, asks, journal, warned }
}

test('a journal that refuses everything is told of once, with why', async () => {
  const { asks, warned } = stage()
  for (let i = 0; i < 9; i++) await asks()
  expect(warned).toEqual([[{ journal: 'test', cause: new Error('away') }, 'the journal refuses everything']])
})

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

/** A journal that takes two writes at a time and ends each when the test says so, and four actors that have something to write whenever they are asked. */
function relay(
  handsOver: boolean,
  hands: 'soon' | 'at once' | 'never' | 'twice' | 'late' | 'throws' = 'soon',
): { log: string[]; end: (is: unknown) => Promise<void>; want: (...ids: string[]) => Promise<void> } {
  const log: string[] = []
  const ends: ((is: unknown) => void)[] = []
  const breath = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
  const journal = {
    limits: { writes: 2, events: 100, bytes: 1000 },
    handsOver,
    append: (group: readonly Write[], handed: () => void): Promise<unknown> => {
      log.push(`begins ${group.map(({ id }) => id).join()}`)
      if (hands === 'throws' && log.length > 1) throw new Error('at once')
      if (hands === 'at once' || hands === 'twice') handed()
      if (hands === 'soon' || hands === 'twice') void breath().then(handed)
      const answer = new Promise((resolve) => ends.push(resolve)).then((is) => {
        if (typeof is !== 'string') return is
        return group.map(() => (is === 'unknown' || is === 'failed' ? { is, cause: new Error('asked for') } : { is }))
      })
      if (hands === 'late') void answer.then(breath).then(handed)
      return answer
    },
    raise: (_scope: string, epoch: number) => {
      log.push(`raises ${epoch}`)
      return Promise.resolve()
    },
  }
  const writer = new Writer({
    environment: { now: () => 0, random: () => 0, after: () => () => undefined, logger: { debug() {}, info() {}, warn() {}, error() {} } },
    scope: 'default',
    name: 'test',
    whenAway: 'reject',
    ready: () => Promise.resolve({ epoch: 1, journal: journal as unknown as Journal }),
    lost: () => undefined,
    erased: () => undefined,
    closing: false,
    ticks: () => 0,
    breathe: breath,
    tally: new Tally(),
  })
  const actors = new Map(
    ['a', 'b', 'c', 'd'].map((id): [string, Writing] => {
      const actor: Writing = {
        id,
        wanted: false,
        queued: 1,
        take(owner) {
          actor.wanted = false
          return { write: 'run', id, first: 1, events: [{ data: '' } as never], timers: [], ...owner }
        },
        outcome: (_, { is }) => void log.push(`${id} ${is}`),
      }
      return [id, actor]
    }),
  )
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 8; i++) await breath()
  }
  return {
    log,
    end: async (is) => {
      ends.shift()!(is)
      await settle()
    },
    want: async (...ids) => {
      for (const id of ids) writer.wants(actors.get(id)!)
      await settle()
    },
  }
}
test('the next group is with a journal that hands over before the last one is told; who was in that is in no other meanwhile', async () => {
  const { log, end, want } = relay(true)
  await want('a', 'b')
  await want('a', 'c', 'd', 'b')
  await end('stored')
  await end('stored')
  await end('stored')
  expect(log).toEqual(['begins a,b', 'begins c,d', 'a stored', 'b stored', 'begins a,b', 'c stored', 'd stored', 'a stored', 'b stored'])
})

test('a journal that does not hand over is given a group when the last one is told', async () => {
  const { log, end, want } = relay(false)
  await want('a', 'b')
  await want('a', 'c', 'd', 'b')
  await end('stored')
  await end('stored')
  await end('stored')
  expect(log.slice(0, 4)).toEqual(['begins a,b', 'a stored', 'b stored', 'begins a,c'])
})

test('no group is with the journal while those of the last one are told of a failure', async () => {
  for (const is of ['failed', 'unknown', 'conflict'] as const) {
    const { log, end, want } = relay(true)
    await want('a', 'b')
    await want('c', 'd')
    await end(is)
    expect(log.filter((line) => !line.startsWith('raises'))).toEqual(['begins a,b', `a ${is}`, `b ${is}`, 'begins c,d'])
  }
})

test('what a journal did not say of a write is unknown, and the epoch is raised before anybody reads', async () => {
  for (const answer of [
    [],
    [{ is: 'stored' }],
    [{ is: 'stored' }, undefined],
    [{ is: 'stored' }, {}],
    [{ is: 'stored' }, { is: 'well' }],
    undefined,
    7,
  ]) {
    const { log, end, want } = relay(true)
    await want('a', 'b')
    await end(answer)
    const first = Array.isArray(answer) && answer.length > 0 ? 'stored' : 'unknown'
    expect(log).toEqual(['begins a,b', 'raises 2', `a ${first}`, 'b unknown'])
    await want('c')
    await end('stored')
    expect(log.slice(4)).toEqual(['begins c', 'c stored'])
  }
})

test('whenever a journal says that it was handed a group, or never, once or twice, every group is told once and in order', async () => {
  for (const hands of ['at once', 'never', 'twice', 'late'] as const) {
    const { log, end, want } = relay(true, hands)
    await want('a', 'b')
    await want('c', 'd', 'a')
    await end('stored')
    await end('stored')
    await end('stored')
    expect(log.filter((line) => line.startsWith('begins'))).toEqual(['begins a,b', 'begins c,d', 'begins a'])
    expect(log.filter((line) => line.endsWith('stored'))).toEqual(['a stored', 'b stored', 'c stored', 'd stored', 'a stored'])
  }
})

test('a journal that throws at once, where it was to be given a group ahead, has an outcome that is not known', async () => {
  const { log, end, want } = relay(true, 'throws')
  await want('a', 'b')
  await want('c', 'd')
  await end('stored')
  expect(log).toEqual(['begins a,b', 'begins c,d', 'a stored', 'b stored', 'raises 2', 'c unknown', 'd unknown'])
})

// What the contract's tests stand on: a store for each test, handles of it, things to write, and ways to read them back.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'vitest'
import type {
  EventQuery,
  FoundEvent,
  Journal,
  JournalEnvironment,
  JournalSource,
  Ownership,
  Replayed,
  Run,
  StateWrite,
  StoredEvent,
} from '@troupe/persistence'

/** A store that a test has to itself. */
export interface Store {
  readonly source: JournalSource
  /** Removes it, after all handles were closed. */
  dispose(): Promise<void>
}

export const environment: JournalEnvironment = {
  now: () => Date.now(),
  random: () => Math.random(),
  after(ms, task) {
    const timer = setTimeout(task, ms)
    return () => clearTimeout(timer)
  },
  logger: { debug() {}, info() {}, warn() {}, error() {} },
}

/** One test's store and its handles. */
export class Stage {
  /** The first handle, which has raised the scope `default` to 1. */
  journal!: Journal
  readonly make: () => Promise<Store>
  /** One that is made of memory keeps what it stores there. */
  readonly keepsInMemory: boolean
  #store!: Store
  #handles: Journal[] = []

  constructor(make: () => Promise<Store>, keepsInMemory: boolean) {
    this.make = make
    this.keepsInMemory = keepsInMemory
  }
  async begin(): Promise<void> {
    this.#handles = []
    this.#store = await this.make()
    this.journal = await this.open()
    await this.journal.raise('default', 1)
  }
  async end(): Promise<void> {
    for (const handle of this.#handles) await handle.close()
    await this.#store.dispose()
  }
  /** Another handle of the same store. */
  readonly open = async (): Promise<Journal> => {
    const handle = await this.#store.source.open(environment)
    this.#handles.push(handle)
    return handle
  }
  /** Appends a group by the first handle, and says how each write ended. */
  readonly outcomes = async (...group: Parameters<Journal['append']>[0]): Promise<string[]> =>
    (await this.journal.append(group)).map((outcome) => outcome.is)
}

export const owner: Ownership = { scope: 'default', epoch: 1 }

export function event(n: number, more: Partial<StoredEvent> = {}): StoredEvent {
  return { type: 'added', version: 1, data: JSON.stringify({ n }), tags: [], subject: undefined, time: 1_000 + n, ...more }
}

/** A run of `count` events. */
export function run(id: string, first: number, count = 1, more: Partial<Run> = {}): Run {
  return { write: 'run', id, first, events: Array.from({ length: count }, (_, i) => event(first + i)), timers: [], ...owner, ...more }
}

export function state(id: string, expected: number, revision: number, data: string | undefined, more: Partial<StateWrite> = {}): StateWrite {
  return { write: 'state', id, expected, revision, version: 1, data, subject: undefined, time: 5, timers: [], ...owner, ...more }
}

export async function all<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of iterable) items.push(item)
  return items
}

/** The events of each id, as replay gives them. */
export async function replayed(journal: Journal, from: { id: string; after: number }[], batch = 100): Promise<Map<string, StoredEvent[]>> {
  const byId = new Map<string, StoredEvent[]>(from.map(({ id }) => [id, []]))
  const next = new Map(from.map(({ id, after }) => [id, after + 1]))
  for (const part of await all<Replayed>(journal.replay(from, batch))) {
    if ('damage' in part) throw part.damage
    expect(part.events.length).toBeLessThanOrEqual(batch)
    if (byId.get(part.id)!.length > 0) expect(part.first).toBe(next.get(part.id))
    next.set(part.id, part.first + part.events.length)
    byId.get(part.id)!.push(...part.events)
  }
  return byId
}

export async function found(journal: Journal, query: Partial<EventQuery> = {}): Promise<FoundEvent[]> {
  return (await all(journal.events({ batch: 100, once: true, ...query }))).flat()
}

export const places = (events: readonly FoundEvent[]): string[] => events.map(({ id, seq }) => `${id}#${seq}`)

/** The heap when garbage is gone. */
export async function settledHeap(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  for (let i = 0; i < 4; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    gc()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

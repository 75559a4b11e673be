// Readers that cannot go on because an earlier group is still being written: since when, and by which process of the server. The time starts again
// whenever a reader moves on: many short writes, one after the other, do not hold it back.

import type { HeldBack, JournalEnvironment } from '../port.ts'
import type { Readable } from './positions.ts'

interface Held {
  readonly since: number
  /** The position that it waits for. */
  readonly last: number
  readonly pid: number | undefined
}

export class HeldReaders {
  readonly #environment: Pick<JournalEnvironment, 'now'>
  readonly #readers = new Map<object, Held>()

  constructor(environment: Pick<JournalEnvironment, 'now'>) {
    this.#environment = environment
  }

  /** Notes the position up to which a reader may read now. */
  note(reader: object, { until, last, pid }: Readable): void {
    const held = this.#readers.get(reader)
    if (held !== undefined && until < held.last) return
    if (until < last) this.#readers.set(reader, { since: this.#environment.now(), last, pid })
    else this.#readers.delete(reader)
  }
  end(reader: object): void {
    this.#readers.delete(reader)
  }

  /** The reader that has waited longest. */
  get longest(): HeldBack | undefined {
    let first: Held | undefined
    for (const held of this.#readers.values()) if (first === undefined || held.since < first.since) first = held
    if (first === undefined) return undefined
    const by = first.pid === undefined ? 'a process of the server' : `process ${first.pid} of the server`
    return {
      for: Math.max(0, this.#environment.now() - first.since),
      why: `a group that ${by} is writing is not committed; pg_stat_activity shows what it waits for`,
    }
  }
}

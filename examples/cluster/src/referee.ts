// The referee believes nobody: it reads the journal, plays every move once more by the rules, and looks whether the numbers of each player are 1, 2, 3, …
// without a gap or a double. What was acknowledged must be there, at every look.

import type { Journal } from '@troupe/persistence'
import { empty, type Move, play, type Table } from './room.ts'

export class Referee {
  /** The tables as the journal has them. */
  readonly tables: Map<string, Table> = new Map()
  /** What is wrong, in words. */
  readonly problems: string[] = []
  found = 0
  /** Moves that the journal has twice, or after a gap. */
  doubled = 0
  /** Moves that were acknowledged and were not in the journal at the last audit. */
  lost = 0
  #after: string | undefined
  #reading = Promise.resolve()

  /** Takes in one move of a room, in the order of the journal. */
  take(room: string, move: Move): void {
    const table = this.tables.get(room) ?? empty
    const last = table.numbers[move.player] ?? 0
    this.found++
    if (move.n <= last) this.doubled++
    if (move.n !== last + 1) this.#note(`room ${room}: move ${move.n} of ${move.player} comes after ${last}`)
    this.tables.set(room, play(table, move))
  }

  /** Reads what the journal has had since the last time; whoever asks while it reads waits for that first. */
  read(journal: Journal): Promise<void> {
    return (this.#reading = this.#reading.then(() => this.#readOn(journal)))
  }
  async #readOn(journal: Journal): Promise<void> {
    for await (const batch of journal.events({ kind: 'room', after: this.#after, once: true, batch: 1000 }))
      for (const { id, type, data, offset } of batch) {
        this.#after = offset
        if (type === 'moved') this.take(id.slice('room/'.length), JSON.parse(data) as Move)
      }
  }

  /** Reads on, and looks whether all is there that had been acknowledged before it did. */
  async audit(journal: Journal, acknowledged: ReadonlyMap<string, ReadonlyMap<string, number>>): Promise<void> {
    const claims = [...acknowledged].map(([room, players]) => [room, [...players]] as const)
    await this.read(journal)
    this.lost = 0
    for (const [room, players] of claims)
      for (const [player, n] of players) this.lost += Math.max(0, n - (this.tables.get(room)?.numbers[player] ?? 0))
  }

  /** Compares what a room says with what its events make. */
  compare(room: string, said: Table): void {
    if (text(said) !== text(this.tables.get(room) ?? empty)) this.#note(`room ${room} says something else than its events`)
  }

  #note(problem: string): void {
    if (this.problems.length < 20) this.problems.push(problem)
  }
}

/** The same for tables that are the same, in whatever order their players came. */
function text(table: Table): string {
  return JSON.stringify(table, (_key, value: unknown) =>
    typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value,
  )
}

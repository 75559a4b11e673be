// What is known from the answers that players had: where each room is, how long nobody had an answer, and what was acknowledged.

import type { Score } from './players.ts'
import type { Moved } from './room.ts'

export interface RoomFacts {
  readonly name: string
  /** The node that had it when a move was last acknowledged. */
  node: string | undefined
  /** When it came there, and when the last answer came. */
  since: number
  heard: number
  /** How often it was elsewhere. */
  moves: number
}

export class ScoreBoard implements Score {
  readonly rooms: Map<string, RoomFacts>
  acknowledged = 0
  /** Moves of whose first try nobody knows what became of it. */
  again = 0
  /** How often a room was on another node than before. */
  moved = 0
  /** The longest time in which a room answered nobody, in ms. */
  silence = 0
  readonly causes: Map<string, number> = new Map()
  /** By room and player: the number that was acknowledged. */
  readonly numbers: Map<string, Map<string, number>> = new Map()
  readonly #now: () => number
  readonly problems: string[] = []

  constructor(names: readonly string[], now: () => number) {
    this.#now = now
    const heard = now()
    this.rooms = new Map(names.map((name) => [name, { name, node: undefined, since: heard, heard, moves: 0 }]))
  }

  made(room: string, player: string, { n, node }: Moved): void {
    const facts = this.rooms.get(room)!
    const now = this.#now()
    if (facts.node !== undefined) this.silence = Math.max(this.silence, now - facts.heard)
    facts.heard = now
    if (facts.node !== node) {
      if (facts.node !== undefined) {
        facts.moves++
        this.moved++
      }
      facts.node = node
      facts.since = now
    }
    const numbers = this.numbers.get(room) ?? new Map<string, number>()
    const before = numbers.get(player)
    if (before !== undefined && n !== before + 1 && this.problems.length < 20)
      this.problems.push(`room ${room} has ${n} moves of ${player}, who has made ${before + 1}`)
    this.numbers.set(room, numbers.set(player, n))
    this.acknowledged++
  }

  unknown(_room: string, cause: unknown): void {
    this.again++
    const code = (cause as { code?: string }).code ?? (cause as Error).name
    this.causes.set(code, (this.causes.get(code) ?? 0) + 1)
  }

  /** Rooms on a node, by name. */
  on(node: string): RoomFacts[] {
    return [...this.rooms.values()].filter((facts) => facts.node === node)
  }
}

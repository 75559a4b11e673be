// What happened, as numbers: hashed always, kept in words only when somebody wants to read them. The same choices give
// the same trace, byte for byte, which the hash proves.

/** One thing that happened. */
export interface TraceEvent {
  readonly step: number
  readonly at: number
  readonly what: EventKind
  /** Who did it; 0 is the world outside. */
  readonly actor: number
  /** Whom it went to, where it went to somebody. */
  readonly to: number
  readonly detail: string
}

/** What may happen in a run. */
export type EventKind =
  | 'spawn'
  | 'phase'
  | 'send'
  | 'handle'
  | 'done'
  | 'signal'
  | 'dead'
  | 'dropped'
  | 'stash'
  | 'unstash'
  | 'timer'
  | 'cancel'
  | 'watch'
  | 'unwatch'
  | 'time'
  | 'fault'
  | 'act'
  | 'note'

const codes: Readonly<Record<EventKind, number>> = Object.fromEntries(
  [
    'spawn',
    'phase',
    'send',
    'handle',
    'done',
    'signal',
    'dead',
    'dropped',
    'stash',
    'unstash',
    'timer',
    'cancel',
    'watch',
    'unwatch',
    'time',
    'fault',
    'act',
    'note',
  ].map((kind, i) => [kind, i + 1]),
) as Record<EventKind, number>

/** Numbers for words, in order of first use: two runs that do the same use the same. */
const words = new Map<string, number>()
function numberOf(word: string): number {
  const known = words.get(word)
  if (known !== undefined) return known
  // From the word itself, not from the order of arrival: a later run must hash it alike.
  let h = 0x811c9dc5
  for (let i = 0; i < word.length; i++) h = Math.imul(h ^ word.charCodeAt(i), 0x01000193)
  words.set(word, h)
  return h
}

export class Trace {
  #a = 0x811c9dc5
  #b = 0x1b873593
  size = 0
  step = 0
  /** Kept only when the run is to be read. */
  readonly events: TraceEvent[] | undefined
  readonly #now: () => number
  constructor(now: () => number, keep: boolean) {
    this.#now = now
    this.events = keep ? [] : undefined
  }
  /** `id` tells messages of one type apart; 0 where there is none. */
  add(what: EventKind, actor: number, to: number, word: string, id: number): void {
    this.size++
    let a = Math.imul(this.#a ^ codes[what], 0x01000193)
    a = Math.imul(a ^ actor, 0x01000193)
    a = Math.imul(a ^ to, 0x01000193)
    a = Math.imul(a ^ numberOf(word), 0x01000193)
    a = Math.imul(a ^ id, 0x01000193)
    this.#a = a
    this.#b = (Math.imul(this.#b ^ (a >>> 15), 0xcc9e2d51) + this.size) | 0
    if (this.events !== undefined) this.events.push({ step: this.step, at: this.#now(), what, actor, to, detail: id === 0 ? word : `${word}#${id}` })
  }
  /** Time has moved to a moment; a part of the trace, as everything else. */
  time(at: number): void {
    this.#b = Math.imul(this.#b ^ Math.trunc(at * 1024), 0x85ebca6b)
    this.add('time', 0, 0, '', 0)
  }
  get hash(): string {
    return (this.#a >>> 0).toString(16).padStart(8, '0') + (this.#b >>> 0).toString(16).padStart(8, '0')
  }
}

// What goes from one event-sourced actor to another for sure. The sender keeps it in the record of its command, and sends it, again
// and again, until the receiver says that it has it; the receiver notes sender and number in the record of what it made of it. So the
// effect is there exactly once, and in order, whatever is lost, doubled or begun anew on the way.
//
//   sender: $sent(to, n, message) ──▶ receiver: n is the next of this sender? $got(from, n) + its own events ──▶ sender: $done(to, n)

import type { AnyRef } from '@troupe/core'
import { Keyed } from '@troupe/core/internal'

/** How many messages to one receiver are sent again at a time. */
const atOnce = 100
/** After how many rounds something is sent again to a receiver that is silent, at most. */
const longest = 30

/** A message of one persistent actor on its way to another. */
export class Delivered extends Keyed {
  readonly from: string
  readonly n: number
  readonly message: unknown
  /** Who is told that it has arrived; whoever has the id then, where that is not known. */
  readonly sender: AnyRef | undefined
  constructor(key: string, from: string, n: number, message: unknown, sender: AnyRef | undefined) {
    super(key)
    this.from = from
    this.n = n
    this.message = message
    this.sender = sender
  }
}

/** What was delivered up to a number has had its effect. */
export class Acked extends Keyed {
  readonly by: string
  readonly n: number
  constructor(key: string, by: string, n: number) {
    super(key)
    this.by = by
    this.n = n
  }
}

/** Something that has not been acknowledged. */
interface Parcel {
  readonly n: number
  readonly message: unknown
  /** The number of the event that says so. */
  readonly seq: number
}

/** What was sent to one receiver: the last number given, and what waits, in order, without a gap. */
class Box {
  last = 0
  waiting: Parcel[] = []
  /** How many rounds are left out until it is sent again, and how many were before. */
  #left = 0
  #pause = 0

  /** What is sent again in this round. Each time that nothing was acknowledged it is longer until the next, and the first alone goes: as long as that is not taken, no other is. */
  due(durable: number): readonly Parcel[] {
    if (this.#left > 0) {
      this.#left--
      return []
    }
    const sent = this.waiting.slice(0, this.#pause > 1 ? 1 : atOnce).filter(({ seq }) => seq <= durable)
    if (sent.length === 0) return sent
    this.#pause = Math.min(longest, Math.max(1, this.#pause * 2))
    this.#left = this.#pause - 1
    return sent
  }
  /** All up to this number have had their effect: the receiver is there. */
  done(n: number): void {
    this.#left = this.#pause = 0
    // In order and without a gap: how many go can be told, and none of those that stay is looked at.
    this.waiting.splice(0, n + 1 - this.waiting[0]!.n)
  }
}

/** What one actor has sent and not heard of again, and what it has received. */
export class Mail {
  /** By receiver. */
  readonly #out = new Map<string, Box>()
  /** Those boxes in which something waits: most actors have sent to many, and wait for few. */
  readonly #waiting = new Map<string, Box>()
  /** By sender: the last number that had its effect. */
  readonly #in = new Map<string, number>()

  /** The number of the next message to a receiver. */
  next(to: string): number {
    return (this.#out.get(to)?.last ?? 0) + 1
  }
  sent(to: string, n: number, message: unknown, seq: number): void {
    const box = this.#out.get(to) ?? new Box()
    box.last = n
    box.waiting.push({ n, message, seq })
    this.#out.set(to, box)
    this.#waiting.set(to, box)
  }
  /** Takes back what was sent with an event after this one. */
  unsend(after: number): void {
    for (const [to, box] of this.#waiting) {
      while (box.waiting.length > 0 && box.waiting.at(-1)!.seq > after) {
        box.waiting.pop()
        box.last--
      }
      // As if it had never been: what recovers has no trace of it either.
      if (box.last === 0) this.#out.delete(to)
      if (box.waiting.length === 0) this.#waiting.delete(to)
    }
  }
  /** Whether something waits to be acknowledged up to that number. */
  waits(to: string, n: number): boolean {
    const first = this.#out.get(to)?.waiting[0]
    return first !== undefined && first.n <= n
  }
  done(to: string, n: number): void {
    const box = this.#waiting.get(to)
    if (box === undefined) return
    box.done(n)
    if (box.waiting.length === 0) this.#waiting.delete(to)
  }
  received(from: string): number {
    return this.#in.get(from) ?? 0
  }
  got(from: string, n: number): void {
    this.#in.set(from, n)
  }
  /** Takes back that the last one of a sender had its effect. */
  ungot(from: string): void {
    const last = this.received(from) - 1
    if (last > 0) this.#in.set(from, last)
    else this.#in.delete(from)
  }
  get empty(): boolean {
    return this.#waiting.size === 0
  }
  /** How many senders and receivers it knows. */
  get size(): number {
    return this.#out.size + this.#in.size
  }
  /** What is durable and not acknowledged, in order for each receiver, and not more than it can be expected to take at once. */
  *due(durable: number): Iterable<{ readonly to: string; readonly n: number; readonly message: unknown }> {
    for (const [to, box] of this.#waiting) for (const { n, message } of box.due(durable)) yield { to, n, message }
  }

  /** As data, for a snapshot; undefined where there is nothing. */
  toData(): unknown {
    if (this.#out.size === 0 && this.#in.size === 0) return undefined
    return {
      out: [...this.#out].map(([to, { last, waiting }]) => [to, last, waiting.map(({ n, message, seq }) => [n, message, seq])]),
      in: [...this.#in],
    }
  }
  restore(data: unknown): void {
    const { out, in: received } = data as { out: [string, number, [number, unknown, number][]][]; in: [string, number][] }
    for (const [to, last, waiting] of out) {
      const box = new Box()
      box.last = last
      box.waiting = waiting.map(([n, message, seq]) => ({ n, message, seq }))
      this.#out.set(to, box)
      if (box.waiting.length > 0) this.#waiting.set(to, box)
    }
    for (const [from, n] of received) this.#in.set(from, n)
  }
}

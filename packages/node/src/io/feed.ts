// A readable stream as messages of any kind, with credits: at most so many of them unhandled before the stream is
// paused. For streams that are not connections: standard input, output of child processes, lines of files.

import type { Readable } from 'node:stream'
import type { ActorRef, AnyRef } from '@troupe/core'
import { Carrier, type Credited, type Source } from './credit.ts'

export class Feed<E extends Credited> implements Source {
  readonly #stream: Readable
  readonly #to: ActorRef<E>
  readonly #carrier: Carrier
  readonly #limit: number
  readonly #gone: () => void
  readonly #take: (chunk: Buffer) => void
  #unhandled = 0
  #paused = false
  #closed = false
  stale = false
  constructor(stream: Readable, to: ActorRef<E>, sender: AnyRef, limit: number, make: (chunk: Buffer) => readonly E[], gone: () => void) {
    this.#stream = stream
    this.#to = to
    this.#limit = limit
    this.#gone = gone
    this.#carrier = new Carrier(sender, this)
    this.#take = (chunk) => this.tellAll(make(chunk))
    stream.on('data', this.#take)
  }
  tellAll(events: readonly E[]): void {
    if (this.#closed) return
    for (const event of events) {
      this.#unhandled++
      this.#to.tell(event, this.#carrier)
    }
    if (this.#unhandled >= this.#limit) this.#stream.pause()
  }
  pause(): void {
    this.#paused = true
    this.#stream.pause()
  }
  resume(): void {
    this.#paused = false
    if (this.#unhandled < this.#limit) this.#stream.resume()
  }
  /** Tells the last event. What was told stays told; what becomes of the stream is the caller's affair. */
  finish(event: E): void {
    this.#stream.removeListener('data', this.#take)
    if (!this.#closed) this.#to.tell(event, this.#carrier)
  }
  /** Nobody is told anything from here on, and what waits in a mailbox is dropped unless kept; what becomes of the stream is the caller's affair. */
  close(keep = false): void {
    this.#closed = true
    this.stale = !keep
    this.#stream.removeListener('data', this.#take)
  }
  credited(): void {
    this.#unhandled--
    if (!this.#closed && !this.#paused && this.#unhandled <= this.#limit >> 1 && this.#stream.isPaused() && !this.#stream.destroyed)
      this.#stream.resume()
  }
  undelivered(): void {
    if (!this.#closed) this.#gone()
  }
}

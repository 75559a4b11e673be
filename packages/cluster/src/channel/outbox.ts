// Records that wait to be sent, already as bodies of frames: what is pushed in one turn, or while the window is full, shares a frame. It is
// bounded in bytes; what does not fit is refused, and nothing that was taken is given up.

import { headSize } from './frame.ts'
import { costOf } from './limits.ts'
import { type ChannelRecord, sizeOf, writeRecord } from './record.ts'

/** Records are put together up to this size, so that a window holds several frames. */
const usual = 64 * 1_024
const smallest = 1_024

export class Outbox {
  readonly #limit: number
  readonly #frameLimit: number
  readonly #sealed: Uint8Array[] = []
  #open: Uint8Array = new Uint8Array(0)
  #end = headSize
  #cost = 0

  constructor(limit: number, frameLimit: number) {
    this.#limit = limit
    this.#frameLimit = frameLimit
  }

  /** What waits, as it counts against the limit. */
  get cost(): number {
    return this.#cost + (this.#end === headSize ? 0 : costOf(this.#end))
  }

  get empty(): boolean {
    return this.#sealed.length === 0 && this.#end === headSize
  }

  push(record: ChannelRecord): 'taken' | 'full' | 'too-large' {
    const size = sizeOf(record)
    if (headSize + size > this.#frameLimit) return 'too-large'
    const alone = this.#end === headSize
    const joins = !alone && this.#end + size <= Math.min(usual, this.#frameLimit)
    const more = alone || joins ? 0 : costOf(headSize)
    // Alone it is always taken: a queue that is shorter than a frame would never send anything.
    if (!this.empty && this.cost + size + more > this.#limit) return 'full'
    if (!alone && !joins) this.#seal()
    this.#reserve(this.#end + size)
    this.#end = writeRecord(record, this.#open, this.#end)
    return 'taken'
  }

  /** The size of the next frame, with room for its head; 0 where nothing waits. */
  get nextSize(): number {
    return this.#sealed[0]?.length ?? (this.#end === headSize ? 0 : this.#end)
  }

  /** Takes the next frame out, its head to be written. */
  next(): Uint8Array | undefined {
    if (this.#sealed.length === 0 && this.#end > headSize) this.#seal()
    const frame = this.#sealed.shift()
    if (frame !== undefined) this.#cost -= costOf(frame.length)
    return frame
  }

  /** Forgets everything; how many frames that were. */
  clear(): void {
    this.#sealed.length = 0
    this.#open = new Uint8Array(0)
    this.#end = headSize
    this.#cost = 0
  }

  #seal(): void {
    // What is much smaller than its buffer would keep all of it.
    const frame = this.#open.length > 2 * this.#end ? this.#open.slice(0, this.#end) : this.#open.subarray(0, this.#end)
    this.#sealed.push(frame)
    this.#cost += costOf(frame.length)
    this.#open = new Uint8Array(0)
    this.#end = headSize
  }

  #reserve(size: number): void {
    if (size <= this.#open.length) return
    const larger = new Uint8Array(Math.max(size, Math.min(this.#open.length * 2, usual), smallest))
    larger.set(this.#open.subarray(0, this.#end))
    this.#open = larger
  }
}

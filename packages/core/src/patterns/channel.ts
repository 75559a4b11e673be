// A queue between concurrent code, with backpressure. First come, first served on both sides: values leave in the order
// in which sends were accepted, and whoever waited longest is served first. `select` waits on several at once.
//
//   send ─→ a waiting receiver │ the buffer, if there is room │ else wait           receive ←─ buffer │ a waiting sender

import { isAborted, reasonOf } from '../ports/on-abort.ts'
import { Ring } from '../queues/ring.ts'
import { checkWhole } from '../values/checks.ts'
import { ChannelClosed } from '../values/concurrency-errors.ts'
import { cancelledBy, onAbort, signalOf, type WaitOptions } from './cancellation.ts'
import { type Waiter, WaitList } from './wait-list.ts'

/** What a receive finds: a value, or the end. */
export type Received<T> = { readonly done: false; readonly value: T } | { readonly done: true; readonly value: undefined }

/** The sending side of a channel. */
export interface Sender<in T> {
  /** Resolves once the channel has taken the value; without a buffer, once it was received. */
  send(value: T, options?: WaitOptions): Promise<void>
  /** Whether the channel took the value without waiting. Throws `ChannelClosed` on a closed one. */
  trySend(value: T): boolean
  close(): void
}

/** The receiving side of a channel. */
export interface Receiver<out T> extends AsyncIterable<T> {
  /** The next value, or the end of a channel that is closed and drained. */
  receive(options?: WaitOptions): Promise<Received<T>>
  /** What can be received without waiting; undefined where there is nothing yet. */
  tryReceive(): Received<T> | undefined
}

const ended: Received<never> = { done: true, value: undefined }

/** The state of a channel, shared by its faces and by `select`. */
export class ChannelCore<T> {
  readonly capacity: number
  readonly buffer: Ring<T> = new Ring()
  readonly senders: WaitList<T, void> = new WaitList()
  readonly receivers: WaitList<undefined, Received<T>> = new WaitList()
  closed = false
  /** Rotates which case `select` looks at first. */
  turns = 0
  constructor(capacity: number) {
    this.capacity = capacity
  }

  offer(value: T): boolean {
    if (this.closed) throw new ChannelClosed()
    const receiver = this.receivers.shift()
    if (receiver !== undefined) receiver.done({ done: false, value })
    else if (this.buffer.size < this.capacity) this.buffer.push(value)
    else return false
    return true
  }

  poll(): Received<T> | undefined {
    if (this.buffer.size > 0) {
      const value = this.buffer.shift() as T
      // Room for the sender that waited longest.
      const sender = this.senders.shift()
      if (sender !== undefined) {
        this.buffer.push(sender.value)
        sender.done()
      }
      return { done: false, value }
    }
    const sender = this.senders.shift()
    if (sender !== undefined) {
      sender.done()
      return { done: false, value: sender.value }
    }
    return this.closed ? ended : undefined
  }

  close(): void {
    if (this.closed) return
    this.closed = true
    // A receiver waits only where nothing is buffered: the end is all that is left for it.
    for (let r = this.receivers.shift(); r !== undefined; r = this.receivers.shift()) r.done(ended)
    for (let s = this.senders.shift(); s !== undefined; s = this.senders.shift()) s.failed(new ChannelClosed())
  }
}

/** Looks into a channel. Given by the first that is made: a static block would keep the class in every bundle. */
let look: ((whole: object) => ChannelCore<unknown> | undefined) | undefined

/** The state behind a channel or one of its sides; undefined for anything else. */
export function coreOf(face: unknown): ChannelCore<unknown> | undefined {
  const whole = face instanceof Side ? face.channel : face
  return typeof whole === 'object' && whole !== null ? look?.(whole) : undefined
}

/**
 * A bounded queue between concurrent code; capacity 0 hands values over from sender to receiver.
 *
 * Guarantees: each value is received once, in the order of sends; at most `capacity` values are buffered; waits are
 * served first come, first served, and leave nothing behind when aborted. After `close`, receivers drain what is
 * buffered and then end. Fails: sending after `close`, or waiting to send during it, rejects with `ChannelClosed`;
 * an aborted wait rejects with `Cancelled`, and its value was not sent.
 *
 * @example
 * const channel = new Channel<number>(10)
 * await channel.send(1)
 * channel.close()
 * for await (const n of channel) use(n)
 */
export class Channel<T> implements Sender<T>, Receiver<T> {
  readonly #core: ChannelCore<T>

  constructor(capacity: number) {
    this.#core = new ChannelCore(checkWhole('capacity', capacity, 0))
    look ??= (whole) => (#core in whole ? (whole.#core as ChannelCore<unknown>) : undefined)
  }

  get capacity(): number {
    return this.#core.capacity
  }
  /** Values in the buffer. */
  get size(): number {
    return this.#core.buffer.size
  }
  get closed(): boolean {
    return this.#core.closed
  }
  /** The sending side alone, to hand to those who shall not receive. */
  get sender(): Sender<T> {
    return new SendingSide(this)
  }
  /** The receiving side alone, to hand to those who shall neither send nor close. */
  get receiver(): Receiver<T> {
    return new ReceivingSide(this)
  }

  send(value: T, options?: WaitOptions): Promise<void> {
    const core = this.#core
    return wait(options, 'send', core.senders, value, () => (core.offer(value) ? taken : undefined))
  }
  trySend(value: T): boolean {
    return this.#core.offer(value)
  }
  receive(options?: WaitOptions): Promise<Received<T>> {
    const core = this.#core
    return wait(options, 'receive', core.receivers, undefined, () => core.poll())
  }
  tryReceive(): Received<T> | undefined {
    return this.#core.poll()
  }
  /** Takes nothing more. Idempotent. */
  close(): void {
    this.#core.close()
  }

  /** Values until the channel is closed and drained. Leaving the loop early does not close it. */
  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return { next: () => this.receive(), return: () => Promise.resolve(ended) }
  }
}

class Side<T> {
  readonly channel: Channel<T>
  constructor(channel: Channel<T>) {
    this.channel = channel
  }
}

class SendingSide<T> extends Side<T> implements Sender<T> {
  send(value: T, options?: WaitOptions): Promise<void> {
    return this.channel.send(value, options)
  }
  trySend(value: T): boolean {
    return this.channel.trySend(value)
  }
  close(): void {
    this.channel.close()
  }
}

class ReceivingSide<T> extends Side<T> implements Receiver<T> {
  receive(options?: WaitOptions): Promise<Received<T>> {
    return this.channel.receive(options)
  }
  tryReceive(): Received<T> | undefined {
    return this.channel.tryReceive()
  }
  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return this.channel[Symbol.asyncIterator]()
  }
}

const taken: { readonly nothing: true } = { nothing: true }

/** Tries at once, else waits in the list until served, failed or aborted. */
function wait<V, R>(
  options: WaitOptions | undefined,
  what: string,
  list: WaitList<V, R>,
  value: V,
  attempt: () => R | typeof taken | undefined,
): Promise<R> {
  return new Promise<R>((resolve, reject) => {
    const signal = signalOf(what, options)
    if (isAborted(signal)) throw cancelledBy(`The ${what}`, reasonOf(signal!))
    const at = attempt()
    if (at !== undefined) return resolve(at === taken ? (undefined as R) : (at as R))
    // Listens first: what is not a signal must not leave a waiter behind that would take a value with it.
    const unlisten = onAbort(signal, (reason) => {
      list.remove(waiter)
      reject(cancelledBy(`The ${what}`, reason))
    })
    const waiter: Waiter<V, R> = list.add(
      value,
      (result) => {
        unlisten()
        resolve(result)
      },
      (cause) => {
        unlisten()
        reject(cause)
      },
    )
  })
}

// One connection of any kind and the actor that hears of it: sockets, streams and WebSockets differ only in what moves.
// Counts credits and holds the peer without them, refuses to buffer without bound for a slow one, and sees to it that an
// error is heard, also one of a write that cannot leave, and `closed` is last. Knows nothing of behaviors: connection.ts ties a link to an actor's life.
//
//   socket ─chunk→ post ─tell→ owner's mailbox … handler begins ─→ Carrier.open ─→ credited ─→ flow

import type { ActorContext, ActorRef, InvalidOption } from '@troupe/core'
import type { Cell } from '@troupe/core/internal'
import { Carrier, Credited, HandledCarrier, LinkEndCarrier, LossyCarrier, type Source } from './credit.ts'
import { Ending } from './ending.ts'
import { failThrough, Fall, IoError, toIoError } from './errors.ts'
import { Follow, HalfClose } from './half-close.ts'
import { type Post, postOf } from './post.ts'

/** A chunk or message of a connection, which holds a credit until its handler begins. */
export abstract class Chunk<C> extends Credited {
  abstract readonly type: string
  readonly connection: ActorRef<C> | undefined
  constructor(connection: ActorRef<C> | undefined) {
    super()
    this.connection = connection
  }
}

/** What bounds a link. */
export interface LinkLimits {
  readonly credits: number
  readonly maxBuffered: number
  readonly manual?: boolean | undefined
  readonly paused?: boolean | undefined
}

export abstract class StreamLink<E extends { readonly type: string }, C> implements Source {
  /** What the connection is for, in errors: `connect to 127.0.0.1:6379`. */
  protected readonly what: string
  readonly #limit: number
  readonly #maxBuffered: number
  readonly #manual: boolean
  #ctx: ActorContext<never> | undefined = undefined
  #to: ActorRef<never> | undefined = undefined
  #carrier: Carrier | undefined = undefined
  /** That of its system, from when it is attached. */
  #post!: Post
  #unhandled = 0
  #paused: boolean
  #behind = false
  #faulty = false
  #ending: Ending | undefined = undefined
  /** A write was refused. */
  #refused: IoError | undefined = undefined
  /** Of which the owner is to hear in place of `closed`. */
  #late = false
  #last: 'to come' | 'told' | 'heard' = 'to come'
  /** The peer's end, until this side has followed. */
  #halfClose: HalfClose | undefined = undefined
  /** The actor that took the last chunk. */
  #taker: Cell | undefined = undefined
  protected connection: ActorRef<C> | undefined = undefined
  stale = false
  /** Counts what moves, for idle timeouts. */
  activity = 0

  constructor(what: string, limits: LinkLimits) {
    this.what = what
    this.#limit = limits.credits
    this.#maxBuffered = limits.maxBuffered
    this.#manual = limits.manual ?? false
    this.#paused = limits.paused ?? false
  }

  abstract get open(): boolean
  /** Bytes written that wait for the peer. */
  abstract get buffered(): number
  /** Begins to listen to what it is about; it may have ended before. */
  protected abstract begin(): void
  protected abstract halt(): void
  protected abstract flow(): void
  /** Ends both sides at once, because of an error. */
  protected abstract cut(): void
  /** Ends this side behind the peer's. */
  protected abstract endSide(): void
  abstract destroy(reason?: 'idle'): void
  /** The actor's incarnation has ended. */
  abstract release(): void
  protected wants(_type: string): boolean {
    return true
  }

  get attached(): boolean {
    return this.#ctx !== undefined
  }
  /** The owner knows that it is over: what it still wants comes too late, and is told to nobody. */
  get over(): boolean {
    return this.#last === 'heard'
  }
  /** Chunks that the owner has not begun to handle, or not acknowledged. */
  protected get unhandled(): number {
    return this.#unhandled
  }
  /** Nothing is read now: by the owner's wish, or because it is behind. */
  protected get held(): boolean {
    return this.#paused || this.#behind
  }
  protected get faulty(): boolean {
    return this.#faulty
  }

  /** Begins to tell `to` what happens. With `connection` the events name it; without, `to` is the link's own actor. */
  attach(ctx: ActorContext<never>, to: ActorRef<never> | undefined, connection: ActorRef<C> | undefined): void {
    this.#ctx = ctx
    this.#post = postOf(ctx.system)
    this.#ending = new Ending(this, () => ctx.self.stop({ after: 'queued' }))
    this.connection = connection
    this.own(to)
    if (this.#refused !== undefined) this.#report(this.#refused)
    this.begin()
  }

  /** Directs events from here on to another actor; chunks that the last one still holds do not count against it. */
  own(to: ActorRef<never> | undefined): void {
    this.#to = to
    this.#carrier = new Carrier(this.connection, this)
    this.#unhandled = 0
    this.#taker = undefined
    this.#caughtUp()
  }

  pause(): void {
    this.#paused = true
    this.halt()
  }
  resume(): void {
    this.#paused = false
    if (!this.#behind) this.flow()
  }
  ack(): void {
    if (!this.#manual) return
    this.#giveBack()
    this.#halfClose?.look(this.#unhandled, this.#taker)
  }

  /** Ends the connection with an error that its owner hears of. */
  fail(error: IoError): void {
    if (this.faulty) return
    this.#faulty = true
    this.#report(error)
    this.cut()
  }

  credited(by: Cell): void {
    if (!this.#manual) this.#giveBack()
    this.#taker = by
    this.#halfClose?.look(this.#unhandled, by)
  }
  undelivered(why: 'stopped' | 'refused'): void {
    if (why === 'stopped' && this.#ctx !== undefined) {
      // The owner's end is this actor's too, behind what it was told to write before.
      this.halt()
      return this.#ctx.self.stop({ after: 'queued' })
    }
    if (this.buffered === 0) return this.destroy()
    this.fail(new IoError(this.what, 'undelivered', `its owner's mailbox refused an event, with ${this.buffered} bytes unsent`))
  }

  #giveBack(): void {
    if (this.#unhandled > 0) this.#unhandled--
    this.#caughtUp()
  }
  #caughtUp(): void {
    // Half of the credits, so that a reader at its limit does not pause and resume at every chunk.
    if (!this.#behind || this.#unhandled > this.#limit >> 1) return
    this.#behind = false
    if (!this.#paused && this.open) this.flow()
  }

  /** The peer has ended, and this side has not followed yet. */
  protected get peerEnded(): boolean {
    return this.#halfClose !== undefined
  }
  /** Ends this side once the owner has dealt with all that came, and with `event`, if there is one. */
  protected followPeer(event?: E): void {
    const halfClose = new HalfClose(() => this.#askToFollow(halfClose))
    this.#halfClose = halfClose
    // The actor that has handled this event has handled what it took before.
    const heard = (by?: Cell): void => halfClose.heard(this.#unhandled, by === this.#taker ? undefined : this.#taker)
    if (event === undefined || !this.tell(event, new HandledCarrier(this.connection, this, heard))) heard()
  }
  /** Ends this side, unless that end was taken back by another. */
  follow(halfClose: HalfClose | undefined = this.#halfClose): void {
    if (halfClose === undefined || this.#halfClose !== halfClose) return
    this.#halfClose = undefined
    this.endSide()
  }
  #askToFollow(halfClose: HalfClose): void {
    const { connection } = this
    if (connection === undefined) return this.follow(halfClose)
    const now = (): void => this.follow(halfClose)
    connection.tell(new Follow(halfClose) as never, new LossyCarrier(undefined, this, now))
  }

  /** A command was wrong: nothing of it was done, and the owner hears so. */
  misused(cause: InvalidOption): void {
    if (!this.stale && this.attached && this.#last === 'to come') this.#report(toIoError(this.what, cause))
  }

  /** A write cannot leave. The owner hears so once, for nothing that comes after it can; whoever answers an error by writing goes no rounds. */
  protected refuse(why: string): false {
    if (this.faulty || this.stale || this.over || this.#refused !== undefined) return false
    this.#refused = new IoError(this.what, 'write-refused', why)
    if (!this.attached) return false
    this.#late = this.#last === 'told' && this.wants('error')
    if (!this.#late) this.#report(this.#refused)
    return false
  }

  /** What was written will not leave: the connection ends before, for another reason than an error. */
  protected lose(count: number, unit: 'bytes' | 'messages', why: string): void {
    if (count === 0 || this.faulty || this.stale || !this.attached) return
    this.#faulty = true
    this.#report(new IoError(this.what, 'write-lost', `${count} ${unit} were not sent, because ${why}`))
  }

  /** Whether the peer takes so little that writing more would fill memory; then the connection has failed. */
  protected overflowing(waiting: number): boolean {
    if (waiting < this.#maxBuffered) return false
    this.fail(new IoError(`write to ${this.what}`, 'write-overflow', `${waiting} bytes already wait for the peer`))
    return true
  }

  protected received(message: Chunk<C>): void {
    this.activity++
    const to = this.#to
    if (to === undefined) return
    if (++this.#unhandled >= this.#limit && !this.#behind) {
      this.#behind = true
      this.halt()
    }
    this.#post.send(to, message, this.#carrier!)
  }

  /** False where nobody wants to know. */
  protected tell(event: E, carrier: Carrier = this.#carrier!): boolean {
    const to = this.#to
    if (to === undefined || !this.wants(event.type) || this.stale) return false
    this.#post.tellBehind(to, this.#event(event), carrier)
    return true
  }

  /** The connection itself met an error; `ended` follows. */
  protected broke(cause: Error): void {
    if (this.faulty || this.stale) return
    this.#faulty = true
    if (this.attached) this.#report(toIoError(this.what, cause))
  }

  /** Tells the last event; once it was opened, or will never be, the actor stops behind whatever is still queued. */
  protected ended(last: E): void {
    const ctx = this.#ctx
    if (ctx === undefined || this.stale) return
    const seen = (): void => {
      this.#last = 'heard'
      this.#ending!.seen()
    }
    this.#last = 'told'
    if (this.#to === undefined || !this.wants(last.type)) return seen()
    const instead = (): unknown => {
      if (!this.#late) return undefined
      this.#late = false
      this.ended(last)
      return this.#failure(this.#refused!)
    }
    const unowned = (): void => this.#unowned(this.#refused!)
    this.#post.tellBehind(this.#to, this.#event(last), new LinkEndCarrier(this.connection, this, seen, instead, unowned))
  }

  #report(error: IoError): void {
    const unowned = (): void => this.#unowned(error)
    if (this.#to === undefined || !this.wants('error')) return unowned()
    this.#post.tellBehind(this.#to, this.#failure(error), this.#ending!.error(this.connection, unowned))
  }
  /** Nobody handles it: the connection's actor fails of it. */
  #unowned(error: IoError): void {
    this.#faulty = true
    this.#ending?.fail()
    if (this.stale || this.#ctx === undefined) return
    if (this.connection === undefined) failThrough(this.#ctx, error)
    else this.connection.tell(new Fall(error) as never)
  }
  #failure(error: IoError): never {
    return this.#event({ type: 'error', code: error.code, error })
  }

  #event(event: object): never {
    return (this.connection === undefined ? event : { ...event, connection: this.connection }) as never
  }
}

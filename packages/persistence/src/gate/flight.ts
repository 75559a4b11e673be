// What a persistent actor has only for a while, so that an idle one is small: what is under way to the journal and what waits for that
// (`Flight`), and the command that runs at this moment (`Turn`).

import type { ActorContext } from '@troupe/core'
import type { StoredEvent } from '../values/stored.ts'
import { Held } from './held.ts'

/** Somebody waits until a number is durable. */
interface Waiter {
  readonly seq: number
  readonly resolve: () => void
  readonly reject: (cause: Error) => void
}

/** A snapshot to be kept once its state is durable, as text: later events may change the state in place. */
interface Pictured {
  readonly seq: number
  readonly text: string
}

const nothing: readonly StoredEvent[] = []

/** From the first thing that is persisted or sent until all of it is durable and gone. */
export class Flight {
  /** The last number that was given to the journal. */
  submitted: number
  /** How much was neither given to the journal, nor is durable. */
  bytes = 0
  /** Whether the writer has the actor in its list. */
  wanted = false
  held: Held | undefined = undefined
  waiters: Waiter[] | undefined = undefined
  /** Events that were not given to the journal yet, and their size. */
  queue: StoredEvent[] = nothing as StoredEvent[]
  queued = 0
  /** The size of what the journal has been given. */
  inFlight = 0
  snapshot: Pictured | undefined = undefined
  /** A snapshot is being kept. */
  saving = false
  /** When the first timer of what is being written is due. */
  rings: number = never

  constructor(submitted: number) {
    this.submitted = submitted
  }

  get holding(): Held {
    return (this.held ??= new Held())
  }
  push(event: StoredEvent): void {
    if (this.queue === nothing) this.queue = [event]
    else this.queue.push(event)
    this.queued += event.data.length
  }
  /** All events that were not given to the journal; they are in its hands now. */
  takeQueue(): readonly StoredEvent[] {
    const { queue } = this
    this.queue = nothing as StoredEvent[]
    this.inFlight = this.queued
    this.queued = 0
    return queue
  }
  /** Lets those go on whose number is durable. */
  wake(durable: number): void {
    const { waiters } = this
    if (waiters === undefined) return
    const left = waiters.filter(({ seq }) => seq > durable)
    this.waiters = left.length === 0 ? undefined : left
    for (const { seq, resolve } of waiters) if (seq <= durable) resolve()
  }
  /** Nothing of it will become durable. */
  forget(): void {
    this.queue = nothing as StoredEvent[]
    this.queued = this.inFlight = this.bytes = 0
    this.snapshot = undefined
    this.rings = never
  }
  /** Nothing is left that anybody waits for. */
  get isOver(): boolean {
    return !this.wanted && !this.saving && this.held === undefined && this.waiters === undefined && this.snapshot === undefined
  }
}

/** Later than every time. */
export const never: number = Number.MAX_VALUE

/** One command, while it runs. */
export class Turn {
  ctx: ActorContext<never>
  message: unknown
  /** Where memory stood before: its number and state, and how much was queued. */
  seq: number
  before: unknown = undefined
  /** The state before as text, where changes in place are looked for. */
  text: string | undefined = undefined
  length = 0
  queued = 0
  /** Whose message it received, if it did. */
  received: string | undefined = undefined
  /** What an event makes of a state is being found out: nothing may leave by that, which happens again at every recovery. */
  applying = false
  /** A state was replaced by itself: it may have been changed in place, and `before` with it. */
  inPlace = false
  /** An event of it asks for a snapshot. */
  snapshot = false
  stops = false
  notUnderstood = false

  private constructor(ctx: ActorContext<never>, message: unknown, seq: number) {
    this.ctx = ctx
    this.message = message
    this.seq = seq
  }

  /** Commands do not nest, but for one in a command of another system: one object serves nearly all. */
  static begin(ctx: ActorContext<never>, message: unknown, seq: number): Turn {
    const turn = spare
    if (turn === undefined) return new Turn(ctx, message, seq)
    spare = undefined
    turn.ctx = ctx
    turn.message = message
    turn.seq = seq
    return turn
  }
  static end(turn: Turn): void {
    turn.ctx = turn.message = turn.before = turn.text = turn.received = undefined as never
    turn.length = turn.queued = 0
    turn.applying = turn.inPlace = turn.snapshot = turn.stops = turn.notUnderstood = false
    spare = turn
  }
}
let spare: Turn | undefined

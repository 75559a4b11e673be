// One message on its way: when it was sent, taken and done with, by whom and to whom. Spans of one trace hang together by their parents.

/** Who a message came from: an actor, by its uid, a timer, or whoever is not an actor. */
export type Origin = number | 'timers' | 'outside'

/** One message of a trace. */
export interface Span {
  readonly trace: number
  readonly id: number
  readonly parent: number | undefined
  readonly from: Origin
  readonly to: number
  readonly type: string
  /** How it came there. An answer is not handled by anybody: it ends a question. */
  readonly how: 'tell' | 'ask' | 'forward' | 'answer'
  /** Of what a timer sent: the message, of another trace, whose handler set the timer. */
  readonly setBy?: { readonly trace: number; readonly id: number; readonly type: string; readonly at: number } | undefined
  /** Milliseconds of the system's clock; undefined as long as it has not come so far. */
  readonly sentAt: number
  takenAt: number | undefined
  /** The synchronous part of its handler has returned. */
  returnedAt: number | undefined
  /** The handler is done, its promise included. */
  doneAt: number | undefined
}

/** Messages that came of one. */
export interface Trace {
  readonly id: number
  readonly type: string
  readonly at: number
  readonly spans: readonly Span[]
  /** Messages that were not followed, because there were too many. */
  readonly leftOut: number
}

/** Sends that were sampled since the last time, put together: about so many messages went this way. */
export interface Flow {
  readonly from: Origin
  readonly to: number
  /** What sort of actors these are: also of one that has ended since. */
  readonly fromKind: string
  readonly toKind: string
  readonly type: string
  readonly messages: number
}

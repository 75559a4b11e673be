// What the runtime tells an actor about itself, its children and those it watches: one union on `type`.
// Order of delivery is the cell's affair; see SEMANTICS.md.

import type { AnyRef } from './ref.ts'

/** Why an actor ended: on its own or asked to, with its parent or system, by `kill`, or through a failure. */
export type ExitReason = 'normal' | 'shutdown' | 'killed' | 'failure'

/** What those who watch an actor hear: why it ended; or, of a sharded one, that it is not in memory, and that its next message makes it again. */
export type TerminationReason = ExitReason | 'passivated'

/** What a supervisor decides about a failure. */
export type Directive = 'resume' | 'restart' | 'stop' | 'escalate'

/** The new incarnation exists and takes no messages yet. */
export interface PreStart {
  readonly type: 'PreStart'
}
/** Start-up is done; messages follow. */
export interface PostStart {
  readonly type: 'PostStart'
}
/** The actor will stop; its children still live. Not seen when killed. */
export interface PreStop {
  readonly type: 'PreStop'
}
/** The incarnation ends; children are gone. Exactly once for each incarnation that saw `PreStart`. */
export interface PostStop {
  readonly type: 'PostStop'
}
/** This incarnation failed and makes room for the next; the last moment for `ctx.handOver`. */
export interface PreRestart {
  readonly type: 'PreRestart'
  readonly cause: unknown
}
/** This incarnation replaces one that failed with `cause`. */
export interface PostRestart {
  readonly type: 'PostRestart'
  readonly cause: unknown
}
/** A child failed, and this was decided about it. */
export interface ChildFailed {
  readonly type: 'ChildFailed'
  readonly child: AnyRef
  readonly cause: unknown
  readonly message: unknown
  readonly directive: Directive
  /** What the child's own `onError` threw about it. */
  readonly hookError?: unknown
}
/** A child is gone for good; needs no watch. */
export interface ChildStopped {
  readonly type: 'ChildStopped'
  readonly child: AnyRef
  readonly reason: ExitReason
  readonly cause?: unknown
}
/** A watched actor is gone for good; exactly one for each watch. */
export interface Terminated {
  readonly type: 'Terminated'
  readonly ref: AnyRef
  readonly reason: TerminationReason
  readonly cause?: unknown
}
/** No user message came for as long as `ctx.setReceiveTimeout` said. */
export interface ReceiveTimeout {
  readonly type: 'ReceiveTimeout'
}

/** Everything that may reach a signal handler. */
export type Signal = PreStart | PostStart | PreStop | PostStop | PreRestart | PostRestart | ChildFailed | ChildStopped | Terminated | ReceiveTimeout

/** Whether a value is, or looks exactly like, what the runtime gives to a signal handler. */
export function isSignal(value: unknown): value is Signal {
  try {
    return typeof value === 'object' && value !== null && looksLikeSignal(value)
  } catch {
    // What cannot be read is none.
    return false
  }
}

/** What each has besides its type: nothing, a cause alone, or a ref and this. */
const besides: Readonly<Record<Signal['type'], '' | 'cause' | 'directive' | 'reason'>> = {
  PreStart: '',
  PostStart: '',
  PreStop: '',
  PostStop: '',
  ReceiveTimeout: '',
  PreRestart: 'cause',
  PostRestart: 'cause',
  ChildFailed: 'directive',
  ChildStopped: 'reason',
  Terminated: 'reason',
}

function looksLikeSignal(value: object): boolean {
  const { type, child, ref } = value as { readonly type?: unknown; readonly child?: unknown; readonly ref?: unknown }
  if (typeof type !== 'string' || !Object.hasOwn(besides, type)) return false
  const more = besides[type as Signal['type']]
  const { length } = Object.keys(value)
  if (more === '') return length === 1
  return more in value && (more === 'cause' ? length === 2 : isRef(type === 'Terminated' ? ref : child))
}

function isRef(value: unknown): boolean {
  return typeof (value as AnyRef | undefined)?.tell === 'function'
}

export const preStart: PreStart = { type: 'PreStart' }
export const postStart: PostStart = { type: 'PostStart' }
export const preStop: PreStop = { type: 'PreStop' }
export const postStop: PostStop = { type: 'PostStop' }
export const receiveTimeout: ReceiveTimeout = { type: 'ReceiveTimeout' }

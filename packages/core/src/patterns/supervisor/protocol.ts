// What a running supervisor understands, and what it answers. `SupervisorClient` speaks it; so may any actor, by `ask`.

import type { ActorRef, AnyRef } from '../../values/ref.ts'
import type { Backoff } from '../../values/policy.ts'
import type { AnyChildSpec, RestartType, Shutdown } from './child-spec.ts'
import type { RefusalReason } from './errors.ts'
import type { ChildStatus } from './tree.ts'

/** Which child is meant: by name, by ref, or by the spec it was declared with. */
export type ChildKey = string | AnyRef | AnyChildSpec

/** What became of a request about a child. */
export type ChildReply =
  | { readonly ok: true; readonly ref: AnyRef | undefined }
  | { readonly ok: false; readonly reason: RefusalReason; readonly message: string; readonly cause: unknown }

/** A child as its supervisor sees it now. */
export interface ChildInfo {
  /** Undefined for an instance of a template. */
  readonly name: string | undefined
  /** Undefined while it is stopped. */
  readonly ref: AnyRef | undefined
  readonly status: ChildStatus
  readonly restart: RestartType
  /** How long a stop of it may take: milliseconds, not at all, or as long as it wants. */
  readonly shutdown: Shutdown
  readonly significant: boolean
  /** The names of siblings that start before it. */
  readonly needs: readonly string[]
  /** How long its restarts wait; undefined where they come at once. */
  readonly backoff: Backoff | undefined
  /** How often it was restarted, alone or in a group. */
  readonly restarts: number
  /** Whether it is a supervisor itself. */
  readonly supervisor: boolean
}

/** How many children there are. */
export interface ChildCount {
  /** On file, running or not; 1 where there is a template, whatever the number of its instances. */
  readonly specs: number
  /** With a living actor, whatever it is doing. */
  readonly active: number
  readonly supervisors: number
  readonly workers: number
}

/** The protocol of a supervisor. */
export type SupervisorMessage =
  | { readonly type: 'start-child'; readonly child: AnyChildSpec; readonly replyTo: ActorRef<ChildReply> }
  | { readonly type: 'stop-child'; readonly child: ChildKey; readonly replyTo: ActorRef<ChildReply> }
  | { readonly type: 'restart-child'; readonly child: ChildKey; readonly replyTo: ActorRef<ChildReply> }
  | { readonly type: 'delete-child'; readonly child: ChildKey; readonly replyTo: ActorRef<ChildReply> }
  | { readonly type: 'find-child'; readonly child: ChildKey; readonly replyTo: ActorRef<ChildReply> }
  | { readonly type: 'children'; readonly replyTo: ActorRef<readonly ChildInfo[]> }
  | { readonly type: 'count'; readonly replyTo: ActorRef<ChildCount> }

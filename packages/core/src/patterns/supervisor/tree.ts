// The state of one supervisor, as its decisions see it: who is where, what is under way, what was counted. No refs, no
// cells, no clock. Owned by one supervisor and updated in place: it may have 100,000 children, and no event may cost
// more than the children it concerns.

import type { Backoff } from '../../values/policy.ts'
import type { ExitReason } from '../../values/signals.ts'
import type { RestartType } from './child-spec.ts'
import type { CountedRestart, RefusalReason } from './errors.ts'
import type { Strategy } from './scope.ts'

/** Whether the end of significant children ends the supervisor. */
export type AutoShutdown = 'never' | 'any-significant' | 'all-significant'

/** What decisions need to know of a child. */
export interface ChildFacts {
  readonly name: string | undefined
  readonly restart: RestartType
  readonly shutdown: number | 'kill' | 'infinity'
  readonly significant: boolean
  readonly needs: readonly string[]
  /** Those of them whose refs it holds. */
  readonly siblings: readonly { readonly name: string | undefined }[]
  readonly backoff: Backoff | undefined
}

/**
 * Where a child is. absent: no actor; failed: its actor failed and waits for a decision; holding, held: its incarnation
 * is ending, has ended, and the actor waits for the next.
 */
export type Standing = 'absent' | 'starting' | 'running' | 'failed' | 'holding' | 'held' | 'stopping'

/** How a child ended that was not asked to. */
export interface Exit {
  readonly reason: ExitReason
  readonly cause: unknown
}

export interface Member {
  readonly id: number
  readonly facts: ChildFacts
  standing: Standing
  /** The operation it takes part in; at most one. */
  operation: Operation | undefined
  /** An end that could not be answered yet, because it would touch an operation under way. */
  exit: Exit | undefined
  /** What its actor failed with, while it is `failed`. */
  cause: unknown
  /** Restarts it caused without a quiet period between; drives the backoff. */
  attempt: number
  runningSince: number | undefined
  restarts: number
  /** Which of its lives this is: a new actor is a new life, a restart in place is not. */
  life: number
  /** The lives of siblings whose refs it holds, by their ids. */
  held: ReadonlyMap<number, number> | undefined
}

/** Something that takes time: first its `rest` come to rest, one after the other, then its `start` come up, one after the other. */
export interface Operation {
  readonly id: number
  readonly kind: 'boot' | 'start' | 'restart' | 'stop'
  step: 'resting' | 'waiting' | 'starting'
  readonly members: Set<Member>
  /** Whom to bring to rest; the last one is next. */
  rest: Member[]
  /** Whom to start; the last one is next. */
  start: Member[]
  /** When a restart may begin to start. */
  readonly until: number
  /** Why a restart came about. */
  readonly cause: unknown
  /** Who asked for it and wants to know. */
  readonly request: number | undefined
  /** The start that was asked for failed with this, and is being cleared away. */
  failure: { readonly cause: unknown } | undefined
  /** Whether a child whose first start fails is taken off the books. */
  readonly discard: boolean
}

/** Why all children are being stopped. */
export interface Closing {
  /** What follows: the supervisor's own stop, its failure, or the failure of its start. */
  purpose: { readonly type: 'stop' } | { readonly type: 'fail' | 'boot-failed'; readonly cause: unknown }
  /** Whom to stop; the last one is next. */
  readonly rest: Member[]
  /** How many are still there. */
  alive: number
}

export interface Tree {
  readonly path: string
  readonly strategy: Strategy
  readonly intensity: number
  readonly period: number
  readonly autoShutdown: AutoShutdown
  readonly random: () => number
  /** In start order. */
  readonly members: Map<number, Member>
  readonly names: Map<string, Member>
  readonly operations: Set<Operation>
  /** Whether there is, or was, a child that holds refs of others. */
  holders: boolean
  /** Children that came back as new actors, while there may be somebody who holds the ref of the old one. */
  readonly replaced: Set<Member>
  /** Ends and requests that wait for an operation. */
  later: Later[]
  counted: CountedRestart[]
  closing: Closing | undefined
  /** The supervisor is about to be stopped, because of a significant child or with its system: no restarts any more. */
  leaving: boolean
  serial: number
}

export type Later = { readonly type: 'exit'; readonly member: Member } | { readonly type: 'stop'; readonly request: number; readonly member: Member }

/** What happened, or is asked for. */
export type Event =
  | { readonly type: 'boot' }
  | { readonly type: 'started'; readonly id: number }
  | { readonly type: 'failed'; readonly id: number; readonly cause: unknown }
  | { readonly type: 'held'; readonly id: number }
  | { readonly type: 'ended'; readonly id: number; readonly reason: ExitReason; readonly cause: unknown }
  | { readonly type: 'due'; readonly operation: Operation }
  | { readonly type: 'start'; readonly request: number; readonly facts: ChildFacts }
  | { readonly type: 'restart' | 'stop' | 'delete'; readonly request: number; readonly id: number | undefined }
  | { readonly type: 'close' }

/** What became of a request. */
export type Outcome = { readonly ok: true } | Refusal

export interface Refusal {
  readonly ok: false
  readonly reason: RefusalReason
  /** Which names it is about: who needs the child, or what is unknown. */
  readonly names?: readonly string[]
  /** Why the start failed. */
  readonly cause?: unknown
}

/** What is to be done. */
export type Effect =
  | { readonly type: 'spawn' | 'relaunch' | 'forget'; readonly id: number }
  /** The child that a request wants to have started is on the books, as `id`. */
  | { readonly type: 'joined'; readonly id: number; readonly request: number }
  | { readonly type: 'hold'; readonly id: number; readonly cause: unknown }
  | { readonly type: 'stop'; readonly id: number; readonly reason: ExitReason; readonly cause: unknown }
  | { readonly type: 'wait'; readonly operation: Operation }
  | { readonly type: 'unwait'; readonly operation: Operation }
  | { readonly type: 'answer'; readonly request: number; readonly outcome: Outcome }
  | { readonly type: 'restarting' | 'gave-up'; readonly child: string; readonly cause: unknown }
  | { readonly type: 'booted' | 'closed' | 'leave' }
  | { readonly type: 'fail' | 'boot-failed'; readonly cause: unknown }

export interface TreeOptions extends Pick<Tree, 'path' | 'strategy' | 'intensity' | 'period' | 'autoShutdown' | 'random'> {
  /** In start order. */
  readonly children: readonly ChildFacts[]
}

export function makeTree(options: TreeOptions): Tree {
  const { path, strategy, intensity, period, autoShutdown, random } = options
  const tree: Tree = {
    path,
    strategy,
    intensity,
    period,
    autoShutdown,
    random,
    members: new Map(),
    names: new Map(),
    operations: new Set(),
    holders: false,
    replaced: new Set(),
    later: [],
    counted: [],
    closing: undefined,
    leaving: false,
    serial: 0,
  }
  for (const facts of options.children) join(tree, facts)
  return tree
}

export function join(tree: Tree, facts: ChildFacts): Member {
  const member: Member = {
    id: ++tree.serial,
    facts,
    standing: 'absent',
    operation: undefined,
    exit: undefined,
    cause: undefined,
    attempt: 0,
    runningSince: undefined,
    restarts: 0,
    life: 0,
    held: undefined,
  }
  tree.members.set(member.id, member)
  if (facts.siblings.length > 0) tree.holders = true
  if (facts.name !== undefined) tree.names.set(facts.name, member)
  return member
}

export function leave(tree: Tree, member: Member): void {
  tree.members.delete(member.id)
  tree.replaced.delete(member)
  if (member.facts.name !== undefined) tree.names.delete(member.facts.name)
}

/** What a user calls a child: its name, or its number where it has none. */
export function labelOf(member: Member): string {
  return member.facts.name ?? `child ${member.id}`
}

/** Where a child is, in the words that users see. */
export type ChildStatus = 'starting' | 'running' | 'restarting' | 'stopping' | 'stopped'

export function statusOf(tree: Tree, member: Member): ChildStatus {
  if (tree.closing !== undefined) return member.standing === 'absent' ? 'stopped' : 'stopping'
  const kind = member.operation?.kind
  if (kind === 'stop') return 'stopping'
  if (kind === 'restart') return member.standing === 'running' ? 'running' : 'restarting'
  if (member.exit !== undefined) return 'restarting'
  switch (member.standing) {
    case 'absent':
      return 'stopped'
    case 'starting':
      return kind === undefined ? 'restarting' : 'starting'
    case 'running':
    case 'stopping':
      return member.standing
    default:
      return 'restarting'
  }
}

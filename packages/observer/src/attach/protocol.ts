// What is said over the socket. A request is a line `{ id, op, … }`; its answer has the same id. A watch is answered again and again until
// it is ended, or the connection is. Only looking is possible: nothing here changes the system.

import type { SystemMetrics } from '@troupe/core'
import type { Finding } from '../findings/finding.ts'
import type { SeenEvent } from '../findings/frame.ts'
import type { ActorDetail } from '../source/detail.ts'
import type { SeenFailure, SeenLetter } from '../source/source.ts'
import type { Capsule } from '../capsule/capsule.ts'
import type { NoCapsule } from '../capsule/capsule-of.ts'
import type { FlowEdge, ProfileNews } from '../feed/news.ts'
import type { Span, Trace } from '../sampling/span.ts'
import type { TopRow } from './ranking.ts'
import type { TreeNode } from './tree.ts'
import type { Wait } from '@troupe/core/internal'

/** What can be asked, with what; and what comes back. */
export interface Operations {
  hello: { readonly takes: object; readonly gives: Hello }
  inspect: { readonly takes: { readonly path: string }; readonly gives: ActorDetail | null }
  /** Paths that may have been meant, where there is no actor of a path; the likeliest first. */
  near: { readonly takes: { readonly path: string }; readonly gives: readonly string[] }
  tree: { readonly takes: { readonly path?: string; readonly depth?: number; readonly most?: number }; readonly gives: TreeNode | null }
  waits: { readonly takes: object; readonly gives: readonly Wait[] }
  dead: { readonly takes: { readonly limit?: number }; readonly gives: { readonly count: number; readonly letters: readonly SeenLetter[] } }
  failures: { readonly takes: { readonly limit?: number }; readonly gives: { readonly count: number; readonly failures: readonly SeenFailure[] } }
  traces: { readonly takes: object; readonly gives: readonly Trace[] }
  /** The number of the trace of the next message of a type, once it was sent; only while a watch wants traces. */
  traceNext: { readonly takes: { readonly type: string }; readonly gives: number }
  trace: { readonly takes: { readonly trace: number }; readonly gives: NamedTrace | null }
  /** Of the last failure at a path, where the system records. */
  capsule: { readonly takes: { readonly path: string }; readonly gives: Capsule | NoCapsule }
  /** What the thread that made the system does for so many milliseconds, by whose turn it is. It costs that thread a few percent meanwhile. */
  profile: { readonly takes: { readonly ms?: number }; readonly gives: ProfileNews }
  /** Answered once a round. */
  watch: { readonly takes: WatchWishes; readonly gives: Watched }
  /** Ends a watch by the id it was asked with. */
  end: { readonly takes: { readonly watch: number }; readonly gives: null }
}

/** What can be asked. */
export type Operation = keyof Operations

/** Who it is that answers. */
export interface Hello {
  readonly protocol: 1
  readonly system: string
  readonly pid: number
  readonly at: number
  readonly metrics: SystemMetrics
}

/** What a watch is to tell. */
export interface WatchWishes {
  /** How many actors, and by what the first of them are chosen; none if 0. */
  readonly rows?: number | undefined
  readonly by?: 'trouble' | 'queued' | 'busy' | 'rate' | undefined
  readonly traces?: boolean | undefined
  /** Who sends how much to whom. */
  readonly flow?: boolean | undefined
}

/** A message of a trace, with what both ends are called. */
export type NamedSpan = Span & { readonly fromName: string; readonly toName: string }

/** A trace with the names of its actors. */
export interface NamedTrace extends Omit<Trace, 'spans'> {
  readonly spans: readonly NamedSpan[]
}

/** What a watch is told each round. */
export interface Watched {
  readonly seq: number
  readonly at: number
  readonly actors: number
  readonly queued: number
  readonly messagesPerSecond: number
  readonly metrics: SystemMetrics
  readonly rows: readonly TopRow[]
  readonly findings: readonly Finding[]
  readonly events: readonly SeenEvent[]
  readonly lost: number
  /** Milliseconds of the last second that looking took. */
  readonly spent: number
  /** Threads that did not answer. */
  readonly silent: readonly number[]
  /** Rounds that were left out before this one, because the client did not read. */
  readonly skipped: number
  /** About how many messages a second went from which kind to which, over the last few rounds; undefined unless it was wanted. */
  readonly flow: readonly FlowEdge[] | undefined
}

export interface Request {
  readonly id: number
  readonly op: Operation
  readonly [field: string]: unknown
}

export type Response =
  | { readonly id: number; readonly ok: true; readonly result: unknown }
  | { readonly id: number | null; readonly ok: false; readonly error: { readonly code: string; readonly message: string } }

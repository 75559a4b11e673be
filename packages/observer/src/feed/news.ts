// What is told to a page, as plain data: once when it begins, and once a round. Words and numbers only; no message, no cause, no ref.

import type { LedgerReport } from '@troupe/core'
import type { Finding } from '../findings/finding.ts'
import type { SeenEvent } from '../findings/frame.ts'
import type { Wait } from '@troupe/core/internal'
import type { PagePart } from './parts.ts'

export const views = ['overview', 'actors', 'failures', 'waits', 'flow', 'traces', 'runtime', 'own'] as const
export type View = (typeof views)[number]

/** The first frame of a stream. */
export interface Hello {
  readonly system: string
  readonly pid: number
  readonly node: string
  /** Whether actors can be stopped from the page. */
  readonly control: boolean
  /** The time of day, in milliseconds, at which the system's clock showed 0. */
  readonly clockZero: number
  /** What the pages are called that somebody made for this system. */
  readonly pages: readonly string[]
}

/** What of the system's figures a page shows. Counts since the system began. */
export interface Figures {
  readonly actors: number
  readonly sent: number
  readonly handled: number
  readonly failed: number
  readonly dropped: number
  readonly deadLettered: number
  readonly restarts: number
  readonly timers: number
  /** Messages in all mailboxes now. */
  readonly queued: number
  /** Handlers whose promise has not settled. */
  readonly pending: number
}

/** How the process is. */
export interface HostNews {
  /** Milliseconds by which the event loop was late, since the last round. */
  readonly delayP99: number
  readonly delayMax: number
  readonly gcMs: number
  readonly gcCount: number
  readonly heapUsed: number
  readonly heapLimit: number
  readonly rss: number
  /** Share of one core that the process used since the last round. */
  readonly cpu: number
}

export interface ThreadNews {
  /** -1 is the one that made the system. */
  readonly thread: number
  readonly actors: number
  readonly queued: number
  /** Milliseconds of turns in a second. */
  readonly load: number
  readonly rate: number
  /** It did not answer: of its actors nothing new is known. */
  readonly silent: boolean
}

export interface DispatcherNews {
  readonly name: string
  readonly turns: number
  readonly messages: number
  readonly messagesPerTurn: number
  readonly fairness: number
  readonly pressure: number
  readonly latencyP99: number
}

export interface RuntimeNews {
  readonly threads: readonly ThreadNews[]
  readonly dispatchers: readonly DispatcherNews[]
  /** Held the loop lately, the longest first. */
  readonly slow: readonly {
    readonly path: string
    readonly uid: number | undefined
    readonly times: number
    readonly longest: number
    readonly message: string | undefined
  }[]
  /** What a cluster and journals tell of themselves, where there are any. */
  readonly others: readonly PagePart[]
}

/** Times that a function and all that it called took; on the first level it is a kind of actors. */
export interface FlameNode {
  readonly name: string
  readonly place: string
  readonly ms: number
  readonly below: readonly FlameNode[]
}
/** What the thread did for a while, by whose turn it was. */
export interface ProfileNews {
  /** Milliseconds of it all, and of those in which the thread had nothing to do. */
  readonly ms: number
  readonly idle: number
  readonly samples: number
  /** There were more turns than were kept. */
  readonly cut: boolean
  /** Those whose turns took longest, the longest first. */
  readonly actors: readonly { readonly path: string; readonly kind: string; readonly ms: number }[]
  readonly flame: FlameNode
}

/** How times are spread: each bar is of times up to twice as long as those of the one before; the first ends at `from`. */
export interface HistogramNews {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly from: number
  readonly bars: readonly number[]
}
/** What an actor was given; `text` only where payloads may be shown. */
export interface GivenNews {
  readonly what: 'message' | 'signal' | 'answer' | 'phase'
  readonly at: number
  readonly type: string
  readonly sender: string | undefined
  readonly text: string | undefined
}
export interface PartnerNews {
  readonly who: string
  readonly uid: number | undefined
  readonly type: string
  readonly rate: number
}
/** What is known of an actor because it is looked at closely. */
export interface CloseNews {
  /** Milliseconds for which it has been. */
  readonly since: number
  readonly senders: readonly PartnerNews[]
  readonly receivers: readonly PartnerNews[]
  readonly queueTime: HistogramNews
  readonly handlerTime: HistogramNews
  readonly last: readonly GivenNews[]
  readonly payloads: boolean
}

/** What goes from one kind of actors to another. */
export interface FlowEdge {
  readonly from: string
  readonly to: string
  /** The type that went most often, and how many others. */
  readonly type: string
  readonly otherTypes: number
  /** Messages in a second. */
  readonly rate: number
}
export interface FlowNode {
  readonly kind: string
  readonly actors: number
  readonly queued: number
}
export interface FlowNews {
  readonly nodes: readonly FlowNode[]
  readonly edges: readonly FlowEdge[]
  /** Kinds beyond those that are shown. */
  readonly leftOut: number
}

export interface RoundNews {
  readonly seq: number
  readonly at: number
  readonly figures: Figures
  readonly host: HostNews
  readonly findings: readonly Finding[]
  readonly events: readonly SeenEvent[]
  /** Events that this stream did not carry, because there were too many. */
  readonly eventsLeftOut: number
  /** Observations that were lost in the system since the last round. */
  readonly lost: number
  /** Rounds that this stream left out before this one, because the page did not read. */
  readonly skipped: number
  /** Milliseconds of the system's time for this round. */
  readonly spent: number
  /** For how many milliseconds nothing new is known of single actors: where there are many they are looked at more rarely. */
  readonly age: number
  /** One of so many sends is looked at; 0: none is. */
  readonly sampling: number
  /** Threads that did not answer: of their actors nothing new is known. */
  readonly silent: readonly number[]
  /** Where it was counted. */
  readonly ledger?: LedgerReport | undefined
  readonly waits?: readonly Wait[] | undefined
  readonly waitsLeftOut?: number | undefined
  readonly flow?: FlowNews | undefined
  readonly runtime?: RuntimeNews | undefined
}

/** What a page asks for once; each goes to `/api/<name>`. */
export interface LinesWish {
  readonly mode: 'tree' | 'flat'
  readonly sort: SortKey
  readonly filter: string
  readonly offset: number
  readonly count: number
  /** Whose children are shown although they are not at first, and whose are not although they are. */
  readonly opened: readonly number[]
  readonly closed: readonly number[]
  /** Whose children are all shown. */
  readonly full: readonly number[]
}
export const sortKeys = ['trouble', 'queued', 'rate', 'load', 'restarts'] as const
export type SortKey = (typeof sortKeys)[number]

/** An actor in a list. */
export interface Line {
  readonly uid: number
  readonly path: string
  readonly name: string
  readonly kind: string
  readonly label: string | undefined
  readonly phase: string
  readonly state: number
  readonly queued: number
  readonly stashed: number
  readonly restarts: number
  readonly rate: number
  readonly load: number
  readonly pendingMs: number | undefined
  readonly thread: number
  readonly depth: number
  readonly children: number
  readonly open: boolean
  /** It stands for siblings that are not shown. */
  readonly more?: { readonly parent: number; readonly actors: number; readonly queued: number; readonly restarts: number } | undefined
}
export interface Lines {
  readonly total: number
  readonly offset: number
  readonly lines: readonly Line[]
  /** Actors in all, whether they match or not. */
  readonly actors: number
}

// What can be seen of a journal while a system uses it, as plain data.

/** What one journal of a system does at this moment. */
export interface JournalSurvey {
  /** What errors and logs call it, such as `sqlite(./data/shop.db)`. */
  readonly name: string
  /** What it is: `sqlite`, `postgres`, `memory`, or what a journal of somebody else calls itself; `other` where it does not. */
  readonly kind: string
  /** Its file, or server, database and schema, without a password; undefined where it is nowhere. */
  readonly place: string | undefined
  /** What of it the system owns, and since which epoch; that is undefined until it is opened. */
  readonly scope: string
  readonly epoch: number | undefined
  /** How many further parts of it the system owns, as shards of a cluster. */
  readonly parts: number
  /** `opening`: also while it cannot be opened; `raising`: an outcome was not known, and nothing is read or written until the epoch is raised; `lost`: another system took it over. */
  readonly phase: 'opening' | 'open' | 'raising' | 'lost' | 'closed'
  readonly whenAway: 'reject' | 'wait'
  /** What the journal last said against opening, or against a whole group; undefined since it last did what it was asked for. */
  readonly trouble: string | undefined
  /** What an operator should know though the journal works, such as a log that only grows. */
  readonly warning: string | undefined
  /** Persistent actors that are there, or still finish something. */
  readonly actors: number
  /** Records of the group that is being committed; each is of one actor. */
  readonly writing: number
  /** For how many milliseconds the journal has had that group; 0 where there is none. */
  readonly writingFor: number
  /** Actors that have something for the group after it. */
  readonly queued: number
  /** Groups that those will be, as large as the journal takes them. */
  readonly queuedGroups: number
  readonly commits: {
    /** Since the system began. */
    readonly groups: number
    readonly records: number
    readonly events: number
    /** Groups of which nothing was stored. */
    readonly failed: number
    /** Of the last 256 groups, in milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number; readonly max: number; readonly last: number }
  }
  /** Readers of events that cannot go on: for how many milliseconds, and why; undefined if there are none. */
  readonly heldBack: { readonly for: number; readonly why: string } | undefined
  readonly recoveries: {
    /** Actors that wait for a permit. */
    readonly waiting: number
    /** Reads under way, of up to 256 actors each, and how many may be. */
    readonly reading: number
    readonly permits: number
    /** Since the system began. */
    readonly done: number
    readonly failed: number
  }
  /** Projections that have not handled events which would be deleted otherwise, by those of most events first. */
  readonly retention: readonly {
    readonly projection: string
    /** Of how many actors, and how many events. */
    readonly actors: number
    readonly events: number
    /** Milliseconds. */
    readonly heldFor: number
  }[]
  readonly circuit: {
    /** `open`: the journal refused so many groups that it is given a pause. */
    readonly state: 'closed' | 'open'
    /** Groups that were refused in a row. */
    readonly refused: number
    /** Milliseconds until it is tried again; 0 where it is not open. */
    readonly retryIn: number
  }
}

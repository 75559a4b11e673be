// What the thread of the actors and the worker that writes send each other. Plain data, copied between threads.

/** A run of events, encoded. */
export interface RunRow {
  readonly id: string
  readonly first: number
  readonly last: number
  readonly head: string
  readonly data: string
  /** Left out if it has none, as most. */
  readonly tags?: readonly string[]
}
/** A state, encoded. */
export interface StateRow {
  readonly id: string
  readonly expected: number
  readonly revision: number
  readonly version: number
  readonly data: string | null
  readonly subject: string | null
  readonly time: number
}
/** A change of a timer; without `due` it is removed. */
export type TimerRow = readonly [key: string, due: number | null]

/** One write of a group. */
export interface WriteRow {
  readonly scope: string
  readonly epoch: number
  readonly run?: RunRow
  readonly state?: StateRow
  readonly timers?: readonly TimerRow[]
}

export interface SnapshotRow {
  readonly id: string
  readonly seq: number
  readonly version: number
  readonly data: string
  readonly time: number
}

interface Owned {
  readonly scope: string
  readonly epoch: number
}

/** What a worker is asked to do. */
export type WorkerRequest =
  | { readonly type: 'open' }
  | { readonly type: 'append'; readonly writes: readonly WriteRow[] }
  | ({ readonly type: 'saveSnapshot'; readonly snapshot: SnapshotRow } & Owned)
  | ({ readonly type: 'deleteSnapshots'; readonly id: string; readonly upTo: number } & Owned)
  | ({ readonly type: 'deleteEvents'; readonly id: string; readonly upTo: number } & Owned)
  | { readonly type: 'raiseEpoch'; readonly scope: string; readonly epoch: number; readonly holder: string }
  | { readonly type: 'advance'; readonly projection: string; readonly from: string | null; readonly to: string }
  | { readonly type: 'removePlaces'; readonly projections: readonly string[] }
  | { readonly type: 'beginImport' }
  | { readonly type: 'import'; readonly batch: ImportBatch }
  | { readonly type: 'endImport'; readonly keep: boolean }
  | { readonly type: 'verify' }
  /** A copy of all rows as they are now, in a new file. */
  | { readonly type: 'copy'; readonly to: string }
  | { readonly type: 'close' }

/** Records of another journal, encoded. */
export interface ImportBatch {
  readonly heads: readonly { readonly id: string; readonly deleted: number }[]
  readonly runs: readonly (readonly RunRow[])[]
  readonly states: readonly StateRow[]
  readonly snapshots: readonly SnapshotRow[]
  readonly timers: readonly { readonly id: string; readonly key: string; readonly due: number }[]
  readonly places: readonly { readonly projection: string; readonly id: string; readonly seq: number }[]
}

/** How one write ended, as the worker knows it. */
export type RowOutcome = 'stored' | 'fenced' | 'conflict' | WorkerFailure

/** What went wrong, as plain data. */
export interface WorkerFailure {
  readonly type:
    | 'damaged'
    /** The journal cannot be used as it is. */
    | 'refused'
    /** It cannot be reached or written now. */
    | 'unavailable'
    | 'fence-lost'
    /** The caller is at fault, such as an import that does not add up. */
    | 'rejected'
  readonly problem: string
  /** Table or file, and record, of a damage. */
  readonly where?: string
  /** Of a lost fence: the epoch that holds. */
  readonly epoch?: number
  /** Whether what was written may be stored nevertheless. */
  readonly unknown?: true
  /** Of SQLite, for logs. */
  readonly code?: number
}

export interface WorkerReply {
  readonly request: number
  readonly value?: unknown
  readonly failure?: WorkerFailure
}

/** What a worker says without being asked: what an operator should know of the file, or that this is over. */
export interface WorkerNotice {
  readonly warning: string | undefined
}

/** What a worker is started with. */
export interface WorkerStart {
  readonly path: string
  readonly synchronous: 'full' | 'normal'
  readonly session: string
  /** One number, see `sqlite-worker-handle.ts`. */
  readonly guard: SharedArrayBuffer
}

/** What opening found. */
export interface OpenedFile {
  readonly identity: string
  readonly sqlite: string
}

/** What the worker says of a file that is damaged. */
export interface FoundDamage {
  readonly where: string
  readonly id: string | undefined
  readonly seq: number | undefined
  readonly problem: string
}
export interface VerifiedRows {
  readonly ids: number
  readonly events: number
  readonly snapshots: number
  readonly damages: readonly FoundDamage[]
}

// What those are told who look on: one update a round.

import type { Finding } from '../findings/finding.ts'
import type { Frame } from '../findings/frame.ts'
import type { SpanListener } from '../sampling/listener.ts'
import type { Flow } from '../sampling/span.ts'

/** What a round found, for everybody who looks. */
export interface Update extends Frame {
  /** Counts from 1 on; whoever finds a gap has missed one, and asks for everything. */
  readonly seq: number
  /** The worst first; those that are muted are left out. */
  readonly findings: readonly Finding[]
  /** About how many messages went from whom to whom since the last update. Empty unless somebody wants it. */
  readonly flow: readonly Flow[]
  /** One of so many sends was looked at. */
  readonly sampling: number
  /** Observations that were lost since the last update, because there were too many. */
  readonly lost: number
  /** Questions under way beyond those in `waits`. */
  readonly waitsLeftOut: number
  /** Milliseconds of the system's time that it took. */
  readonly spent: number
}

/** What somebody who looks on wants besides surveys and findings. */
export interface Wishes {
  readonly flow?: boolean | undefined
  readonly traces?: boolean | undefined
  /** Hears of each message that is followed, while it happens; with `traces`. */
  readonly spans?: SpanListener | undefined
}

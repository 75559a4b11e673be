// What can go wrong between threads. Each says what was tried, where, and what to do about it.

import { TroupeError } from '@troupe/core'

/** The thread of an actor is gone, and the actor's state with it; its supervisor decides. */
export class ThreadLost extends TroupeError {
  readonly code = 'thread-lost'
  readonly thread: number
  /** `exit`, `error`, `out-of-memory`, `hung`, `bad-record`, `terminated`. */
  readonly why: string
  constructor(thread: number, why: string, detail: string, cause?: unknown) {
    super(
      `Thread ${thread} was lost (${why}): ${detail}. Its actors fail with this, and their supervisors decide.`,
      cause === undefined ? undefined : { cause },
    )
    this.thread = thread
    this.why = why
  }
}

/** A task was given up before it had a result. */
export class TaskCancelled extends TroupeError {
  readonly code = 'task-cancelled'
}

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

/** A message holds something that no other thread can have; `path` says where. */
export class NotTransferable extends TroupeError {
  readonly code = 'not-transferable'
  readonly path: readonly (string | number)[]
  readonly what: string
  constructor(path: readonly (string | number)[], what: string, subject = 'The message') {
    super(
      `${subject} cannot go to another thread: ${path.length === 0 ? 'it' : `its field ${showPath(path)}`} is a ${what}. Send plain data and refs.`,
    )
    this.path = path
    this.what = what
  }
}

function showPath(path: readonly (string | number)[]): string {
  return path.map((key, i) => (typeof key === 'number' ? `[${key}]` : i === 0 ? key : `.${key}`)).join('')
}

/** An actor or task cannot run on a thread, because its code cannot be found there. */
export class NotOnThread extends TroupeError {
  readonly code = 'not-on-thread'
}

/** A task was given up before it had a result. */
export class TaskCancelled extends TroupeError {
  readonly code = 'task-cancelled'
}

/** What came from another thread is no record of Troupe, or cannot be read: that thread is ended. */
export class BadRecord extends TroupeError {
  readonly code = 'bad-record'
  constructor(what: string, cause?: unknown) {
    super(
      `What came from another thread cannot be read: ${what}. The thread that sent it is ended; this is a bug of Troupe, or of what writes into its memory.`,
      cause === undefined ? undefined : { cause },
    )
  }
}

// What can go wrong where actors of several places meet. Each says what was tried, where, and what to do about it.

import { TroupeError } from '@troupe/core'

/** A message holds something that no other thread can have; `path` says where. */
export class NotTransferable extends TroupeError {
  readonly code = 'not-transferable'
  readonly path: readonly (string | number)[]
  readonly what: string
  constructor(path: readonly (string | number)[], what: string, subject = 'The message', to = 'thread', remedy = 'Send plain data and refs.') {
    super(`${subject} cannot go to another ${to}: ${path.length === 0 ? 'it' : `its field ${showPath(path)}`} is a ${what}. ${remedy}`)
    this.path = path
    this.what = what
  }
}

export function showPath(path: readonly (string | number)[]): string {
  return path.map((key, i) => (typeof key === 'number' ? `[${key}]` : i === 0 ? key : `.${key}`)).join('')
}

/** An actor or task cannot run on a thread, because its code cannot be found there. */
export class NotOnThread extends TroupeError {
  readonly code = 'not-on-thread'
}

/** What came from another thread is not a record of Troupe, or cannot be read: that thread is ended. */
export class BadRecord extends TroupeError {
  readonly code = 'bad-record'
  constructor(what: string, cause?: unknown) {
    super(
      `What came from another thread cannot be read: ${what}. The thread that sent it is ended; this is a bug of Troupe, or of what writes into its memory.`,
      cause === undefined ? undefined : { cause },
    )
  }
}

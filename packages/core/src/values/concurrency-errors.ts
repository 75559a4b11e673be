// The errors of channels, task groups, timeouts and retries.

import { clauseOf, messageOf, TroupeError } from './errors.ts'

/** The channel takes nothing any more. */
export class ChannelClosed extends TroupeError {
  readonly code = 'channel-closed'
  constructor() {
    super('Cannot send: the channel is closed. Close it after the last send, from one place.')
  }
}

/** Something took longer than it was given. */
export class TimedOut extends TroupeError {
  readonly code = 'timed-out'
  readonly ms: number
  constructor(ms: number) {
    super(`Not done within ${ms} ms. Allow more time, or give timeout a function and let its signal end the work.`)
    this.ms = ms
  }
}

/** Tasks of a group failed; `cause` is the first failure, `errors` are all of them, in order. */
export class TasksFailed extends TroupeError {
  readonly code = 'tasks-failed'
  readonly errors: readonly unknown[]
  constructor(errors: readonly unknown[]) {
    const more = errors.length === 1 ? '' : `, and ${errors.length - 1} more after it`
    super(`A task failed: ${clauseOf(errors[0])}${more}. The others were cancelled.`, { cause: errors[0] })
    this.errors = errors
  }
}

/** Every attempt failed; `cause` is the last failure, `errors` are all of them, in order. */
export class RetriesExhausted extends TroupeError {
  readonly code = 'retries-exhausted'
  readonly errors: readonly unknown[]
  constructor(errors: readonly unknown[]) {
    super(`All ${errors.length} attempts failed, the last with: ${messageOf(errors.at(-1))}`, { cause: errors.at(-1) })
    this.errors = errors
  }
}

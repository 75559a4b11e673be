// The error that users throw to tell the supervisor what kind of failure it is.

import { any, checkFinite, checkObject, checkOneOf, checkPart, checkWhole, readOptions, type Table } from './checks.ts'
import { InvalidOption, show } from './errors.ts'

/** transient: worth another try; permanent: never going to work; fatal: stop, whatever the policy says. */
export type FailureKind = 'transient' | 'permanent' | 'fatal'

/** How loudly a failure is logged. */
export type Severity = 'info' | 'warn' | 'error'

/** What an `ActorError` may say about itself. */
export interface ActorErrorOptions {
  /** `transient` is restarted, `permanent` and `fatal` stop the actor, where no `decide` says otherwise; `transient` if left out. */
  readonly kind?: FailureKind | undefined
  /** How it is logged; `error` if left out. */
  readonly severity?: Severity | undefined
  /** What the list of failures and the log show beside it; none if left out. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** Overrides the policy's limit for failures of this error. */
  readonly retry?: { readonly max: number; readonly within: number } | undefined
  /** The error that led to this one; none if left out. */
  readonly cause?: unknown
}

const retryTable: Table<ActorErrorOptions['retry'] & object> = { max: [checkWhole, 0, true], within: [checkFinite, 'above', true] }
const table: Table<ActorErrorOptions> = {
  kind: [checkOneOf, ['transient', 'permanent', 'fatal']],
  severity: [checkOneOf, ['info', 'warn', 'error']],
  labels: checkObject,
  retry: [checkPart, retryTable],
  cause: any,
}

/**
 * A failure that says how it wants to be treated. Without a `decide` of the policy: transient restarts, permanent and
 * fatal stop; a fatal one is never restarted nor resumed, whatever `decide` says.
 *
 * Fails at construction with `InvalidOption` when `retry` is given to a fatal one, or is not positive.
 *
 * @example
 * throw new ActorError('bad card', { kind: 'permanent', labels: { shop: '7' } })
 */
export class ActorError extends Error {
  readonly code = 'actor-error'
  declare readonly kind: FailureKind
  declare readonly severity: Severity
  declare readonly labels: Readonly<Record<string, string>>
  declare readonly retry: { readonly max: number; readonly within: number } | undefined
  constructor(message: string, options: ActorErrorOptions = {}) {
    const read = readOptions('ActorError', options, table)
    const { kind = 'transient', severity = 'error', labels = {}, retry } = read
    if (retry !== undefined && kind === 'fatal') throw new InvalidOption('retry', retry, 'a fatal error is never retried; leave it out')
    super(typeof message === 'string' ? message : show(message), 'cause' in read ? { cause: read.cause } : undefined)
    this.kind = kind
    this.severity = severity
    this.labels = labels
    this.retry = retry
  }
  override get name(): string {
    return 'ActorError'
  }
}

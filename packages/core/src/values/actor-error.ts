// The error that users throw to tell the supervisor what kind of failure it is.

import { InvalidOption } from './errors.ts'

/** transient: worth another try; permanent: never going to work; fatal: stop, whatever the policy says. */
export type FailureKind = 'transient' | 'permanent' | 'fatal'

/** How loudly a failure is logged. */
export type Severity = 'info' | 'warn' | 'error'

/** What an `ActorError` may say about itself. */
export interface ActorErrorOptions {
  readonly kind?: FailureKind
  readonly severity?: Severity
  readonly labels?: Readonly<Record<string, string>>
  /** Overrides the policy's limit for failures of this error. */
  readonly retry?: { readonly max: number; readonly within: number }
  readonly cause?: unknown
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
  readonly kind: FailureKind
  readonly severity: Severity
  readonly labels: Readonly<Record<string, string>>
  readonly retry: { readonly max: number; readonly within: number } | undefined
  constructor(message: string, options: ActorErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    const { kind = 'transient', severity = 'error', labels = {}, retry } = options
    if (kind !== 'transient' && kind !== 'permanent' && kind !== 'fatal')
      throw new InvalidOption('kind', kind, "use 'transient', 'permanent' or 'fatal'")
    if (severity !== 'info' && severity !== 'warn' && severity !== 'error')
      throw new InvalidOption('severity', severity, "use 'info', 'warn' or 'error'")
    if (retry !== undefined) {
      if (kind === 'fatal') throw new InvalidOption('retry', retry, 'a fatal error is never retried; leave it out')
      if (!Number.isInteger(retry.max) || retry.max < 0) throw new InvalidOption('retry.max', retry.max, 'use a whole number of at least 0')
      if (!(retry.within > 0) || retry.within === Infinity) throw new InvalidOption('retry.within', retry.within, 'use finite milliseconds above 0')
    }
    this.kind = kind
    this.severity = severity
    this.labels = labels
    this.retry = retry
  }
  override get name(): string {
    return 'ActorError'
  }
}

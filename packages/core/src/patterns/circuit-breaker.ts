// Stops calling what keeps failing, so that callers fail fast and it can recover. Time is the system's.
//
//   closed ──(maxFailures in a row)──→ open ──(resetTimeout)──→ half-open ──(success)──→ closed
//                                        ↑──────────(failure)──────┘

import { makeAbortSource } from '../ports/host.ts'
import type { Deadline } from '../queues/timers.ts'
import type { CellHost } from '../cell/turn/host.ts'
import type { AbortSignalLike } from '../values/abort.ts'
import { checkFactor, checkFinite, checkFunction, checkString, checkWhole, readOptions, type Table } from '../values/checks.ts'
import { TroupeError } from '../values/errors.ts'
import type { SystemView } from '../values/system.ts'
import { observed } from '../values/thenable.ts'
import { hostOf } from './host-of.ts'

/** Whether calls pass, fail at once, or one may try. */
export type CircuitState = 'closed' | 'open' | 'half-open'

/** The call was not made: too many before it failed. */
export class CircuitOpen extends TroupeError {
  readonly code = 'circuit-open'
  /** Milliseconds until a call may be tried again. */
  readonly remaining: number
  constructor(name: string, remaining: number) {
    super(`Circuit ${name} is open: the call was not made. Try again in ${Math.ceil(remaining)} ms, or fall back.`)
    this.remaining = remaining
  }
}

/** The call took longer than `callTimeout`. */
export class CallTimeout extends TroupeError {
  readonly code = 'call-timeout'
  constructor(name: string, ms: number) {
    super(`A call through circuit ${name} did not settle within ${ms} ms. Its signal was aborted; raise callTimeout if it needs longer.`)
  }
}

/** When a breaker opens, and for how long. */
export interface CircuitBreakerOptions {
  /** Stands in errors; `breaker` if left out. */
  readonly name?: string | undefined
  /** Failures in a row that open it; 5 if left out. */
  readonly maxFailures?: number | undefined
  /** Milliseconds it stays open; 10,000 if left out. */
  readonly resetTimeout?: number | undefined
  /** How many times longer it stays open after each trial that failed, up to `maxResetTimeout`; 1 if left out. */
  readonly resetFactor?: number | undefined
  /** The longest it stays open, in milliseconds; 600,000 if left out. */
  readonly maxResetTimeout?: number | undefined
  /** Milliseconds after which a call counts as failed; never if left out. */
  readonly callTimeout?: number | undefined
  /** Which failures count; all if left out. */
  readonly isFailure?: ((cause: unknown) => boolean) | undefined
  /** Called after each change of state; nothing if left out. */
  readonly onChange?: ((from: CircuitState, to: CircuitState) => void) | undefined
}

const table: Table<CircuitBreakerOptions> = {
  name: checkString,
  maxFailures: [checkWhole, 1],
  resetTimeout: [checkFinite, 'above'],
  resetFactor: checkFactor,
  maxResetTimeout: [checkFinite, 'above'],
  callTimeout: [checkFinite, 'above'],
  isFailure: checkFunction,
  onChange: checkFunction,
}

/**
 * A circuit breaker around calls that return promises.
 *
 * Guarantees: when open no call is made; when half-open one at a time; a call settles once. Fails: `call` rejects with
 * `CircuitOpen`, `CallTimeout`, or what the call itself failed with.
 *
 * @example
 * const bank = new CircuitBreaker(system, { name: 'bank', maxFailures: 3, callTimeout: 500 })
 * ctx.pipeToSelf(bank.call((signal) => fetchBalance(id, signal)), ok, failed)
 */
export class CircuitBreaker {
  readonly #host: CellHost
  readonly #name: string
  readonly #maxFailures: number
  readonly #resetTimeout: number
  readonly #resetFactor: number
  readonly #maxResetTimeout: number
  readonly #callTimeout: number | undefined
  readonly #options: CircuitBreakerOptions
  #state: CircuitState = 'closed'
  #failures = 0
  /** Trials in a row that failed. */
  #trials = 0
  #openUntil = 0
  #trying = false
  /** How often the state has changed. */
  #changes = 0
  constructor(system: SystemView, options: CircuitBreakerOptions = {}) {
    this.#host = hostOf(system)
    const read = readOptions('CircuitBreaker', options, table)
    this.#options = read
    this.#name = read.name ?? 'breaker'
    this.#maxFailures = read.maxFailures ?? 5
    this.#resetTimeout = read.resetTimeout ?? 10_000
    this.#resetFactor = read.resetFactor ?? 1
    this.#maxResetTimeout = read.maxResetTimeout ?? 600_000
    this.#callTimeout = read.callTimeout
  }
  get state(): CircuitState {
    if (this.#state === 'open' && this.#host.runtime.now() >= this.#openUntil) this.#change('half-open')
    return this.#state
  }
  /** Failures in a row so far. */
  get failures(): number {
    return this.#failures
  }
  /** Makes the call, unless the circuit is open. The signal is aborted when the call takes too long. */
  async call<T>(task: (signal: AbortSignalLike) => PromiseLike<T> | T): Promise<T> {
    checkFunction('task', task)
    const state = this.state
    if (state === 'open' || (state === 'half-open' && this.#trying))
      throw new CircuitOpen(this.#name, Math.max(0, this.#openUntil - this.#host.runtime.now()))
    const trial = state === 'half-open'
    if (trial) this.#trying = true
    const changes = this.#changes
    try {
      const value = await this.#bounded(task)
      // What was begun before the circuit changed says nothing about how it is now.
      if (changes === this.#changes) this.#succeeded(trial)
      return value
    } catch (cause) {
      if (changes === this.#changes) this.#failed(trial, cause)
      throw cause
    }
  }
  /** Opens it by hand, such as when a health check fails. */
  open(): void {
    // By the getter: an open circuit whose time has passed is half-open, and is to stay open for another whole time.
    if (this.state !== 'open') this.#trip()
  }
  /** Closes it by hand. */
  close(): void {
    this.#succeeded(true)
  }
  async #bounded<T>(task: (signal: AbortSignalLike) => PromiseLike<T> | T): Promise<T> {
    const source = makeAbortSource()
    const ms = this.#callTimeout
    if (ms === undefined) return task(source.signal)
    const { timers, runtime } = this.#host
    let alarm: Deadline | undefined
    const late = new Promise<never>((_resolve, reject) => {
      const fire = (): void => {
        const error = new CallTimeout(this.#name, ms)
        reject(error)
        source.abort(error)
      }
      alarm = { at: 0, order: 0, fire }
      timers.set(alarm, runtime.now() + ms)
    })
    try {
      return await Promise.race([Promise.resolve(task(source.signal)), late])
    } finally {
      timers.cancel(alarm!)
    }
  }
  #succeeded(closes: boolean): void {
    this.#failures = 0
    if (!closes) return
    this.#trials = 0
    this.#change('closed')
  }
  #failed(trial: boolean, cause: unknown): void {
    if (!this.#counts(cause)) {
      // It was reached, and answered: that is what a trial wants to know.
      if (trial) this.#succeeded(true)
      return
    }
    this.#failures++
    if (trial) this.#trials++
    if (trial || (this.#state === 'closed' && this.#failures >= this.#maxFailures)) this.#trip()
  }
  #counts(cause: unknown): boolean {
    // The caller is to hear what the call failed with, not this.
    const failed = (thrown: unknown): void =>
      this.#host.logger.error({ circuit: this.#name, cause: thrown }, 'isFailure of a circuit breaker failed; the failure counts')
    try {
      const counts: unknown = this.#options.isFailure?.(cause)
      observed(counts, failed)
      return counts !== false
    } catch (thrown) {
      failed(thrown)
      return true
    }
  }
  #trip(): void {
    const ms = Math.min(this.#resetTimeout * this.#resetFactor ** this.#trials, this.#maxResetTimeout)
    this.#openUntil = this.#host.runtime.now() + ms
    this.#change('open')
  }
  #change(to: CircuitState): void {
    const from = this.#state
    if (from === to) return
    this.#state = to
    this.#changes++
    this.#trying = false
    // The outcome of the call is not to depend on who listens.
    const failed = (cause: unknown): void => this.#host.logger.error({ circuit: this.#name, from, to, cause }, 'onChange of a circuit breaker failed')
    try {
      observed(this.#options.onChange?.(from, to), failed)
    } catch (cause) {
      failed(cause)
    }
  }
}

// Supervision, a second time: what a policy says about each failure, how often it may say restart, and how long the next
// incarnation has to wait. Keeps C6, written from the words of the design, not from the code that it checks.

import { ActorError, type Directive, Escalated, type Phase, type SupervisionPolicy } from '@troupe/core'
import { type CellOptions, cellOf, hearsSignals, type UpkeptPolicy } from '@troupe/core/internal'
import { SimCell } from './sim-cell.ts'
import type { SimTap } from './sim-tap.ts'

const nextPhase: Readonly<Record<Directive, Phase>> = { restart: 'restarting', resume: 'running', stop: 'stopping', escalate: 'failed' }

/** What a limit is held against: an actor's own failures, or those of all that share a fate, under one incarnation of their parent. */
export class Budget {
  readonly failures: number[] = []
  readonly restarts: number[] = []
  attempt = 0
  cause: unknown = undefined
  lastCause: unknown = undefined
  readonly incarnation: number
  constructor(incarnation: number) {
    this.incarnation = incarnation
  }
}

/** What is remembered of one actor's failures. */
export class Failures {
  readonly own: Budget = new Budget(-1)
  count = 0
  /** In which turn the last one was, as long as what follows from it is not known. */
  turn = -1
  from: Phase = 'running'
  cause: unknown = undefined
  /** What `decide` said about the last one. */
  decided: Directive | undefined = undefined
  /** How long a policy of a package said that its restart waits, where it says so itself. */
  said: number | undefined = undefined
  /** Whether nobody but who decides about its parent can have it begin anew: then the start that failed is made again. */
  retried = false
  /** Of the restart that the last one led to; undefined otherwise. */
  backoff: { readonly at: number; readonly least: number; readonly most: number } | undefined = undefined
}

export class DecisionAccount {
  readonly #tap: SimTap
  /** What supervision must have counted, as long as every decision could be told. */
  readonly #counted = { restarts: 0, limitsHit: 0, fatalStops: 0 }
  #known = true
  #deciderErrors = 0
  readonly #wrapped = new Map<SupervisionPolicy, SupervisionPolicy>()
  constructor(tap: SimTap) {
    this.#tap = tap
  }
  /** The same options, with policies that tell what they decide. */
  listenTo(options: CellOptions): CellOptions {
    const { supervision, childSupervision } = options
    if (supervision?.decide === undefined && childSupervision?.decide === undefined) return options
    return { ...options, supervision: this.#listen(supervision), childSupervision: this.#listen(childSupervision) }
  }
  #listen(policy: UpkeptPolicy | undefined): UpkeptPolicy | undefined {
    if (policy?.decide === undefined) return policy
    const known = this.#wrapped.get(policy)
    if (known !== undefined) return known
    const { decide } = policy
    const wrapped: UpkeptPolicy = {
      ...policy,
      ...(policy.delay === undefined
        ? undefined
        : { delay: (failure, random) => ((cellOf(failure.child) as SimCell).failures!.said = policy.delay!(failure, random)) }),
      decide: (cause, failure) => {
        const failures = (cellOf(failure.child) as SimCell).failures!
        failures.decided = 'stop'
        const child = cellOf(failure.child) as SimCell
        const budget = this.#budgetOf(child)
        const since = this.#recent(budget.failures, this.#limitOf(child, failures).within)
        if (failure.failures !== since.length || failure.windowStart !== since[0])
          this.#tap.violate(
            'C6',
            child,
            `decide was told of ${failure.failures} failures since ${failure.windowStart}, and there were ${since.length} since ${since[0]}`,
          )
        if (failure.lastError !== budget.lastCause) this.#tap.violate('C6', cellOf(failure.child), 'decide was told of another last error')
        this.#deciderErrors++
        const directive = decide(cause, failure)
        if (directive in nextPhase) {
          failures.decided = directive
          this.#deciderErrors--
        }
        return directive
      },
    }
    this.#wrapped.set(policy, wrapped)
    return wrapped
  }

  phased(cell: SimCell, from: Phase, to: Phase): void {
    // A keeper decides by rules of its own, and counts what it does.
    if (cell.extras?.keeper !== undefined) this.#known = false
    if (to === 'failed') return this.#failed(cell, from)
    const { failures } = cell
    if (failures === undefined) return
    if (from === 'failed' && failures.turn === this.#tap.turns) this.#compare(cell, failures, to)
    if (to === 'restarting' && from !== 'failed') failures.backoff = undefined
    // Made again, and not counted as a restart: at once the first time, then as its policy says; a keeper's children have none of their own.
    if (to === 'restarting' && from === 'failed' && failures.retried && failures.from === 'starting' && cell.extras?.keeper === undefined) {
      const policy = this.#policyOf(cell)
      const inWindow = this.#recent(this.#budgetOf(cell).failures, policy.limit.within).length
      if (inWindow > 1) failures.backoff = this.#backoff(policy, inWindow - 1)
    }
    if (to === 'starting' && from === 'restarting' && failures.backoff !== undefined) {
      const { at, least } = failures.backoff
      failures.backoff = undefined
      if (this.#tap.now < at + least) this.#tap.violate('C6', cell, `began anew after ${this.#tap.now - at} ms, and the backoff is at least ${least}`)
    }
  }
  #failed(cell: SimCell, from: Phase): void {
    const failures = (cell.failures ??= new Failures())
    const { now } = this.#tap
    failures.count++
    failures.cause = cell.info?.cause
    const { within } = this.#limitOf(cell, failures)
    const budget = this.#budgetOf(cell)
    // A quiet time as long as the window begins the backoff again.
    if (from !== 'starting' && now - Math.max(cell.ranAt, budget.failures.at(-1) ?? -Infinity) >= within) budget.attempt = 0
    // Nobody decides about a first start that is not to be retried.
    if (from !== 'starting' || cell.incarnation > 0 || this.#policyOf(cell).retryStart) {
      budget.lastCause = budget.cause
      budget.cause = failures.cause
      budget.failures.push(now)
    }
    failures.turn = this.#tap.turns
    failures.from = from
    failures.decided = undefined
    failures.said = undefined
    failures.retried = false
    failures.backoff = undefined
    this.#checkChild(cell, failures.cause)
    const parent = cell.ref.parent?.cell
    if (parent instanceof SimCell && isUp(parent) && hearsSignals(parent) && cell.extras?.keeper === undefined) parent.childFailures++
  }
  /** A child's failure fails its parent once, and not at all when that has begun anew since, and the child with it. */
  #checkChild(cell: SimCell, cause: unknown): void {
    if (!(cause instanceof Escalated)) return
    const child = this.#tap.living.find((c) => c.ref.path === cause.child)
    if (child?.phase === 'failed' && child.toldAnew === child.incarnation)
      this.#tap.violate('C6', cell, `fails for ${cause.child}, which it has told to begin anew with it`)
  }
  /** The turn is over in which it failed. */
  turnEnded(cell: SimCell): void {
    const { failures } = cell
    if (failures !== undefined && failures.turn === this.#tap.turns && cell.phase === 'failed') {
      this.#compare(cell, failures, 'failed')
      failures.retried = true
    }
  }
  #compare(cell: SimCell, failures: Failures, to: Phase): void {
    failures.turn = -1
    if (cell.extras?.keeper !== undefined) return
    const policy = this.#policyOf(cell)
    const asked = this.#directive(cell, failures, policy)
    if (asked === undefined) {
      this.#known = false
      return
    }
    if (failures.cause instanceof ActorError && failures.cause.kind === 'fatal') this.#counted.fatalStops++
    const { most, within } = this.#limitOf(cell, failures)
    const budget = this.#budgetOf(cell)
    const restarts = this.#recent(budget.restarts, within).length
    let directive = asked
    if (asked === 'restart') {
      budget.attempt++
      if (restarts >= most) {
        directive = policy.onLimit
        this.#counted.limitsHit++
      } else {
        budget.restarts.push(this.#tap.now)
        const { said } = failures
        if (to === 'restarting')
          failures.backoff = said === undefined ? this.#backoff(policy, budget.attempt) : { at: this.#tap.now, least: said, most: said }
      }
    }
    if (directive === 'restart') this.#counted.restarts++
    if (nextPhase[directive] === to) return
    // Whoever waits for his parent's decision may be told otherwise in the same turn.
    if (directive === 'escalate' && (to !== 'stopping' || cell.stopAsked)) return
    if (asked === 'restart')
      this.#tap.violate('C6', cell, `is ${to} after ${restarts} restarts within ${within} ms; ${most} are allowed, then ${policy.onLimit}`)
    else this.#tap.violate('C6', cell, `failed, and is ${to}, though the policy says ${directive}`)
  }
  #directive(cell: SimCell, failures: Failures, policy: SupervisionPolicy): Directive | undefined {
    const starting = failures.from === 'starting'
    if (starting && cell.incarnation === 0 && !policy.retryStart) return 'stop'
    const kind = failures.cause instanceof ActorError ? failures.cause.kind : 'transient'
    if (kind === 'fatal') return 'stop'
    if (policy.decide === undefined) return kind === 'transient' ? 'restart' : 'stop'
    if (failures.decided === undefined) {
      // The system's own policy is not listened to.
      if (policy !== this.#tap.host.policy) this.#tap.violate('C6', cell, 'failed, and nobody asked the policy')
      return undefined
    }
    return failures.decided === 'resume' && (starting || kind !== 'transient') ? 'stop' : failures.decided
  }
  #backoff({ backoff, scope }: SupervisionPolicy, attempt: number): Failures['backoff'] {
    const base = Math.min(backoff.max, backoff.min * backoff.factor ** (attempt - 1))
    // Whose siblings restart along waits for them too.
    const most = scope === 'one-for-one' ? base * (1 + backoff.jitter) : Infinity
    return { at: this.#tap.now, least: base * (1 - backoff.jitter), most }
  }
  /** All that is due has run: no incarnation is kept waiting for longer than its backoff. */
  check(cell: SimCell): void {
    const { failures, phase } = cell
    if (phase !== 'restarting' || failures?.backoff === undefined || cell.extras?.pending !== undefined) return
    if ((cell.extras?.calls?.size ?? 0) > 0 || (cell.livingChildren > 0 && cell.options.restartChildren === 'stop')) return
    const until = cell.turnAt + failures.backoff.most
    if (until < this.#tap.now) this.#tap.violate('C6', cell, `should have begun anew by ${until} ms, and it is ${this.#tap.now} ms`)
  }
  /** In the end: what supervision counted and logged is what it did. */
  checkCounts(): void {
    const logged = this.#tap.log.times('decide failed; the actor is stopped')
    if (logged !== this.#deciderErrors)
      this.#tap.violate('C13', undefined, `${this.#deciderErrors} deciders failed, and the log says so ${logged} times`)
    if (!this.#known) return
    const host = this.#tap.host as unknown as Record<'restarts' | 'limitsHit' | 'fatalStops', number>
    for (const what of ['restarts', 'limitsHit', 'fatalStops'] as const)
      if (host[what] !== this.#counted[what])
        this.#tap.violate('C6', undefined, `supervision counts ${host[what]} ${what}, and there were ${this.#counted[what]}`)
  }
  #limitOf(cell: SimCell, { cause }: Failures): { readonly most: number; readonly within: number } {
    const { limit } = this.#policyOf(cell)
    const retry = cause instanceof ActorError ? cause.retry : undefined
    return { most: retry?.max ?? limit.restarts, within: retry?.within ?? limit.within }
  }
  #recent(times: readonly number[], within: number): readonly number[] {
    return times.filter((t) => t > this.#tap.now - within)
  }
  #budgetOf(cell: SimCell): Budget {
    const parent = cell.ref.parent?.cell
    if (this.#policyOf(cell).scope === 'one-for-one' || !(parent instanceof SimCell)) return (cell.failures ??= new Failures()).own
    if (parent.budget?.incarnation !== parent.incarnation) parent.budget = new Budget(parent.incarnation)
    return parent.budget
  }
  #policyOf(cell: SimCell): SupervisionPolicy {
    const parents = cell.ref.parent?.cell.options.childSupervision
    if (parents !== undefined && parents.scope !== 'one-for-one') return parents
    return cell.options.supervision ?? parents ?? this.#tap.host.policy
  }
}

function isUp(cell: SimCell): boolean {
  return cell.phase === 'running' || cell.phase === 'suspended'
}

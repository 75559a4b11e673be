// What drives a system: time, randomness and the right to run. Everything nondeterministic in core goes through it,
// which is what makes a whole system simulable.

/** The seeded choices of a simulated scheduler; a real runtime has none. */
export interface SchedulerChoices {
  /** Which of `n` ready actors takes the next turn; `ready` lets it look at them. */
  pick(n: number, ready: { at(index: number): unknown }): number
  /** How many messages the next turn may take, at most `max`. */
  quota(max: number): number
  /** Where a timer stands among those of equal time: 0 in the order they were set, more for later. */
  tie(): number
}

/** The machinery behind the dispatchers of one system. */
export interface ExecutionRuntime {
  readonly id: string
  /** Monotonic milliseconds. */
  now(): number
  /**
   * Monotonic milliseconds that also pass while the machine is suspended. The leases of a cluster are counted by it. If it is left out, they
   * are counted by `now`, or by the boot clock of the machine on a `HostRuntime`.
   */
  bootNow?(): number
  /** A number in [0, 1). */
  random(): number
  /** Changes whenever the host has served its own events; slices are counted within one such pass. */
  readonly pass: number
  /** Runs the task soon, before the host serves other events. */
  wake(task: () => void): void
  /** Whether `wake` runs its tasks in an async context that belongs to nobody, so that they need not `enter` one. */
  readonly wakesNeutral?: boolean
  /** Runs the task after the host has served its events. */
  yield(task: () => void): void
  /** Runs the task once after `ms` at the earliest; returns what cancels it. Never keeps the process alive. */
  timer(ms: number, task: () => void): () => void
  /** Runs the task in an async context that belongs to nobody. */
  enter(task: () => void): void
  /** Keeps the process alive until the returned function is called. */
  hold(): () => void
  /**
   * Runs what is due and returns whether anything ran; only runtimes that do not run by themselves have it. Returns
   * early, between two tasks, once `until` holds: work that breeds work would keep it for ever.
   */
  pump?(until?: () => boolean): boolean
  readonly choices?: SchedulerChoices
  /** Called once, before anything else is run on it. */
  start?(): void
  /** Called once, when the system has ended. */
  stop?(): void
}

/** Where a system finds its runtime by name; `ExecutionRuntimes` is one. */
export interface RuntimeSource {
  /** The name of what `create` makes when it is given none. */
  readonly default: string
  /** A new runtime of that kind, or of the default one. Fails with `InvalidOption`. */
  create(name?: string): ExecutionRuntime
}

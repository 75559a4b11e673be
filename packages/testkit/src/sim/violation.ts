// A promise that was broken in a run.

/** The promises that every run is checked against, and the run's own checks. */
export type InvariantId =
  | 'C1'
  | 'C2'
  | 'C3'
  | 'C4'
  | 'C5'
  | 'C6'
  | 'C7'
  | 'C8'
  | 'C9'
  | 'C10'
  | 'C11'
  | 'C12'
  | 'C13'
  | 'T1'
  | 'T2'
  | 'T3'
  | 'T4'
  | 'phases'
  | 'behavior'
  | 'timers'
  | 'leaks'
  | 'stuck'
  | 'endless'
  | 'liveness'
  | 'invariant'
  | 'scenario'
  | 'runtime'

/** What each promise says, for reports. */
export const promises: Readonly<Record<InvariantId, string>> = {
  C1: 'messages of one sender are processed in the order they were sent',
  C2: 'every message ends exactly once, and the ledger adds up at every instant',
  C3: 'one handler at a time per incarnation',
  C4: 'PostStop runs exactly once per incarnation that started; children finish before parents',
  C5: 'each watch yields exactly one Terminated; none after unwatch',
  C6: 'at most N restarts per window',
  C7: 'nothing of one incarnation reaches the next',
  C8: 'a stash survives restart, keeps its order, and is drained on stop',
  C9: 'every ask settles exactly once, by its deadline, and leaves nothing behind',
  C10: 'bounds are kept, and system messages never wait behind user messages',
  C11: 'a turn handles no more messages than it was given',
  C12: 'shutdown always resolves',
  C13: 'no error escapes to the process',
  T1: 'what holds on one thread holds on every one and between them',
  T2: 'a lost thread gives one failure for each of its actors, and the ledger of all threads adds up',
  T3: 'what is under way between threads is bounded',
  T4: 'a thread that hangs is ended and replaced',
  phases: 'phases change as the table says',
  behavior: 'what a handler returned is what comes next',
  timers: 'a timer ticks at its time',
  leaks: 'nothing is left of actors that ended',
  stuck: 'a handler waits for nothing that the simulator knows of',
  endless: 'a run comes to rest',
  liveness: 'what must come about in the end does',
  invariant: 'an invariant of the user holds',
  scenario: 'the scenario itself does not fail',
  runtime: 'no turn breaks',
}

/** A promise that was broken. */
export interface Violation {
  readonly invariant: InvariantId
  readonly text: string
  /** Where, if it was at one actor. */
  readonly actor: string | undefined
  readonly step: number
  readonly at: number
}

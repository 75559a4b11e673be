// The life of an actor as one table: phase × event → phase. Pure; the cell acts on the outcome.
// An event that has no entry is a bug of the runtime. `noop` is for control verbs that repeat themselves, `defer`
// for those that must wait until the actor has come up.

import { InvalidTransition } from '../values/errors.ts'
import type { Phase } from '../values/observation.ts'

/** What may happen to an actor. */
export type PhaseEvent =
  | 'start'
  | 'started'
  | 'suspend'
  | 'resume'
  | 'fail'
  | 'restart'
  | 'relaunch'
  | 'stop'
  | 'kill'
  | 'cleaned'
  | 'released'

/** The next phase, or why there is none. */
export type Outcome = Phase | 'noop' | 'defer'

type Row = Readonly<Partial<Record<PhaseEvent, Outcome>>>

const ended: Row = { stop: 'noop', kill: 'noop', suspend: 'noop', resume: 'noop', restart: 'noop' }
const ending: Row = { stop: 'stopping', kill: 'stopping' }
const arriving: Row = { ...ending, suspend: 'defer', resume: 'defer', restart: 'defer' }

export const phaseTable: Readonly<Record<Phase, Row>> = {
  created: { ...arriving, start: 'starting' },
  starting: { ...arriving, started: 'running', fail: 'failed' },
  running: { ...ending, suspend: 'suspended', resume: 'noop', fail: 'failed', restart: 'restarting' },
  suspended: { ...ending, suspend: 'noop', resume: 'running', fail: 'failed', restart: 'restarting' },
  failed: { ...ending, suspend: 'defer', resume: 'running', restart: 'restarting' },
  restarting: { ...arriving, restart: 'noop', relaunch: 'starting', fail: 'failed' },
  stopping: { ...ended, cleaned: 'stopped' },
  stopped: { ...ended, released: 'terminated' },
  terminated: ended,
}

/** What an event makes of a phase; throws `InvalidTransition` where the table has no entry. */
export function outcomeOf(phase: Phase, event: PhaseEvent): Outcome {
  const outcome = phaseTable[phase][event]
  if (outcome === undefined) throw new InvalidTransition(phase, event)
  return outcome
}

/** Whether user messages queue in this phase; otherwise they are dead letters. */
export function takesMessages(phase: Phase): boolean {
  return phase !== 'stopping' && phase !== 'stopped' && phase !== 'terminated'
}

/** Whether signals that run user code may be delivered in this phase; otherwise they wait. */
export function takesSignals(phase: Phase): boolean {
  return phase === 'running' || phase === 'suspended' || phase === 'stopping'
}

// The life of an actor as one table: phase × event → phase. Pure; the cell acts on the outcome.
// An event that has no entry is a bug of the runtime. `noop` is for control verbs that repeat themselves, `defer`
// for those that must wait until the actor has come up.

import { InvalidTransition } from '../values/errors.ts'
import type { Phase } from '../values/phase.ts'

/** What may happen to an actor. */
export type PhaseEvent = 'start' | 'started' | 'suspend' | 'resume' | 'fail' | 'restart' | 'relaunch' | 'stop' | 'kill' | 'cleaned' | 'released'

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

/** What one event makes of each phase, as pairs of phase and outcome: a short walk costs less than two keyed loads. */
export interface Transition {
  readonly event: PhaseEvent
  readonly pairs: readonly string[]
  readonly steps: number
}

/** Events in a row as one, for where nothing can happen between them: what each phase in which all are allowed ends in. */
function transition(...events: readonly [PhaseEvent, ...PhaseEvent[]]): Transition {
  const pairs = Object.keys(phaseTable).flatMap((phase) => {
    const end = events.reduce<Outcome | undefined>((at, event) => phaseTable[at as Phase]?.[event], phase as Phase)
    return end === undefined ? [] : [phase, end]
  })
  return { event: events[0], pairs, steps: events.length }
}

/** The table by event: whatever some phase knows. */
export const on: Readonly<Record<PhaseEvent, Transition>> = /* @__PURE__ */ byEvent()

function byEvent(): Record<PhaseEvent, Transition> {
  const events = Object.keys(Object.assign({}, ...Object.values(phaseTable)) as Row) as PhaseEvent[]
  return Object.fromEntries(events.map((event) => [event, transition(event)])) as Record<PhaseEvent, Transition>
}

/** The start of an actor that has nothing to run first. */
export const quickStart: Transition = /* @__PURE__ */ transition('start', 'started')
/** The end of an actor that has nothing to run, to wait for or to leave behind. */
export const quickStop: Transition = /* @__PURE__ */ transition('stop', 'cleaned', 'released')

/** What an event makes of a phase; throws `InvalidTransition` where the table has no entry. */
export function outcomeOf(phase: Phase, { event, pairs }: Transition): Outcome {
  for (let i = 0; i < pairs.length; i += 2) if (pairs[i] === phase) return pairs[i + 1] as Outcome
  throw new InvalidTransition(phase, event)
}

/** Whether user messages queue in this phase; otherwise they are dead letters. */
export function takesMessages(phase: Phase): boolean {
  return phase !== 'stopping' && phase !== 'stopped' && phase !== 'terminated'
}

/** Whether signals that run user code may be delivered in this phase; otherwise they wait. */
export function takesSignals(phase: Phase): boolean {
  return phase === 'running' || phase === 'suspended' || phase === 'stopping'
}

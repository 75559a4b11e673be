// What sibling packages need and users do not.

export { backoffDelay, decideFailure, defaultPolicy } from './deciders/supervision.ts'
export { on, outcomeOf, phaseTable, takesMessages, takesSignals, type PhaseEvent } from './deciders/phase.ts'
export { hostEnter, hostHold, hostNow, hostTimer, hostYield, makeAbortSource } from './ports/host.ts'
export { Envelope } from './cell/envelope.ts'
export { actorBehind, onRelease } from './cell/resources.ts'

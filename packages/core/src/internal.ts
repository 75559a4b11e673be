// What sibling packages need and users do not.

export { Adapted } from './cell/adapter.ts'
export { PendingAsk } from './cell/ask.ts'
export { Cell } from './cell/cell.ts'
export type { Dispatcher } from './cell/dispatcher.ts'
export { Envelope, type Meta, senderOf } from './cell/envelope.ts'
export type { CellHost } from './cell/host.ts'
export { cellOf, LocalRef } from './cell/local-ref.ts'
export type { CellOptions } from './cell/options.ts'
export { poison } from './cell/poison.ts'
export { Tap, type TappedRuntime } from './cell/tap.ts'
export { Watch } from './cell/watch.ts'
export { BehaviorNode, BehaviorWithOptions, HookedNode } from './values/behavior.ts'
export type { EndReason } from './values/options.ts'

export { backoffDelay, decideFailure, defaultPolicy } from './deciders/supervision.ts'
export { on, outcomeOf, phaseTable, takesMessages, takesSignals, type PhaseEvent } from './deciders/phase.ts'
export { hostEnter, hostHold, hostNow, hostTimer, hostYield, makeAbortSource } from './ports/host.ts'

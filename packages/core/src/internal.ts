// What sibling packages need and users do not.

export { Adapted, Adapter } from './cell/adapter.ts'
export { afterwards } from './cell/afterwards.ts'
export { PendingAsk } from './cell/ask.ts'
export { Cell } from './cell/cell.ts'
export type { Dispatcher } from './cell/dispatcher.ts'
export { Envelope, type Meta, Told, headersOf, senderOf } from './cell/envelope.ts'
export type { CellHost } from './cell/host.ts'
export { cellOf, LocalRef } from './cell/local-ref.ts'
export { type CellOptions, defaultOptions, resolveOptions, spawnTable } from './cell/options.ts'
export { hearsSignals } from './cell/hearing.ts'
export { poison, poisonPill } from './cell/poison.ts'
export { checkStashed } from './cell/stash.ts'
export { Tap, type TappedRuntime } from './cell/tap.ts'
export { tellWatchers, Watch } from './cell/watch.ts'
export { BehaviorNode, BehaviorWithOptions, HookedNode } from './values/behavior.ts'
export { refusalOf } from './cell/returned.ts'
export { openMailbox } from './queues/own-kind.ts'
export type { EndReason } from './values/options.ts'

export { backoffDelay, decideFailure, defaultPolicy } from './deciders/supervision.ts'
export { on, outcomeOf, phaseTable, takesMessages, takesSignals, type PhaseEvent } from './deciders/phase.ts'
export { hostEnter, hostHold, hostNow, hostTimer, hostYield, makeAbortSource } from './ports/host.ts'
export { listenTo } from './ports/on-abort.ts'
export { actorBehind, onRelease, setupOrRelease } from './cell/resources.ts'
export {
  any,
  can,
  type Check,
  checkBoolean,
  checkCan,
  checkFinite,
  checkFunction,
  checkList,
  checkObject,
  checkOneOf,
  checkPart,
  checkRef,
  checkSignal,
  checkString,
  checkText,
  checkUpTo,
  checkWhole,
  readOptions,
  type Table,
  unreadable,
} from './values/checks.ts'

// For those who connect the systems of several threads.
export { behaviorFrom } from './values/actor-class.ts'
export { HandleRef, Protocol } from './patterns/actor-handle.ts'
export { checkName } from './values/path.ts'
export { pathOf, show, typeOf } from './values/errors.ts'
export { MessageRing } from './queues/ring.ts'
export { Histogram } from './queues/histogram.ts'
export { Children } from './cell/children.ts'
export { drainMailbox } from './cell/draining.ts'
export { type AskEdge, inProgress } from './cell/deadlock.ts'
export { declareEndless } from './cell/ending.ts'
export { Extras } from './cell/extras.ts'
export { fail } from './cell/failing.ts'
export type { Keeper } from './cell/keeper.ts'
export { highWater, notePressure } from './cell/pressure.ts'
export type { EndInfo, PhaseInfo } from './cell/phase-info.ts'
export { releaseHeld } from './cell/restarting.ts'
export type { RemoteWork, Spawner } from './cell/spawner.ts'
export type { Command } from './cell/system-lane.ts'
export { coreOf, createOnThread } from './system/actor-system.ts'
export type { ThreadReporter } from './cell/thread-reporter.ts'
export type { SystemCore } from './system/core.ts'
export type { Elsewhere, Federation } from './system/federation.ts'
export { systemTable } from './system/options.ts'
export { ledgerOf, snapshotOf, walk } from './system/inspection.ts'

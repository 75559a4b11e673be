// What sibling packages need and users do not.

export { Adapted, Adapter } from './cell/ref/adapter.ts'
export { afterwards } from './cell/life/afterwards.ts'
export { PendingAsk } from './cell/ask/ask.ts'
export { Cell } from './cell/turn/cell.ts'
export type { Dispatcher } from './cell/turn/dispatcher.ts'
export { Envelope, type Meta, Told, headersOf, senderOf } from './cell/message/envelope.ts'
export type { CellHost } from './cell/turn/host.ts'
export { cellOf, LocalRef } from './cell/ref/local-ref.ts'
export { type CellOptions, defaultOptions, resolveOptions, spawnTable } from './cell/context/options.ts'
export { hearsSignals } from './cell/life/hearing.ts'
export { poison, poisonPill } from './cell/message/poison.ts'
export { checkStashed } from './cell/context/stash.ts'
export { Tap, type TappedRuntime } from './cell/turn/tap.ts'
export { tellWatchers, Watch } from './cell/ref/watch.ts'
export { BehaviorNode, BehaviorWithOptions, HookedNode } from './values/behavior.ts'
export { refusalOf } from './cell/life/returned.ts'
export { openMailbox } from './queues/own-kind.ts'
export type { EndReason } from './values/options.ts'

export { takesMessages } from './deciders/phase.ts'
export { hostNow, hostYield, makeAbortSource } from './ports/host.ts'
export { listenTo } from './ports/on-abort.ts'
export { actorBehind, onRelease, setupOrRelease } from './cell/context/resources.ts'
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
export { Children } from './cell/turn/children.ts'
export { drainMailbox } from './cell/life/draining.ts'
export { type AskEdge, inProgress } from './cell/ask/deadlock.ts'
export { declareEndless } from './cell/life/ending.ts'
export { Extras } from './cell/turn/extras.ts'
export { fail } from './cell/life/failing.ts'
export type { Keeper } from './cell/life/cell-supervisor.ts'
export { highWater, notePressure } from './cell/message/pressure.ts'
export type { EndInfo, PhaseInfo } from './cell/life/phase-info.ts'
export { releaseHeld } from './cell/life/restarting.ts'
export type { RemoteWork, Spawner } from './cell/context/remote-spawner.ts'
export type { Command } from './cell/life/commands.ts'
export { coreOf, createOnThread } from './system/actor-system.ts'
export type { ThreadReporter } from './cell/turn/thread-reporter.ts'
export type { SystemCore } from './system/core.ts'
export type { Elsewhere, Federation } from './system/federation.ts'
export { systemTable } from './system/options.ts'
export { ledgerOf, snapshotOf, walk } from './system/inspection.ts'

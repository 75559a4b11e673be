// What sibling packages need and users do not. Where it changes so that one could notice, its number does: ports/sibling.ts.

import './ports/announce.ts'

export { Adapted, Adapter } from './cell/ref/adapter.ts'
export { afterwards } from './cell/life/afterwards.ts'
export { PendingAsk, refuseAsks, takeAsks } from './cell/ask/ask.ts'
export { Cell } from './cell/turn/cell.ts'
export type { Dispatcher } from './cell/turn/dispatcher.ts'
export { Envelope, type Meta, Told, headersOf, senderOf } from './cell/message/envelope.ts'
export { type Catcher, fuse, type Sampler } from './cell/message/fuse.ts'
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
export { type FrontableQueue, openMailbox, OwnKind } from './queues/own-kind.ts'
export { spawnUnder } from './cell/context/spawning.ts'
export { endless } from './values/options.ts'
export { budgets } from './values/budgets.ts'
export type { EndReason } from './values/ledger.ts'

export { takesMessages } from './deciders/phase.ts'
export { backoffDelay, type Failure, type UpkeptPolicy } from './deciders/supervision.ts'
export { hostNow, hostPrint, hostYield, makeAbortSource } from './ports/host.ts'
export { requireCore } from './ports/sibling.ts'
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
  checkMessage,
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
  slipsBetween,
  type Table,
  unreadable,
} from './values/checks.ts'

// For those who connect the systems of several threads.
export { behaviorFrom } from './values/actor-class.ts'
export { isKey } from './patterns/receptionist.ts'
export { hashOf, highestBidder } from './patterns/router/hash.ts'
export { HandleRef, Protocol } from './patterns/actor-handle.ts'
export { checkName } from './values/path.ts'
export { isThenable } from './values/thenable.ts'
export { Keyed } from './values/keyed.ts'
export { pathOf, show, typeOf } from './values/errors.ts'
export { MessageRing } from './queues/ring.ts'
export { Histogram } from './queues/histogram.ts'
export { Children } from './cell/turn/children.ts'
export { drainMailbox, Succession } from './cell/life/draining.ts'
export { type AskEdge, inProgress } from './cell/ask/deadlock.ts'
export { declareEndless } from './cell/life/ending-children.ts'
export { Extras, shed } from './cell/turn/extras.ts'
export { fail } from './cell/life/failing.ts'
export type { CellSupervisor } from './cell/life/cell-supervisor.ts'
export { highWater, notePressure } from './cell/message/pressure.ts'
export { type EndInfo, endingOf, explainStart, infoIn } from './cell/life/phase-info.ts'
export { disarmStep, isStepOverdue } from './cell/life/step-timer.ts'
export { releaseHeld } from './cell/life/restarting.ts'
export type { RemoteWork, Spawner } from './cell/context/remote-spawner.ts'
export type { Command } from './cell/life/commands.ts'
export { hostOf } from './patterns/host-of.ts'
export { coreOf, createOnThread, extensionOf } from './system/actor-system.ts'
export type { ThreadReporter } from './cell/turn/thread-reporter.ts'
export type { SystemCore } from './system/core.ts'
export type { Elsewhere, OtherPlaces } from './system/other-places.ts'
export { systemTable } from './system/options.ts'
export { draftOf, ledgerOf, snapshotOf, walk } from './system/inspection.ts'

// For those who look on.
export { type ActorKinds, type ActorName, type Survey, Surveyor } from './system/survey.ts'
export { phaseNames, type Rows } from './system/survey-rows.ts'
export type { Wait } from './system/waits.ts'
export type { LookElsewhere, PlacedSurvey } from './system/other-places.ts'
export { kindOfActor, labelOfActor } from './system/kind.ts'
export { addWitness, removeWitness } from './cell/turn/witnesses.ts'
export type { Witness } from './cell/turn/witness.ts'
export { ownFlightOf, recordCell } from './system/recording.ts'

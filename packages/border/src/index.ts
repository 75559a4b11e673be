// What the packages of threads and of machines are built from. Users meet of it what those export.

import { requireCore } from '@troupe/core/internal'

export { Exchange, type OtherRefs } from './exchange/exchange.ts'
export { type ActorDefinition, defineActor, defineTask } from './lives/define-actor.ts'
export { followHosted, hostActors, HostedCell } from './lives/hosted.ts'
export { type Load, loadExport } from './lives/loading.ts'
export { findRegistered, refuseTwice } from './lives/registry.ts'
export { besideOthers, spawnerFor } from './lives/spawner.ts'
export type { StubCell } from './lives/stub.ts'
export { Definition } from './values/definition.ts'
export { firstUid, homeOf } from './values/epochs.ts'
export { hostLoop, type Loop } from './values/loop.ts'
export type { Numbers } from './lives/residents.ts'
export { Mirror } from './questions/mirror.ts'
export { Returning, taken } from './way/credit.ts'
export { makeRemoteRef, ProxyCell } from './way/remote-ref.ts'
export type { Names } from './way/names.ts'
export { checkPlacement, type PlacementRequest } from './values/placement.ts'
export { measured, snapshot } from './values/snapshot.ts'
export { transfer } from './values/transfer.ts'
export type { Crossing } from './way/crossing.ts'
export type { Control, ControlOf, Part } from './way/control.ts'
export type { Bell, ByteStream, Line, LineEnd, SidePort } from './way/line.ts'
export { BadRecord, NotOnThread, NotTransferable } from './errors.ts'

requireCore('@troupe/border', 1)
export { LastingCell, Lives } from './way/lives.ts'

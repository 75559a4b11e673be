// The public API of @troupe/cluster, by hand.

import { requireCore } from '@troupe/core/internal'

export { Cluster, type LeaveOptions, type MemberEvents, type NodeSnapshot, type Sharded } from './cluster.ts'
export type { ShardedOptions } from './sharding/kind.ts'
export type { JoinOptions } from './node/options.ts'
export type { ChannelReport } from './channel/channel.ts'
export type { Refusals } from './channel/channels.ts'
export type { ClusterReport, KindReport, NodeReport } from './node/report.ts'
export type { Topic } from './node/topics.ts'
export type { MemberEvent } from './membership/members.ts'
export { memory } from './engines/memory/memory.ts'
export { nats } from './engines/nats/nats.ts'
export { natsPermissions, type NatsPermissions } from './engines/nats/nats-layout.ts'
export type { NatsCredentials, NatsOptions, NatsTls } from './engines/nats/nats-options.ts'
export {
  ConnectionLost,
  EngineRefused,
  JournalDiffers,
  KindDiffers,
  KindNotHosted,
  LeaseDiffers,
  MessageLimitDiffers,
  LedgerIncomplete,
  NodeLost,
  NodeNameTaken,
  OwnershipLost,
  RegistryConflict,
  RegistryUnavailable,
  SessionEnded,
  VersionsApart,
} from './values/errors.ts'
export type { Connection, Engine, Joining } from './ports/engine.ts'
export type { Fence } from './ports/fence.ts'
export type { Change, Entry, Hint, Registry, Revision, Watch, WriteOptions } from './ports/registry.ts'
export type { Timing } from './ports/timing.ts'
export type { Wire } from './ports/wire.ts'
export type { Member } from './values/member.ts'
export type { Session } from './values/session.ts'
export type { Versions } from './values/versions.ts'

requireCore('@troupe/cluster', 1)

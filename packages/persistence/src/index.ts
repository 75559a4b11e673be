// The public API, listed by hand.

import { requireCore } from '@troupe/core/internal'

export type { Answered, CommandContext, Commands, Incoming, Kind, Leaving, To } from './gate/context.ts'
export type { MethodContext } from './gate/class-actor.ts'
export type { AnyEvent, ErasedForm, StoredForm } from './gate/definition.ts'
export { type EventHandlers, eventSourced, type EventsOf, type KeepOptions, type SourcedDefinition } from './gate/event-sourced.ts'
export { type ClassKeeping, EventSourced } from './gate/event-sourced-class.ts'
export { durableState, type StateContext, type StateDefinition, type StateKeeping } from './gate/durable-state.ts'
export { DurableState, type StateClassKeeping } from './gate/durable-state-class.ts'
export type { DurableTimers } from './gate/timers.ts'
export { eraseSubject } from './keeping/erasure.ts'
export { type KindOrClass, takeSnapshot, trimEvents, type TrimOptions } from './keeping/retention.ts'
export { journalEvents, type ReadEvent, type ReadQuery } from './reading/events.ts'
export { projection, type ProjectionOptions } from './reading/projection.ts'
export { persistence, type PersistenceOptions } from './persistence.ts'

export { memory, type MemoryFaults, type MemoryOptions, type MemorySource } from './journal/memory.ts'
export type { PostgresClient, PostgresConfig, PostgresPool } from './journal/postgres/connection.ts'
export { postgres, type PostgresOptions } from './journal/postgres/postgres.ts'
export { createPostgresSchema, postgresSchema, type PostgresSchemaOptions } from './journal/postgres/schema.ts'
export { backupSqlite, type SqliteBackupOptions } from './journal/sqlite/sqlite-backup.ts'
export { sqliteJournal, type SqliteJournalOptions } from './journal/sqlite/sqlite-journal.ts'
export type { EventQuery, Fence, GroupLimits, Journal, JournalEnvironment, JournalSource, Keyless, SubjectKey } from './journal/port.ts'
export type { ProjectionPlace, ProjectionQuery } from './journal/projections.ts'
export type { JournalRecord } from './journal/records.ts'
export { exportJournal, type ExportOptions } from './operating/exporting.ts'
export { importJournal, type Imported, ImportRefused } from './operating/importing.ts'
export { type KindStats, kindStats, listIds, showId, type ShownId, type ShowOptions } from './operating/looking.ts'
export { journalAt, openJournal, type PlaceOptions } from './operating/place.ts'
export type { ExportedKeys, RecordCounts } from './operating/record-text.ts'
export { listProjections, removeProjection } from './operating/projections.ts'
export { snapshotKey, type SnapshotOptions } from './operating/snapshot.ts'
export { surveyJournals } from './operating/survey.ts'
export {
  EventTooLarge,
  EventsDeleted,
  FenceLost,
  IdInUse,
  JournalDamaged,
  JournalRefused,
  JournalUnavailable,
  NotStorable,
  PersistFailed,
  PersistFenced,
  PersistUnknown,
  ProjectionMoved,
  RecoveryFailed,
  RecoveryStalled,
  RetentionRefused,
  SchemaMismatch,
  SubjectErased,
} from './values/errors.ts'
export type { JournalSurvey } from './values/survey.ts'
export {
  type Damage,
  type DueTimer,
  type FoundEvent,
  type Head,
  type JournalStats,
  kindOf,
  type ListedId,
  type Outcome,
  type Ownership,
  type Replayed,
  type Run,
  type Snapshot,
  type SnapshotWrite,
  type StateWrite,
  type StoredEvent,
  type StoredState,
  type TimerChange,
  type Verified,
  type Write,
} from './values/stored.ts'

requireCore('@troupe/persistence', 1)

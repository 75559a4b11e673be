// The public API of troupe, by hand.

import './ports/announce.ts'

export { ActorError, type ActorErrorOptions, type FailureKind, type Severity } from './values/actor-error.ts'
export {
  type Behavior,
  empty,
  ignore,
  match,
  type MatchHandlers,
  type MessageHandler,
  type Next,
  receive,
  same,
  setup,
  type SignalHandler,
  stopped,
  unhandled,
  withOptions,
} from './values/behavior.ts'
export type {
  ActorClass,
  ActorHandle,
  ActorHooks,
  AskMethod,
  AskMethods,
  CallOf,
  ClassCall,
  HandleView,
  MethodsOf,
  TellMethods,
} from './values/actor-class.ts'
export type { Clock } from './values/clock.ts'
export { ChannelClosed, RetriesExhausted, TasksFailed, TimedOut } from './values/concurrency-errors.ts'
export type { ActorContext, Stash, Timers } from './values/context.ts'
export type { DeadLetter, DeadLetterReason } from './values/dead-letter.ts'
export type { AsyncDisposing, Disposing } from './values/disposal.ts'
export type { Failure } from './values/failure.ts'
export {
  ActorInitializationError,
  type AskExplanation,
  AskRefused,
  AskRejected,
  AskTargetStopped,
  AskTimeout,
  Cancelled,
  ContextEnded,
  DeadlockError,
  DeathPact,
  Escalated,
  ForeignRef,
  InvalidName,
  InvalidOption,
  InvalidTransition,
  NameTaken,
  NotABehavior,
  NotAllowed,
  OptionsTooLate,
  OfferRefused,
  Rejection,
  RootKilled,
  StartTimeout,
  StashOverflow,
  SystemClosed,
  TroupeError,
  Unhandled,
  UnknownDispatcher,
} from './values/errors.ts'
export type { LevelledLogger, LogFields, Logger, LogMethod } from './values/logger.ts'
export type { Grow, MailboxKind, MailboxOwner, MailboxQueue, Overflow, WaitingOffer } from './values/mailbox.ts'
export { type Middleware, type Passage, swallow } from './values/middleware.ts'
export type { FlightEntry, FlightLog, FlightNote, FlightRecorder, FlightSubject } from './values/flight.ts'
export type { Observation } from './values/observation.ts'
export type { Phase } from './values/phase.ts'
export type {
  DispatcherOptions,
  Drain,
  Extension,
  Placement,
  ShutdownOptions,
  ShutdownReport,
  SpawnOptions,
  SystemOptions,
} from './values/options.ts'
export type { DropReason, LedgerReport } from './values/ledger.ts'
export type { Backoff, FailureContext, Scope, Supervision, SupervisionPolicy } from './values/policy.ts'
export type { ExecutionRuntime, RuntimeSource, SchedulerChoices } from './values/runtime.ts'
export type { ActorRef, AnswerTo, AnyRef, Ask, AskOptions, DeadlockMode, Headers, QuestionOf, RepliesOf, Tell, TellOptions } from './values/ref.ts'
export type { MessageSchema, SchemaResult } from './values/schema.ts'
export type {
  ChildFailed,
  ChildStopped,
  Directive,
  ExitReason,
  PostRestart,
  PostStart,
  PostStop,
  PreRestart,
  PreStart,
  PreStop,
  ReceiveTimeout,
  Signal,
  Terminated,
  TerminationReason,
} from './values/signals.ts'
export { measured, type MeasuredOptions } from './cell/message/measuring.ts'
export type { Measuring } from './values/measuring.ts'
export type { ClassThatNeedsNoArgs, MayHaveArgs, NeedsArgs, OptionsFor, Spawned } from './values/spawnable.ts'
export type { SystemPhase, SystemView } from './values/system.ts'
export { type BoundOptions, bounded, grow, mailboxOf, type MailboxOptions, priority, unbounded } from './patterns/mailboxes.ts'
export { ActorSystem, type DispatcherState } from './system/actor-system.ts'
export type {
  ActorMetrics,
  DispatcherMetrics,
  EventTotals,
  HistogramReport,
  SupervisionCounts,
  SystemCounts,
  SystemMetrics,
} from './values/metrics.ts'
export type { DeadLetters, Failures } from './system/recent.ts'
export type { Dispatchers } from './system/dispatchers.ts'
export type { EventSelector, EventStream, Subscription, SubscriptionOptions, SubscriptionState } from './values/event-stream.ts'
export { flightRecorder } from './system/flight-recorder.ts'
export { ExecutionRuntimes } from './system/execution-runtimes.ts'
export {
  buffered,
  type BufferedChannel,
  type BufferOverflow,
  eventsOf,
  type EventsOptions,
  immediate,
  type ObservationChannel,
} from './system/observation-channel.ts'
export type { ActorSnapshot } from './system/inspection.ts'
export { Actor, behaviorOfClass, handleOf } from './patterns/actor-class.ts'
export { CancellationToken, type WaitOptions } from './patterns/cancellation.ts'
export { Channel, type Received, type Receiver, type Sender } from './patterns/channel.ts'
export { delay, timeout, type TimedOptions } from './patterns/delay.ts'
export { CallTimeout, CircuitBreaker, type CircuitBreakerOptions, CircuitOpen, type CircuitState } from './patterns/circuit-breaker.ts'
export { type At, type Decided, Decision, fsm, type Machine, type State } from './patterns/fsm.ts'
export { entities, type EntitiesOptions, EntityCommand, passivateEntity } from './patterns/entities.ts'
export { passivate, type PassivateOptions } from './patterns/passivation.ts'
export { reject } from './patterns/rejection.ts'
export { processor, type ProcessorOptions } from './patterns/processor.ts'
export { type Listing, type Receptionist, receptionistOf, ServiceKey, serviceKey } from './patterns/receptionist.ts'
export { addRoutee, listRoutees, removeRoutee, resize, RouterCommand } from './patterns/router/command.ts'
export { group, type GroupOptions } from './patterns/router/group.ts'
export { pool, type PoolOptions } from './patterns/router/pool.ts'
export {
  broadcast,
  type Candidate,
  consistentHash,
  leastLoaded,
  type Picker,
  random,
  roundRobin,
  type RoutingStrategy,
  scatterGatherFirst,
} from './patterns/router/strategy.ts'
export { formatTree } from './patterns/format-tree.ts'
export { retry, type RetryOptions } from './patterns/retry.ts'
export { select, type SelectCases, type Selected, type Sending, sending } from './patterns/select.ts'
export { race, type Task, TaskGroup, type TaskGroupOptions } from './patterns/task-group.ts'
export { hostClock } from './ports/clock.ts'
export {
  type AnyChildSpec,
  child,
  type ChildOptions,
  type ChildSpec,
  type ChildTemplate,
  type Child,
  type RestartType,
  type Shutdown,
  template,
  type Siblings,
} from './patterns/supervisor/child-spec.ts'
export { supervisorClient, type SupervisorClient } from './patterns/supervisor/client.ts'
export {
  ChildRefused,
  ChildUnrecoverable,
  type CountedRestart,
  InvalidChildren,
  type RefusalReason,
  RestartIntensityExceeded,
} from './patterns/supervisor/errors.ts'
export type { ChildCount, ChildInfo, ChildKey, ChildReply, SupervisorMessage } from './patterns/supervisor/protocol.ts'
export { supervisor, type SupervisorOptions } from './patterns/supervisor/supervisor.ts'
export type { Strategy } from './patterns/supervisor/scope.ts'
export type { AutoShutdown, ChildStatus } from './patterns/supervisor/tree.ts'
export { ManualRuntime } from './ports/manual.ts'
export { HostRuntime } from './ports/host.ts'
export { supervise, type SuperviseOptions } from './deciders/supervision.ts'

// The public API of @troupe/testkit, by hand.

import { requireCore } from '@troupe/core/internal'

export { type ContractCase, mailboxContract, type MailboxContractOptions } from './mailbox-contract.ts'
export { type BehaviorKitOptions, BehaviorTestKit, type Effect } from './behavior-kit.ts'
export { Inbox } from './fake-context.ts'
export { expectNoFindings, type NoFindingsOptions } from './no-findings.ts'
export { createTestKit, type LogLine, type TestKit, type TestKitOptions } from './test-kit.ts'
export type { MessageGuard } from './message-guard.ts'
export { type Replayable, replayCapsule, type Replayed } from './replay/replay.ts'
export { Probe } from './probe.ts'
export { seeded } from './random.ts'
export type { Strategy } from './sim/choices.ts'
export { type Faults, InjectedFault, someFaults } from './sim/faults.ts'
export {
  type RunEvent,
  type Scenario,
  simulate,
  type SimulateOptions,
  SimulationFailed,
  type SimulationFailure,
  type SimulationReport,
} from './sim/simulate.ts'
export type { EventKind } from './sim/trace.ts'
export type { SimPlace } from './sim/sim-place.ts'
export { buggify, Simulation } from './sim/simulation.ts'
export type { InvariantId, Violation } from './sim/violation.ts'
export { VirtualClock } from './virtual-time.ts'

requireCore('@troupe/testkit', 1)

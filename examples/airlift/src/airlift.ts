// Airlift as it is seen and broken from outside, wherever its drones live: in one process (`one-process.ts`), or on several nodes (`nodes/`).

import type { ActorSystem, LedgerReport } from '@troupe/core'
import type { Line } from './audit-log.ts'
import type { Auditor } from './auditor.ts'
import type { Switches } from './district.ts'
import type { MeterReading } from './meter.ts'
import type { Sky } from './sky.ts'
import type { Point, World } from './world.ts'

/** What is measured of it at one moment. */
export interface Measures extends MeterReading {
  readonly ledger: LedgerReport
  /** How long the last questions took, in ms: to a depot, whose answer waits for the journal, and to a planner on its thread. */
  readonly askDepot: number
  readonly askPlanner: number
}

export type NodeState = 'starting' | 'up' | 'down'

/** One of several nodes, as the page shows it. */
export interface NodeFacts {
  readonly name: string
  readonly state: NodeState
  readonly pid: number | undefined
  readonly actors: number
  readonly heap: number
  /** The observer's page of that node. */
  readonly observer: string | undefined
}
/** Who has what, where there are several. */
export interface Nodes {
  readonly facts: readonly NodeFacts[]
  /** The node of each district; undefined while it has none. */
  readonly owners: readonly (string | undefined)[]
}

export interface Airlift {
  readonly world: World
  /** What the observer looks at. */
  readonly system: ActorSystem
  readonly sky: Sky
  readonly auditor: Auditor
  readonly lines: readonly Line[]
  readonly switches: Readonly<Switches>
  /** Undefined in one process. */
  readonly nodes: Nodes | undefined
  /** Resolves once every drone is where it was. Rejects where the journal cannot be opened or read. */
  readonly ready: Promise<void>
  say(text: string): void
  /** A drone fails at its next turn. */
  crash(drone: number): void
  /** All drones in the air within the circle fail; says how many. */
  storm(at: Point, radius: number): number
  /** One of the threads that plan routes never comes back from its next message. */
  hangThread(): void
  breakCharger(district: number): void
  crashDistrict(district: number): void
  supervise(on: boolean): void
  /** Sends customers away; what is in flight goes on. */
  close(): void
  measure(): Promise<Measures>
  /** What was told is handled, and everything in flight is in the journal. */
  end(): Promise<{ readonly stopped: number; readonly killed: number }>
}

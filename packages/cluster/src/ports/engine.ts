// An engine gives a node its registry and its wire. The choice of one is the only place where a cluster knows what it runs on.

import type { Registry } from './registry.ts'
import type { Timing } from './timing.ts'
import type { Wire } from './wire.ts'

/** Who connects. */
export interface Joining {
  readonly cluster: string
  readonly node: string
  readonly timing: Timing
  /** Told of what goes wrong and is tried again. */
  readonly onTrouble: (text: string, cause: unknown) => void
}

/** What a node has of an engine for as long as it is connected. */
export interface Connection {
  readonly registry: Registry
  readonly wire: Wire
  /** The lease that suits this engine, in ms: longer than it takes to come back from a failure of its own. */
  readonly lease: number
  /** Milliseconds of a clock that goes on when the process is started anew; where nothing outlives the process it is left out. */
  wall?(): number
  /** Ends it; operations that wait fail with `RegistryUnavailable`. */
  close(): Promise<void>
}

/** What a cluster runs on, made by `nats()` or `memory()`. */
export interface Engine {
  readonly name: string
  /** Rejects with `EngineRefused` where the engine cannot be used as it is. */
  connect(joining: Joining): Promise<Connection>
}

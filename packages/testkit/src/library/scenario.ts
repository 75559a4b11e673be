// What a scenario of the library is, so that the command line and the tests can run them all.

import type { SimulateOptions } from '../sim/simulate.ts'
import type { Simulation } from '../sim/simulation.ts'

export interface LibraryScenario {
  readonly name: string
  /** What it is after, in one sentence. */
  readonly about: string
  readonly run: (sim: Simulation) => void | Promise<void>
  readonly options?: SimulateOptions
}

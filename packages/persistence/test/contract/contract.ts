// What every journal must do, whatever it is made of. Each test has a store of its own; two handles of it stand for two processes.

import { afterEach, beforeEach, describe } from 'vitest'
import { fencesContract } from './fences.ts'
import { keysContract } from './keys.ts'
import { projectionsContract } from './projections.ts'
import { readersContract } from './readers.ts'
import { runsContract } from './runs.ts'
import { snapshotsContract } from './snapshots.ts'
import { Stage, type Store } from './stage.ts'
import { statesContract } from './states.ts'
import { timersContract } from './timers.ts'

/** Runs the contract against a journal; one that is made of memory keeps what it stores there. */
export function journalContract(name: string, make: () => Promise<Store>, keepsInMemory = false): void {
  describe(`${name} keeps the contract of a journal`, () => {
    const stage = new Stage(make, keepsInMemory)
    beforeEach(() => stage.begin())
    afterEach(() => stage.end())
    for (const part of [
      runsContract,
      fencesContract,
      snapshotsContract,
      statesContract,
      readersContract,
      projectionsContract,
      timersContract,
      keysContract,
    ])
      part(stage)
  })
}

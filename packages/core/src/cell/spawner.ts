// How a dispatcher whose actors run elsewhere, on another thread, makes the cell that stands for one here. A dispatcher
// without one makes plain cells; only spawning on one that has it comes by here.

import type { SpawnOptions } from '../values/options.ts'
import type { Cell } from './cell.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { LocalRef } from './local-ref.ts'
import type { CellOptions } from './options.ts'

export interface Spawner {
  /** Checks whether this can run there, and refuses it by an error; returns what makes its cell, undefined for a plain one. */
  prepare(
    spawnable: unknown,
    args: readonly unknown[],
    given: SpawnOptions,
    resolved: CellOptions,
    dispatcher: Dispatcher,
  ): ((ref: LocalRef) => Cell) | undefined
}

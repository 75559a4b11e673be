// How a dispatcher whose actors run elsewhere, on another thread, makes the cell that stands for one here. A dispatcher
// without one makes plain cells; only spawning on one that has it comes by here.

import type { Histogram } from '../../queues/histogram.ts'
import type { SpawnOptions } from '../../values/options.ts'
import type { Cell } from '../turn/cell.ts'
import type { Dispatcher } from '../turn/dispatcher.ts'
import type { Shares } from '../turn/fairness.ts'
import type { LocalRef } from '../ref/local-ref.ts'
import type { CellOptions } from './options.ts'

/** What the threads of a dispatcher have done together. */
export interface RemoteWork {
  readonly population: number
  readonly depth: number
  readonly workers: number
  readonly turns: number
  readonly messages: number
  readonly unfinished: number
  readonly shares: Shares
  readonly loopLatency: Histogram
}

export interface Spawner {
  /** What is done there, as far as it was shown; undefined where only that of this thread is known. */
  work?(): RemoteWork
  /** Checks whether this can run there, and refuses it by an error; returns what makes its cell, undefined for a plain one. */
  prepare(
    spawnable: unknown,
    args: readonly unknown[],
    given: SpawnOptions,
    resolved: CellOptions,
    dispatcher: Dispatcher,
  ): ((ref: LocalRef) => Cell) | undefined
}

import type { Bundled } from './bundle.mjs'
import type { Tally } from './tally.mjs'

export interface Known {
  readonly test: string
  readonly note: string
}

export declare function runFiles(
  command: readonly string[],
  files: readonly string[],
  bundled: Bundled,
  knownOf: (file: string) => readonly Known[],
  heard: (file: string, tally: Tally) => void,
): Promise<void>

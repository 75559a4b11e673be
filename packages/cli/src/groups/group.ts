// What a group of commands is added to.

import type { Command } from 'commander'
import type { Surroundings } from '../surroundings.ts'

export interface Group {
  readonly program: Command
  readonly around: Surroundings
  /** What the command ends with, if not with 0. */
  readonly end: (code: number) => void
}

// What the command has of its process; a test has another.

import type { Keys } from './commands/top.ts'
import type { Interrupts } from './running/interrupts.ts'
import type { Screen } from './style.ts'

/** What the command has of its process. */
export interface Surroundings {
  readonly screen: Screen
  readonly keys: Keys | undefined
  /** Where mistakes are told, and what `run` says: standard output is the application's. */
  complain(text: string): void
  /** Says what is waited for, where somebody sees that: on standard error, if it is a terminal. */
  waitFor?(what: string): void
  readonly version: string
  /** The signals that end what runs; none where a program runs the command that has its own. */
  readonly interrupts?: Interrupts | undefined
}

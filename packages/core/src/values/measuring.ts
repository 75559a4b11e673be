// What measures actors, as an option: made by `measured`, so that a program that measures none carries nothing of it.

import type { MailboxKind } from './mailbox.ts'

/** Made by `measured`; what it does with an actor is the system's. */
export abstract class Measuring {
  /** After how many milliseconds what was measured is observed, again and again; undefined: not at all. */
  abstract readonly every: number | undefined
  /** The mailbox of an actor that was given none: one that stays. */
  abstract readonly mailbox: MailboxKind
  /** Called when the actor is made. */
  abstract begin(cell: never): void
}

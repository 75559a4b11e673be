// A kind of mailbox whose queues keep their word, so that a cell may use them as they are. What somebody else wrote becomes
// one by `mailboxOf`, which contains it: a program that has no such mailbox carries none of that.

import type { MailboxKind, MailboxOwner, MailboxQueue, Overflow } from '../values/mailbox.ts'

/** A queue that takes messages at its front too. */
export type FrontableQueue = MailboxQueue & { unshift(message: unknown, meta: unknown): void }

/** The queue of a new actor, from a kind that `spawn` has checked. */
export function openMailbox(kind: MailboxKind, cell: unknown): FrontableQueue {
  return (kind as OwnKind).open(cell)
}

/** What `spawn` takes; only the functions of kinds.ts make it, and they check what they are given. */
export class OwnKind implements MailboxKind {
  declare readonly kind: string
  declare readonly capacity?: number | undefined
  declare readonly overflow?: Overflow | undefined
  declare readonly systemShare?: number | undefined
  declare readonly create: (owner: MailboxOwner) => FrontableQueue
  declare readonly ownerOf: ((cell: never) => MailboxOwner) | undefined
  /** Without `ownerOf` for queues that need nobody. */
  constructor(
    kind: string,
    create: (owner: MailboxOwner) => FrontableQueue,
    about: Omit<MailboxKind, 'kind' | 'create'> = {},
    ownerOf?: (cell: never) => MailboxOwner,
  ) {
    this.kind = kind
    this.create = create
    this.capacity = about.capacity
    this.overflow = about.overflow
    this.systemShare = about.systemShare
    this.ownerOf = ownerOf
  }
  open(cell: unknown): FrontableQueue {
    return this.create(this.ownerOf?.(cell as never) as MailboxOwner)
  }
}

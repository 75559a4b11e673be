// What happened, line by line, bounded twice: its mailbox drops the oldest when more comes than it takes, and it keeps the last lines only.

import { type Behavior, bounded, type MailboxKind, receive, same } from '@troupe/core'

export interface Line {
  readonly at: number
  readonly text: string
}

export const logMailbox: MailboxKind = bounded(256, 'drop-oldest')
const kept = 200

/** Writes into `lines`, the newest last. */
export function auditLog(lines: Line[]): Behavior<Line> {
  return receive((_ctx, line) => {
    lines.push(line)
    if (lines.length > kept) lines.splice(0, lines.length - kept)
    return same
  })
}

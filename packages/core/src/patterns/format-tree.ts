// A tree of actors as aligned text, for logs, tests and terminals. One line per actor; columns that say nothing
// about anybody are left out.
//
//   user          running
//   └─ storage    running
//      ├─ db      running     restarts 2
//      └─ cache   restarting  restarts 1  queued 7  (backoff)

import { unreadable } from '../values/checks.ts'
import type { ActorSnapshot } from '../system/inspection.ts'

/**
 * The tree of `system.inspect()` as text: one line per actor, with its phase, restarts, mailbox depth, stash, and what
 * it waits for. Deterministic: no times, no uids but in the names of unnamed actors.
 *
 * @example
 * console.log(formatTree(await system.inspect()))
 */
export function formatTree(root: ActorSnapshot): string {
  try {
    return textOf(root)
  } catch (cause) {
    throw unreadable('root', root, cause)
  }
}

function textOf(root: ActorSnapshot): string {
  const rows: string[][] = []
  const stack: [string, string, ActorSnapshot][] = [['', '', root]]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const [lead, indent, actor] = at
    rows.push([lead + actor.name, ...columnsOf(actor)])
    const last = actor.children.length - 1
    for (let i = last; i >= 0; i--)
      stack.push([`${indent}${i === last ? '└─ ' : '├─ '}`, `${indent}${i === last ? '   ' : '│  '}`, actor.children[i]!])
  }
  const widths: number[] = []
  for (const row of rows) for (let i = 0; i < row.length; i++) widths[i] = Math.max(widths[i] ?? 0, row[i]!.length)
  const used = widths.flatMap((width, i) => (width > 0 ? [i] : []))
  return rows
    .map((row) =>
      used
        .map((i) => row[i]!.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function columnsOf(a: ActorSnapshot): string[] {
  const notes: string[] = []
  if (a.pending !== undefined) notes.push(`awaiting ${a.pending.what}`)
  if (a.waiting !== undefined && a.waiting.reason !== a.phase) notes.push(`(${a.waiting.reason})`)
  return [a.phase, count('restarts', a.incarnation), count('queued', a.queued), count('stashed', a.stashed), notes.join(' ')]
}

function count(what: string, n: number): string {
  return n === 0 ? '' : `${what} ${n}`
}

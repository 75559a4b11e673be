// A tree of actors as aligned text, for logs, tests and terminals.

import type { ActorSnapshot } from '../system/inspection.ts'

/**
 * The tree of `system.inspect()` as text: one line per actor, with phase, restarts and mailbox depth.
 *
 * @example
 * console.log(formatTree(await system.inspect()))
 */
export function formatTree(root: ActorSnapshot): string {
  const rows: [string, ActorSnapshot][] = []
  const stack: [string, string, ActorSnapshot][] = [['', '', root]]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const [lead, indent, actor] = at
    rows.push([lead + actor.name, actor])
    const last = actor.children.length - 1
    for (let i = last; i >= 0; i--)
      stack.push([`${indent}${i === last ? '└─ ' : '├─ '}`, `${indent}${i === last ? '   ' : '│  '}`, actor.children[i]!])
  }
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, a]) => `${name.padEnd(width)}  ${describe(a)}`.trimEnd()).join('\n')
}

function describe(a: ActorSnapshot): string {
  const parts = [a.phase.padEnd(10)]
  if (a.incarnation > 0) parts.push(`restarts ${a.incarnation}`)
  if (a.queued > 0) parts.push(`queued ${a.queued}`)
  if (a.stashed > 0) parts.push(`stashed ${a.stashed}`)
  if (a.pending !== undefined) parts.push(`awaiting ${a.pending.what}`)
  if (a.waiting !== undefined) parts.push(`(${a.waiting.reason})`)
  return parts.join('  ')
}

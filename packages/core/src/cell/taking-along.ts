// What becomes of children that failed up to their parent, once it has been decided about the parent: they share its
// lot. Without this they would stay failed for good, with messages queueing and nobody left to decide.

import type { Cell } from './cell.ts'

/** A parent that goes on takes along the children that failed up to it. */
export function resumeEscalated(cell: Cell): void {
  for (let c = cell.children?.first; c !== undefined; c = c.next) if (c.phase === 'failed') c.command({ verb: 'resume', along: true })
}

/** A parent that restarts and keeps its children restarts those that failed up to it. */
export function restartEscalated(cell: Cell, cause: unknown): void {
  for (let c = cell.children?.first; c !== undefined; c = c.next) if (c.phase === 'failed') c.command({ verb: 'restart', cause, delay: 0 })
}

// What becomes of children that failed up to their parent, once it has been decided about the parent: they share its
// lot. Without this they would stay failed for good, with messages queueing and nobody left to decide.

import type { Cell } from '../turn/cell.ts'
import { infoIn } from './phase-info.ts'

/** A parent that goes on takes along the children that failed up to it. */
export function resumeEscalated(cell: Cell): void {
  for (let c = cell.children?.first; c !== undefined; c = c.next) if (c.phase === 'failed') c.command({ verb: 'resume', along: true })
}

/**
 * A parent that begins anew and has kept its children begins those anew that failed up to it. With it, not before: until then there is
 * nobody to fail up to, so that a child which fails again at once would have no policy and no backoff between it and the next try.
 */
export function restartEscalated(cell: Cell, cause: unknown): void {
  for (let c = cell.children?.first; c !== undefined; c = c.next) {
    const info = infoIn(c, 'failed')
    if (info === undefined) continue
    // What it had to say may still be in the parent's lane, and is settled with this.
    info.told = true
    c.command({ verb: 'restart', cause, delay: 0 })
  }
}

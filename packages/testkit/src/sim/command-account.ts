// What was asked of an actor from outside, and whether it came about: who was told to stop ends, who was suspended stays
// so until resumed, who was told to restart begins anew.

import { type Command, takesMessages } from '@troupe/core/internal'
import type { Phase } from '@troupe/core'
import { SimCell as Watched } from './sim-cell.ts'
import type { SimCell } from './sim-cell.ts'
import type { SimTap } from './sim-tap.ts'

export class CommandAccount {
  readonly #tap: SimTap
  constructor(tap: SimTap) {
    this.#tap = tap
  }
  asked(cell: SimCell, command: Command): void {
    switch (command.verb) {
      case 'kill':
        cell.killed = true
        cell.stopAsked = true
        return
      case 'stop':
        cell.stopAsked = true
        return
      case 'suspend':
        cell.suspendAsked = true
        return
      case 'resume':
        // Who goes on with his parent stays suspended where he was.
        if (command.along === true) return this.#checkAlong(cell)
        // What waits before it may have it come up, fail, go on or be suspended: which of these this ends is not known.
        if (cell.phase !== 'running' && cell.phase !== 'suspended' && (cell.lane?.commands.size ?? 0) > 0) cell.suspendAsked = undefined
        else cell.suspendAsked = false
        return
      case 'restart':
      case 'hold':
        // What begins the next incarnation may stand before it in the lane.
        cell.restartDue = cell.phase === 'restarting' ? cell.incarnation + 1 : cell.incarnation
        this.#checkParent(cell)
        if (cell.phase === 'failed' && cell.failures !== undefined) cell.failures.retried = false
        if (command.verb === 'restart' && (cell.phase === 'running' || cell.phase === 'suspended')) cell.restartAsked = cell.incarnation
        return
      default:
    }
  }
  /** A parent that is being replaced has nothing to decide: who failed up to it waits until it begins anew. */
  #checkParent(cell: SimCell): void {
    const parent = cell.ref.parent?.cell
    if (cell.phase === 'failed' && parent === this.#tap.current && parent?.phase === 'starting') cell.toldAnew = cell.incarnation
    if (cell.phase === 'failed' && parent === this.#tap.current && parent instanceof Watched && parent.phase === 'restarting' && !parent.inUserCode)
      this.#tap.violate(
        'C6',
        cell,
        `failed up to ${parent.ref.path}, and is restarted before that has begun anew: no policy and no backoff bounds it`,
      )
  }
  /** Who failed up goes on with his parent: when that goes on from a failure, and not from anything else. */
  #checkAlong(cell: SimCell): void {
    const parent = cell.ref.parent?.cell
    if (parent instanceof Watched && parent.wentOn !== this.#tap.turns)
      this.#tap.violate('C6', cell, `failed up to ${parent.ref.path}, and is told to go on, though nobody has decided about that one`)
  }
  phased(cell: SimCell, from: Phase, to: Phase): void {
    if (from === 'failed' && to === 'running') cell.wentOn = this.#tap.turns
    if (to === 'restarting' && from !== 'failed' && cell.restartDue < cell.incarnation)
      this.#tap.violate('C6', cell, `is restarted in incarnation ${cell.incarnation}, and nobody asked for that since it began`)
    // Whether it is suspended again behind the restart depends on who restarts it, and on what else waits in its lane.
    if (to === 'restarting' && from === 'suspended') cell.suspendAsked = undefined
  }
  /** Nothing is left to do at this moment. */
  check(cell: SimCell): void {
    const { phase } = cell
    if (cell.stopAsked && takesMessages(phase)) this.#tap.violate('C4', cell, `was asked to stop, and is ${phase}`)
    if (phase !== 'running' && phase !== 'suspended') return
    if (cell.restartAsked === cell.incarnation) this.#tap.violate('C7', cell, `was asked to restart, and is ${phase} in the same incarnation`)
    if (cell.suspendAsked !== undefined && cell.suspendAsked !== (phase === 'suspended'))
      this.#tap.violate('phases', cell, cell.suspendAsked ? 'was suspended, and runs' : 'was resumed or never suspended, and is suspended')
  }
}

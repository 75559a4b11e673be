// What was asked of an actor from outside, and whether it came about: who was told to stop ends, who was suspended stays
// so until resumed, who was told to restart begins anew.

import { type Command, takesMessages } from 'troupe/internal'
import type { Phase } from 'troupe'
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
        // Who failed while suspended goes on from the failure, and is still suspended.
        if (cell.phase !== 'failed') cell.suspendAsked = false
        return
      case 'restart':
        if (command.delay !== Infinity && (cell.phase === 'running' || cell.phase === 'suspended')) cell.restartAsked = cell.incarnation
        return
      default:
    }
  }
  phased(cell: SimCell, from: Phase, to: Phase): void {
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

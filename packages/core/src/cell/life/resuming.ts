// What was pending has settled: go on where it left off, in the cell's own turn.

import type { Cell } from '../turn/cell.ts'
import { disarmStep } from './pending.ts'
import { phaseInfo } from './phase-change.ts'
import { proceedRestart } from './restarting.ts'
import { awaitChildren, proceedStop } from './stopping.ts'

export function resumePending(cell: Cell): void {
  const extras = cell.extras!
  const call = extras.pending
  if (call?.state === 'settled') {
    extras.pending = undefined
    // The silence begins now, not when the timer last looked.
    extras.receiveTimer?.touch(cell.dispatcher.now)
    call.continuation(cell, call.ok, call.value)
  }
}

/** A stop or restart that came meanwhile was waiting for just this. */
export function resumeEnding(cell: Cell): void {
  if (cell.phase === 'stopping' && phaseInfo(cell).step === 'handler') proceedStop(cell)
  else if (cell.phase === 'stopping' && phaseInfo(cell).step === 'children' && cell.extras?.pending === undefined) {
    // The handler of a ChildStopped: with an empty lane nothing else would notice that the last child has gone.
    disarmStep(cell)
    if (cell.lane === undefined) awaitChildren(cell)
  } else if (cell.phase === 'restarting' && phaseInfo(cell).step === 'handler') proceedRestart(cell)
}

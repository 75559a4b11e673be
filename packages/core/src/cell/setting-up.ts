// From a behavior to one that can handle messages: runs `setup`, also nested and async, in the actor's own turn.

import { BehaviorNode } from '../values/behavior.ts'
import { isThenable } from '../values/thenable.ts'
import type { Cell } from './cell.ts'
import { type Continuation, hold } from './pending.ts'
import { refusalOf } from './returned.ts'

/** Resolves to a node of kind `receive` or `stopped`, and goes on with it, or with the cause of a failure. */
export function resolveNode(cell: Cell, node: BehaviorNode, given: Continuation): void {
  const { signal } = node
  // A signal handler given to the setup itself is that of whatever comes out of it.
  const then: Continuation =
    signal === undefined
      ? given
      : (c, ok, made) => given(c, ok, ok && (made as BehaviorNode).kind === 'receive' ? (made as BehaviorNode).onSignal(signal) : made)
  let at: unknown = node
  try {
    while (at instanceof BehaviorNode && at.kind === 'setup' && (at === node || at.signal === undefined)) {
      const made = (at.handle as (ctx: unknown) => unknown)(cell.ctx)
      if (isThenable(made)) {
        hold(cell, made, 'setup', (c, ok, value) => {
          if (ok) settled(c, value, then)
          else then(c, false, value)
        })
        return
      }
      at = made
    }
  } catch (cause) {
    then(cell, false, cause)
    return
  }
  settled(cell, at, then)
}

function settled(cell: Cell, made: unknown, then: Continuation): void {
  if (made instanceof BehaviorNode && made.kind === 'setup') resolveNode(cell, made, then)
  else finish(cell, made, then)
}

function finish(cell: Cell, made: unknown, then: Continuation): void {
  if (made instanceof BehaviorNode && (made.kind === 'receive' || made.kind === 'stopped')) then(cell, true, made)
  else then(cell, false, refusalOf(made, `The setup of ${cell.ref.path} returned`))
}

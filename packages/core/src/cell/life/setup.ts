// From a behavior to one that can handle messages: runs `setup`, also nested and async, in the actor's own turn.

import { BehaviorNode, SpawnOnly } from '../../values/behavior.ts'
import { isThenable } from '../../values/thenable.ts'
import type { Cell } from '../turn/cell.ts'
import { keepHandlers, type SignalHandlerOf } from './hearing.ts'
import { type Continuation, hold } from './pending.ts'
import { refusalOf } from './returned.ts'

/** What a setup returned; a behavior whose options can still hold brings them, while the actor starts. */
function adopted(cell: Cell, made: unknown): unknown {
  return made instanceof SpawnOnly && cell.phase === 'starting' ? (made.adopt(cell) ?? made) : made
}

/** Resolves to a node of kind `receive` or `stopped`, and goes on with it, or with the cause of a failure. */
export function resolveNode(cell: Cell, node: BehaviorNode, then: Continuation): void {
  resolve(cell, node, undefined, then)
}

/** `handlers` are those of the setups that were run before, outermost first. */
function resolve(cell: Cell, from: unknown, handlers: SignalHandlerOf[] | undefined, then: Continuation): void {
  let at = from
  let heard = handlers
  try {
    while (at instanceof BehaviorNode && at.kind === 'setup') {
      if (at.signal !== undefined) (heard ??= []).push(at.signal)
      const made = (at.handle as (ctx: unknown) => unknown)(cell.ctx)
      if (isThenable(made)) {
        hold(cell, made, 'setup', (c, ok, value) => {
          if (ok) resolve(c, adopted(c, value), heard, then)
          else then(c, false, value)
        })
        return
      }
      at = adopted(cell, made)
    }
  } catch (cause) {
    then(cell, false, cause)
    return
  }
  if (!(at instanceof BehaviorNode) || (at.kind !== 'receive' && at.kind !== 'stopped'))
    return then(cell, false, refusalOf(at, `The setup of ${cell.ref.path} returned`))
  if (heard !== undefined) keepHandlers(cell, heard)
  then(cell, true, at)
}

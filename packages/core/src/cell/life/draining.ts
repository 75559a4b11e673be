// What becomes of messages that an actor leaves behind: dead letters, drops, or the mailbox of another.

import { takesMessages } from '../../deciders/phase.ts'
import type { Cell } from '../turn/cell.ts'
import { Envelope, type Meta } from '../message/envelope.ts'
import { cellOf } from '../ref/local-ref.ts'
import { poison, poisonPill } from '../message/poison.ts'
import type { EndInfo } from './phase-info.ts'
import { paced } from './portion.ts'
import type { Restarting } from './restarting.ts'

/** In place of a drain: what the actor leaves goes to the one that takes its place. */
export abstract class Succession {
  /** Undefined where there is none: then it is dead letters. */
  abstract successorOf(cell: Cell): Cell | undefined
}

/** Empties stash and mailbox of a stopped cell as its options say, as far as the slice goes. False: there is more. */
export function drainMailbox(cell: Cell, end: EndInfo): boolean {
  const stash = cell.extras?.stash
  if (stash === undefined && cell.queuedMessages === 0) return true
  const { host } = cell
  const { drain } = cell.options
  // Looked for when the first message needs it: a successor is made for somebody.
  let target: Cell | null | undefined
  const leave = (message: unknown, meta: Meta): void => {
    if (meta === poison || (meta instanceof Envelope && meta.obsolete)) return host.drop(message, meta, 'drain')
    host.undelivered++
    if (typeof drain === 'object' && target === undefined) target = targetOf(cell, drain) ?? null
    if (drain === 'drop') host.drop(message, meta, 'drain')
    else if (!target) {
      const reason = drain !== 'dead-letter' && 'redirect' in drain ? 'redirect-cycle' : host.phase === 'open' ? 'stopped' : 'system-closed'
      host.bury(message, meta, cell.ref, reason, end.cause)
    } else {
      if (meta instanceof Envelope) meta.moved(target)
      target.put(message, meta)
    }
  }
  const goesOn = paced(cell)
  for (;;) {
    const stashed = stash?.take()
    const message = stashed === undefined ? cell.take() : stashed
    if (message === undefined) return true
    leave(message, stashed === undefined ? cell.dispatcher.takenMeta : stash!.takenMeta)
    // A successor begins when it has everything: what it did in between might put others in front of the rest.
    if (!goesOn() && !(target && drain instanceof Succession)) return false
  }
}

function targetOf(cell: Cell, drain: object): Cell | undefined {
  return drain instanceof Succession ? drain.successorOf(cell) : redirectOf(cell)
}

/** The first living actor along the redirects; undefined where they lead nowhere or back. */
function redirectOf(cell: Cell): Cell | undefined {
  const seen = new Set<Cell>([cell])
  // Those added on the way are looked at too, each once: a circle ends the walk.
  for (const { options } of seen) {
    const { drain } = options
    const next = typeof drain === 'object' && 'redirect' in drain ? cellOf(drain.redirect) : undefined
    if (next === undefined) break
    if (takesMessages(next.phase)) return next
    seen.add(next)
  }
  return undefined
}

/**
 * Drops what was queued when the incarnation ended, as far as the slice goes: for actors that want to restart with an empty mailbox.
 * Whoever asked for a stop still gets it. False: there is more.
 */
export function clearMailbox(cell: Cell, info: Restarting): boolean {
  const { host } = cell
  const goesOn = paced(cell)
  for (; info.uncleared > 0; info.uncleared--) {
    const message = cell.take()
    if (message === undefined) break
    if (cell.dispatcher.takenMeta === poison) info.pills++
    else host.drop(message, cell.dispatcher.takenMeta, 'restart')
    if (!goesOn()) {
      info.uncleared--
      return false
    }
  }
  for (; info.pills > 0; info.pills--) cell.put(poisonPill, poison)
  return true
}

// What becomes of messages that an actor leaves behind: dead letters, drops, or the mailbox of another.

import { takesMessages } from '../../deciders/phase.ts'
import type { Cell } from '../turn/cell.ts'
import { Envelope, type Meta } from '../message/envelope.ts'
import { cellOf } from '../ref/local-ref.ts'
import { poison, poisonPill } from '../message/poison.ts'
import type { EndInfo } from './phase-info.ts'
import { paced } from './portion.ts'
import type { Restarting } from './restarting.ts'

/** Empties stash and mailbox of a stopped cell as its options say, as far as the slice goes. False: there is more. */
export function drainMailbox(cell: Cell, end: EndInfo): boolean {
  const stash = cell.extras?.stash
  if (stash === undefined && cell.queuedMessages === 0) return true
  const { host } = cell
  const { drain } = cell.options
  const target = typeof drain === 'object' ? redirectOf(cell) : undefined
  const leave = (message: unknown, meta: Meta): void => {
    if (meta === poison || (meta instanceof Envelope && meta.obsolete)) return host.drop(message, meta, 'drain')
    host.undelivered++
    if (drain === 'dead-letter') host.bury(message, meta, cell.ref, host.phase === 'open' ? 'stopped' : 'system-closed', end.cause)
    else if (drain === 'drop') host.drop(message, meta, 'drain')
    else if (target === undefined) host.bury(message, meta, cell.ref, 'redirect-cycle', end.cause)
    else {
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
    if (!goesOn()) return false
  }
}

/** The first living actor along the redirects; undefined where they lead nowhere or back. */
function redirectOf(cell: Cell): Cell | undefined {
  const seen = new Set<Cell>([cell])
  // Those added on the way are looked at too, each once: a circle ends the walk.
  for (const { options } of seen) {
    const next = typeof options.drain === 'object' ? cellOf(options.drain.redirect) : undefined
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

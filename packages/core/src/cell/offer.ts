// Sending with an answer to "was there room?". An unbounded mailbox always has some; an actor that ends has none.

import { takesMessages } from '../deciders/phase.ts'
import type { Signal as AbortSignalLike } from '../values/abort.ts'
import { Cancelled, OfferRefused } from '../values/errors.ts'
import type { Cell } from './cell.ts'

export function offerTo(cell: Cell, message: unknown, signal: AbortSignalLike | undefined): Promise<void> {
  const { path } = cell.ref
  if (signal?.aborted === true) return Promise.reject(new Cancelled(`The offer to ${path}`, signal.reason))
  if (message === undefined) return Promise.reject(new OfferRefused(path, 'undefined is no message'))
  if (!takesMessages(cell.phase)) return Promise.reject(new OfferRefused(path, 'the actor has stopped'))
  cell.send(message, undefined)
  return Promise.resolve()
}

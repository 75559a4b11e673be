// Sending with an answer to "was there room?". An unbounded mailbox always has some; a full one that blocks lets the
// offer wait, first come first served; an actor that ends has none. Only what was taken counts as sent.

import { takesMessages } from '../../deciders/phase.ts'
import { isAborted, listenTo, reasonOf } from '../../ports/on-abort.ts'
import type { AbortSignalLike } from '../../values/abort.ts'
import { checkSignal, readOptions } from '../../values/checks.ts'
import { Cancelled, OfferRefused } from '../../values/errors.ts'
import type { WaitingOffer } from '../../values/mailbox.ts'
import type { Cell } from '../turn/cell.ts'
import type { Meta } from '../message/envelope.ts'
import { fuse } from '../message/fuse.ts'

interface OfferOptions {
  readonly signal?: AbortSignalLike | undefined
}

export function offerTo(cell: Cell, message: unknown, meta: Meta, options: OfferOptions | undefined): Promise<void> {
  const { path } = cell.ref
  let signal: AbortSignalLike | undefined
  try {
    if (options !== undefined) signal = readOptions('offer', options, { signal: checkSignal }).signal
    fuse.catcher?.refuse(`offer to ${path}`)
    if (isAborted(signal)) throw new Cancelled(`The offer to ${path}`, reasonOf(signal!))
  } catch (cause) {
    return Promise.reject(cause)
  }
  if (message === undefined) return Promise.reject(new OfferRefused(path, 'undefined is not a message'))
  if (!takesMessages(cell.phase)) return Promise.reject(new OfferRefused(path, 'the actor has stopped'))
  const { queue } = cell
  if (queue?.hasRoom?.() === false) {
    if (cell.options.mailbox?.overflow === 'block' && queue.wait !== undefined) return wait(cell, message, meta, signal)
    return Promise.reject(new OfferRefused(path, 'its mailbox is full'))
  }
  cell.send(message, meta)
  return Promise.resolve()
}

function wait(cell: Cell, message: unknown, meta: Meta, signal: AbortSignalLike | undefined): Promise<void> {
  // Not the short way out, on which nobody would look for those who wait.
  cell.ensureExtras()
  return new Promise((resolve, reject) => {
    const offer = new Waiting(message, meta, resolve, reject)
    if (signal !== undefined) offer.listen(signal, cell.ref.path)
    // Not one that was given up at once: a mailbox that stays full would keep it.
    if (!offer.ended) cell.queue!.wait!(offer)
  })
}

class Waiting implements WaitingOffer {
  declare readonly message: unknown
  declare readonly meta: unknown
  ended = false
  readonly #resolve: () => void
  readonly #reject: (cause: Error) => void
  #unlisten: (() => void) | undefined
  constructor(message: unknown, meta: Meta, resolve: () => void, reject: (cause: Error) => void) {
    this.message = message
    this.meta = meta
    this.#resolve = resolve
    this.#reject = reject
  }
  listen(signal: AbortSignalLike, path: string): void {
    const unlisten = listenTo(signal, () => this.fail(new Cancelled(`The offer to ${path}`, reasonOf(signal))))
    if (this.ended) unlisten()
    else this.#unlisten = unlisten
  }
  took(): void {
    this.#end()
    this.#resolve()
  }
  fail(cause: Error): void {
    if (this.ended) return
    this.#end()
    this.#reject(cause)
  }
  #end(): void {
    this.ended = true
    this.#unlisten?.()
    this.#unlisten = undefined
  }
}

// What looks at some sends without a price for the others: a count that every send takes one from, and that burns at 0. Unused it
// is too long to matter. Whoever runs a handler whose sends are to be held sets it to 1 for as long as that runs; whoever samples sends
// says how many may pass until the next one is looked at.

import type { PendingAsk } from '../ask/ask.ts'
import type { Cell } from '../turn/cell.ts'
import type { Meta } from './envelope.ts'

/** Takes what a handler sends, in place of whoever it is for; it may send it later. */
export interface Catcher {
  /** A message to an actor, or an answer; not counted as sent yet. */
  caught(target: Cell | PendingAsk, message: unknown, meta: Meta): void
  /** Something else that is felt outside: a stop, a watch. */
  acted(act: () => void): void
  /** Refuses by a throw what can be neither held nor let through. */
  refuse(what: string): never
}

/** Looks at a send now and then, and says when at the next. */
export interface Sampler {
  /** Sends until the next look. */
  readonly gap: number
  /** Whether the send is not to go on: then it has sent it itself. */
  sampled(target: Cell | PendingAsk, message: unknown, meta: Meta): boolean
  /** A message came from elsewhere with more than its sender: what goes along with it from here on. */
  arrived?(cell: Cell, message: unknown, meta: Meta): Meta
  /** What causes the send that is made now, for one that is held and made later; undefined for nothing that is followed. */
  cause?(): unknown
  /** Makes sends that were held as caused by that, whoever lets them go. */
  causedBy?(cause: unknown, send: () => void): void
}

const longest = 2 ** 30

class Fuse {
  left: number = longest
  /** Who takes what is sent now. */
  catcher: Catcher | undefined
  /** Who looks at some of what is sent. */
  sampler: Sampler | undefined
  /** What was left of it before a catcher came. */
  #kept = longest
  /** Whether the send is not to go on. */
  burn(target: Cell | PendingAsk, message: unknown, meta: Meta): boolean {
    const { catcher, sampler } = this
    this.left = 1
    if (catcher !== undefined) {
      catcher.caught(target, message, meta)
      return true
    }
    // What it sends itself is sent before the count begins anew.
    this.left = longest
    const sent = sampler?.sampled(target, message, meta) === true
    this.left = sampler?.gap ?? longest
    return sent
  }
  /** Lets somebody look at the next send, and then as it says; nobody, if undefined. Where a catcher is at work, afterwards. */
  sample(sampler: Sampler | undefined): void {
    this.sampler = sampler
    const next = sampler === undefined ? longest : 1
    this.#kept = next
    if (this.catcher === undefined) this.left = next
  }
  /** Lets a catcher take what is sent until `done` is called with what this returns. */
  catch(catcher: Catcher): Catcher | undefined {
    const outer = this.catcher
    if (outer === undefined) this.#kept = this.left
    this.catcher = catcher
    this.left = 1
    return outer
  }
  done(outer: Catcher | undefined): void {
    this.catcher = outer
    this.left = outer === undefined ? this.#kept : 1
  }
}

/** One for all systems of a thread: a handler may tell the actors of any. */
export const fuse: Fuse = new Fuse()

// One message through the chain of middleware and the clock that times it. Exists only for actors that have either.

import { NotAllowed } from '../../values/errors.ts'
import { type Middleware, type Passage, swallow } from '../../values/middleware.ts'
import type { AnyRef, Headers } from '../../values/ref.ts'
import type { Signal } from '../../values/signals.ts'
import { contain, isThenable, observed } from '../../values/thenable.ts'
import type { Cell } from './cell.ts'
import type { Context } from '../context/context.ts'
import { headersOf, type Meta, senderOf } from '../message/envelope.ts'

const noHeaders: Headers = /* @__PURE__ */ Object.freeze({})

// Plain fields, because one of these is made for every message; links see the interface only.
export class MessagePassage implements Passage {
  declare readonly cell: Cell
  declare readonly meta: Meta
  declare message: unknown
  /** How many links it has passed. */
  passed = 0
  kept: Map<unknown, unknown> | undefined
  /** When the handler began, where it is measured; NaN where it is not timed. */
  declare began: number | undefined
  constructor(cell: Cell, ctx: Context) {
    this.cell = cell
    this.meta = ctx.meta
    this.message = ctx.message
    this.began = cell.extras?.metrics?.handles(cell)
  }
  get ref(): AnyRef {
    return this.cell.ref
  }
  get sender(): AnyRef | undefined {
    return senderOf(this.meta)
  }
  get headers(): Headers {
    return headersOf(this.meta) ?? noHeaders
  }
  get notes(): Map<unknown, unknown> {
    return (this.kept ??= new Map())
  }
  /** What the handler is to see, or undefined when a link swallowed it. */
  enter(chain: readonly Middleware[]): unknown {
    for (const link of chain) {
      const given = link.before?.(this.message, this)
      if (given === swallow) {
        this.leave(chain)
        return undefined
      }
      if (isThenable(given) && given !== this.message) {
        observed(given, () => {})
        throw new NotAllowed(
          `Middleware ${link.name ?? ''} of ${this.ref.path} returned a promise from before. It can change or swallow a message, not delay it.`,
        )
      }
      if (given !== undefined) this.message = given
      this.passed++
    }
    return this.message
  }
  /** The handler is done. */
  leave(chain: readonly Middleware[]): void {
    this.measure()
    while (this.passed > 0) {
      const link = chain[--this.passed]!
      const returned: unknown = link.after?.(this.message, this)
      if (returned !== undefined) observed(returned, (cause) => linkFailed(this.cell, link, cause))
    }
  }
  /** The handler, or a link, has failed. */
  failed(chain: readonly Middleware[], cause: unknown): void {
    this.measure()
    while (this.passed > 0) {
      const link = chain[--this.passed]!
      guard(this.cell, link, () => link.error?.(cause, this.message, this))
    }
  }
  measure(): void {
    const { began } = this
    this.began = undefined
    if (began !== undefined) this.cell.extras?.metrics?.handled(this.cell, began)
  }
}

/** Tells the links of an actor of a signal that it is to hear. */
export function signalLinks(cell: Cell, signal: Signal): void {
  for (const link of cell.options.middleware) guard(cell, link, () => link.signal?.(signal, cell.ref))
}

/** Tells an actor's own links that it has ended. */
export function closeMiddleware(cell: Cell): void {
  for (const link of cell.options.ownMiddleware) guard(cell, link, () => link.close?.(cell.ref))
}

function guard(cell: Cell, link: Middleware, act: () => unknown): void {
  contain(act, (cause) => linkFailed(cell, link, cause))
}

function linkFailed(cell: Cell, link: Middleware, cause: unknown): void {
  cell.host.logger.error({ actor: cell.ref.path, cause, middleware: link.name }, 'a middleware failed; what it was told of goes on')
}

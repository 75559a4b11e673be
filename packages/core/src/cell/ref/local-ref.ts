// The ref of an actor on this thread. It outlives its cell's usefulness: a dead cell stays behind it, empty, so that
// telling needs no check for absence and the exit reason can still be asked for.

import { offerTo } from './offer.ts'
import { takesMessages } from '../../deciders/phase.ts'
import { anonymousName } from '../../values/path.ts'
import { checkOneOf, readOptions, type Table } from '../../values/checks.ts'
import { ForeignRef, pathOf } from '../../values/errors.ts'
import type { ActorRef, AnyRef, AskOptions, TellOptions } from '../../values/ref.ts'
import { askCell, contextNow } from '../ask/ask.ts'
import type { Cell } from '../turn/cell.ts'
import { Envelope, type Meta, Told } from '../message/envelope.ts'
import type { CellHost } from '../turn/host.ts'
import { poison, poisonPill } from '../message/poison.ts'

const stopTable: Table<{ readonly after?: 'current' | 'queued' | undefined }> = { after: [checkOneOf, ['current', 'queued']] }

export class LocalRef implements ActorRef<unknown> {
  declare readonly parent: LocalRef | undefined
  declare readonly name: string | undefined
  declare readonly uid: number
  cell!: Cell
  constructor(parent: LocalRef | undefined, name: string | undefined, uid: number) {
    this.parent = parent
    this.name = name
    this.uid = uid
  }
  get path(): string {
    let { parent: above } = this
    if (above === undefined) return this.base
    let below = `/${this.segment}`
    for (; above.parent !== undefined; above = above.parent) below = `/${above.segment}${below}`
    return above.base + below
  }
  /** What it is called in its path. */
  get segment(): string {
    return this.name ?? anonymousName(this.uid)
  }
  /** The name of its class, of a class actor. */
  get className(): string | undefined {
    return undefined
  }
  /** The path of one that has nobody above it here. */
  get base(): string {
    return `/${this.segment}`
  }
  tell(message: unknown, options?: AnyRef | TellOptions): void {
    this.cell.send(message, options === undefined ? undefined : metaFrom(options))
  }
  ask(question: unknown, options?: AskOptions): Promise<never> {
    return askCell(this.cell, question, options, contextNow(this.cell.host)) as Promise<never>
  }
  offer(message: unknown, options?: { readonly signal?: AskOptions['signal'] }): Promise<void> {
    return offerTo(this.cell, message, undefined, options)
  }
  stop(options?: { readonly after?: 'current' | 'queued' | undefined }): void {
    if (options === undefined || readOptions('stop', options, stopTable).after !== 'queued')
      this.cell.command({ verb: 'stop', reason: 'normal', cause: undefined })
    else if (takesMessages(this.cell.phase)) this.cell.send(poisonPill, poison)
  }
  toString(): string {
    return `ActorRef(${this.path}#${this.uid})`
  }
  toJSON(): string {
    return `${this.path}#${this.uid}`
  }
}

/** Meta of a tell: nothing, the sender's ref as it is, or an envelope for more; an envelope of a sibling package travels as it is. */
export function metaFrom(options: AnyRef | TellOptions): Meta {
  // Whatever stands there: tell never throws.
  if (typeof options !== 'object' || options === null) return undefined
  try {
    if (options instanceof LocalRef) return options
    if ('tell' in options) return metaOf(options)
    if (options instanceof Envelope) return options
    const { sender, headers, priority } = options
    return headers === undefined && priority === undefined ? metaOf(sender) : new Told(sender, headers, priority)
  } catch {
    return undefined
  }
}

/**
 * Only actors' own refs are a meta by themselves. A question's answer address is an envelope too, and as a sender must not
 * be mistaken for the question's own; and what is not ours, such as a proxy, may throw whenever it is asked what it is.
 */
function metaOf(sender: AnyRef | undefined): Meta {
  return sender === undefined || sender instanceof LocalRef ? sender : new Told(sender, undefined, undefined)
}

/** The cell behind a ref of this thread, or undefined for asks, adapters and whatever else speaks `tell`. */
export function cellOf(ref: AnyRef): Cell | undefined {
  try {
    return ref instanceof LocalRef ? ref.cell : undefined
  } catch {
    // Such as a proxy that does not say what it is.
    return undefined
  }
}

/** The cell of a ref of this system; others are refused. */
export function cellIn(host: CellHost, ref: AnyRef, what: string): Cell {
  const cell = cellOf(ref)
  if (cell?.host === host) return cell
  throw new ForeignRef(pathOf(ref), what)
}

// The second account of messages: where each must be, by what went in and what came out. Keeps C1 and C2 for the way of a
// message from its sending to its end, and C8 for the stash; what a handler does with it is for HandlingAccount,
// whether an end has the right reason for EndReasons.

import { Adapted, cellOf, type EndReason, type Meta, poison, poisonPill, Succession, takesMessages } from '@troupe/core/internal'
import { Entry, heldBy, isObsolete, mostOf } from './entry.ts'
import { EndReasons } from './end-reasons.ts'
import type { SimCell } from './sim-cell.ts'
import type { SimTap } from './sim-tap.ts'

/** Reasons by which a handler ends the message that it was given: a router without routees, entities that refuse it. */
const handlersBury: ReadonlySet<EndReason> = new Set(['no-routees', 'not-accepted', 'mailbox-full'])

/** The handler has it no longer. */
function isMoved({ ctx }: Entry): boolean {
  return (ctx as { readonly message?: unknown } | undefined)?.message === undefined
}

export class MessageAccount {
  readonly #tap: SimTap
  readonly #reasons: EndReasons
  /** On its way into a mailbox. */
  arriving: Entry | undefined = undefined
  /** Whose mailbox is taking something in. */
  putting: SimCell | undefined = undefined
  /** Messages that were in the mailbox or the stash of an actor when it ended. */
  leftBehind = 0
  /** Taken from a mailbox last. */
  taken: Entry | undefined = undefined
  #ids = 0
  constructor(tap: SimTap) {
    this.#tap = tap
    this.#reasons = new EndReasons(tap)
  }

  entry(message: unknown, meta: Meta, to: SimCell): Entry {
    return new Entry(++this.#ids, message, meta, typeName(message), to)
  }
  sent(cell: SimCell, message: unknown, meta: Meta): Entry {
    const tap = this.#tap
    const entry = this.entry(message, meta, cell)
    tap.trace.add('send', tap.sender(), cell.ref.uid, entry.type, entry.id)
    if (meta !== undefined) {
      tap.asks.sent(meta, entry)
      tap.timers.ticked(cell, meta)
    }
    return entry
  }
  /** A message that was counted as sent before comes from a handler that is at it. */
  forwarded(to: SimCell, message: unknown): Entry | undefined {
    const tap = this.#tap
    const from =
      tap.living.find((c) => c.running?.message === message || c.calls?.some((e) => e.message === message) === true) ??
      tap.living.find((c) => c.running !== undefined && c === tap.current)
    const entry = from?.running ?? from?.calls?.find((e) => e.message === message)
    if (entry === undefined) {
      tap.violate('C2', to, 'a message came by forwarding that no handler was at')
      return this.sent(to, message, undefined)
    }
    if (from!.running === entry) from!.running = undefined
    else from!.calls!.splice(from!.calls!.indexOf(entry), 1)
    entry.message = message
    entry.state = 'under way'
    entry.to = to
    tap.trace.add('send', from!.ref.uid, to.ref.uid, `(moved) ${entry.type}`, entry.id)
    return entry
  }
  queued(cell: SimCell, message: unknown, meta: Meta): void {
    let entry = this.arriving
    if (entry !== undefined && entry.message === message && entry.state === 'under way') {
      if (entry.to !== cell) this.#tap.violate('C2', cell, `${entry.type}#${entry.id} was sent to ${entry.to.ref.path}`)
    }
    // A pill survives a restart that clears the mailbox: it is taken out with the others and put back.
    else if (meta === poison) {
      this.resolveTaken()
      entry = this.entry(message, meta, cell)
      cell.pillsAside--
    } else entry = this.#redirected(cell, message)
    if (entry === undefined) return
    if (!takesMessages(cell.phase)) this.#tap.violate('C2', cell, `${entry.type}#${entry.id} was queued by an actor that is ${cell.phase}`)
    entry.to = cell
    entry.state = 'queued'
    cell.waiting.push(entry)
  }
  /** An offer that waited was let in: sent only now. */
  admitted(cell: SimCell, message: unknown, meta: Meta): void {
    const entry = this.entry(message, meta, cell)
    this.#tap.trace.add('send', 0, cell.ref.uid, `(offered) ${entry.type}`, entry.id)
    entry.state = 'queued'
    cell.waiting.push(entry)
  }
  /** C10: what counts towards the bound never exceeds it. */
  checkBound(cell: SimCell): void {
    const most = mostOf(cell)
    const held = heldBy(cell)
    if (held > most) this.#tap.violate('C10', cell, `holds ${held} messages in a mailbox of ${most}`)
  }
  /** What a stopped cell hands to another: was taken from its mailbox or lies in its stash. */
  #redirected(to: SimCell, message: unknown): Entry | undefined {
    let entry = this.taken
    if (entry === undefined || entry.state !== 'taken' || entry.message !== message) entry = this.#fromStash(message)
    if (entry === undefined) {
      this.#tap.violate('C2', to, `${typeName(message)} was put into the mailbox without being sent`)
      return undefined
    }
    this.leftBehind++
    if (!leadsTo(entry.to, to)) this.#tap.violate('C2', to, `got ${entry.type}#${entry.id}, which ${entry.to.ref.path} does not redirect to it`)
    return entry
  }
  #fromStash(message: unknown): Entry | undefined {
    for (const cell of this.#tap.living) {
      const at = cell.aside.findIndex((e) => e.message === message)
      if (at >= 0) return cell.aside.splice(at, 1)[0]
    }
    return undefined
  }
  took(cell: SimCell, message: unknown): void {
    this.resolveTaken()
    const { waiting } = cell
    if (message === undefined) {
      if (waiting.length > 0) this.#tap.violate('C2', cell, `${waiting[0]!.type}#${waiting[0]!.id} is lost: it was queued, and the mailbox is empty`)
      return
    }
    let at = 0
    if (waiting[0]?.message !== message) {
      at = waiting.findIndex((e) => e.message === message)
      if (at < 0) return this.#tap.violate('C2', cell, `${typeName(message)} came out of the mailbox and was not in it`)
      if (cell.fifo)
        this.#tap.violate(
          'C1',
          cell,
          `${waiting[at]!.type}#${waiting[at]!.id} was taken before ${waiting[0]!.type}#${waiting[0]!.id}, which was sent earlier`,
        )
      else if (waiting[0]!.fronted) this.#tap.violate('C8', cell, `${waiting[at]!.type}#${waiting[at]!.id} was taken before what came from the stash`)
    }
    const entry = at === 0 ? waiting.shift()! : waiting.splice(at, 1)[0]!
    if (cell.dispatcher.takenMeta !== (entry.fronted ? entry.carried : entry.meta))
      this.#tap.violate('C2', cell, `${entry.type}#${entry.id} came out of the mailbox with what belongs to another message`)
    entry.state = 'taken'
    this.taken = entry
  }
  /** Whatever was taken and reached no handler: a pill, or a message that an adapter or middleware failed on. */
  resolveTaken(): void {
    const entry = this.taken
    this.taken = undefined
    if (entry === undefined || entry.state !== 'taken') return
    const tap = this.#tap
    entry.state = 'ended'
    if (entry.meta === poison && entry.to.phase === 'restarting') entry.to.pillsAside++
    else if (entry.meta === poison) {
      tap.ledger.expected.handled++
      tap.trace.add('done', entry.to.ref.uid, 0, 'poison pill', 0)
      if (entry.to.phase === 'running') tap.violate('C4', entry.to, 'took a poison pill and runs on')
    } else if (entry.meta instanceof Adapted || entry.to.options.middleware.length > 0) tap.ledger.expected.failed++
    else tap.violate('C2', entry.to, `${entry.type}#${entry.id} was taken and reached no handler`)
  }
  ended(message: unknown, how: 'dead' | 'dropped', reason: EndReason): void {
    const tap = this.#tap
    tap.ledger.expected[how]++
    const entry = this.#find(message, reason)
    tap.trace.add(how, entry?.to.ref.uid ?? 0, 0, `${entry?.type ?? typeName(message)} (${reason})`, entry?.id ?? 0)
    if (entry === undefined) return
    if (entry.state === 'ended') tap.violate('C2', entry.to, `${entry.type}#${entry.id} ended twice, the second time as ${how}: ${reason}`)
    if (entry.to.phase === 'stopped' && entry.state !== 'under way' && !isObsolete(entry.meta)) this.leftBehind++
    this.#reasons.check(entry, how, reason)
    tap.asks.owes(entry.meta)
    entry.state = 'ended'
  }
  #find(message: unknown, reason: EndReason): Entry | undefined {
    const { arriving, putting } = this
    if (putting !== undefined && (reason === 'mailbox-overflow' || reason === 'mailbox-full')) {
      // Of two that look alike, the one that a full mailbox gives up is the newer, unless it makes room by the oldest.
      const oldest = putting.options.mailbox?.overflow === 'drop-oldest' && message !== poisonPill
      const at = oldest ? putting.waiting.findIndex((e) => e.message === message) : putting.waiting.findLastIndex((e) => e.message === message)
      if (at >= 0) {
        this.#reasons.checkGivenUp(putting, at)
        return putting.waiting.splice(at, 1)[0]
      }
    }
    if (arriving !== undefined && arriving.message === message && arriving.state === 'under way') return arriving
    const taken = this.taken
    if (taken !== undefined && taken.state === 'taken' && taken.message === message) return taken
    if (reason === 'stash-overflow') {
      const owner = this.#tap.living.find((c) => c.aside.some((e) => e.message === message))
      if (owner !== undefined && owner.aside[0]!.message !== message)
        this.#tap.violate('C8', owner, 'a full stash gave up another than its oldest message')
    }
    if (reason === 'stash-cleared') {
      // What was unstashed and waits in the mailbox goes first.
      const { waiting } = (this.#tap.current as SimCell | undefined) ?? { waiting: [] }
      if (waiting[0]?.fronted === true && waiting[0].message === message) return waiting.shift()
    }
    if (handlersBury.has(reason)) {
      // Its handler gave it up and may go on, or fail behind that: the message has ended all the same.
      const owner = this.#tap.living.find(
        ({ running }) => running !== undefined && running.message === message && running.state === 'running' && isMoved(running),
      )
      const entry = owner?.running
      if (entry !== undefined) {
        owner!.running = undefined
        return entry
      }
    }
    // An adapter or a schema may have put another message in its place; answers to asks are in no mailbox at all.
    return this.#fromStash(message) ?? (taken?.state === 'taken' && isOfHandling(reason) ? taken : undefined)
  }
  stashed(cell: SimCell, message: unknown, present: boolean): void {
    const tap = this.#tap
    let entry = present ? (cell.running ?? cell.calls?.find((e) => e.message === message)) : undefined
    if (entry === undefined) entry = this.entry(message, undefined, cell)
    else if (cell.running === entry) cell.running = undefined
    else cell.calls?.splice(cell.calls.indexOf(entry), 1)
    entry.state = 'stashed'
    entry.message = message
    cell.aside.push(entry)
    tap.trace.add('stash', cell.ref.uid, 0, entry.type, entry.id)
  }
  /** They come behind `before` that were unstashed earlier and are still in the mailbox. */
  unstashed(cell: SimCell, messages: readonly (readonly [unknown, Meta])[], before: number): void {
    const entries = cell.aside.splice(0, messages.length)
    const left = cell.extras?.stash?.size ?? 0
    if (entries.length !== messages.length || cell.aside.length !== left)
      this.#tap.violate('C8', cell, `${entries.length + cell.aside.length} messages were stashed, ${messages.length} came back and ${left} are left`)
    else if (!cell.waiting.slice(0, before).every((e) => e.fronted))
      this.#tap.violate('C8', cell, 'stashed messages came back behind others of the mailbox')
    else if (entries.some((e, i) => e.message !== messages[i]![0])) this.#tap.violate('C8', cell, 'stashed messages came back in another order')
    for (const [i, entry] of entries.entries()) {
      entry.state = 'queued'
      entry.fronted = true
      entry.carried = messages[i]?.[1]
    }
    cell.waiting.splice(before, 0, ...entries)
    this.#tap.trace.add('unstash', cell.ref.uid, 0, String(entries.length), 0)
  }
}

/** Whether a message ends for such a reason between the mailbox and its handler. */
function isOfHandling(reason: EndReason): boolean {
  return reason === 'not-accepted' || reason === 'undefined-message' || reason === 'middleware' || reason === 'stale-adapter' || reason === 'expired'
}

/** Whether the redirects of an actor that ended lead to another. */
function leadsTo(from: SimCell, to: SimCell): boolean {
  const seen = new Set<unknown>()
  for (let at: unknown = from; at !== undefined && !seen.has(at);) {
    seen.add(at)
    const { drain } = (at as SimCell).options
    if (drain instanceof Succession) return to.ref.parent === (at as SimCell).ref.parent
    at = typeof drain === 'object' ? cellOf(drain.redirect) : undefined
    if (at === to) return true
    if (at !== undefined && takesMessages((at as SimCell).phase)) return false
  }
  return false
}

/** How a message is called in a trace. */
export function typeName(message: unknown): string {
  if (typeof message === 'string') return message.length > 24 ? `${message.slice(0, 24)}…` : message
  if (typeof message !== 'object' || message === null) return typeof message === 'symbol' ? (message.description ?? 'symbol') : String(message)
  const type = (message as { type?: unknown }).type
  return typeof type === 'string' ? type : message.constructor?.name === 'Object' ? 'object' : (message.constructor?.name ?? 'object')
}

// The second account of messages: where each must be, by what went in and what came out. Keeps C1 and C2 for the way of a
// message from its sending to its end, and C8 for the stash; whether an end has the right reason is for EndReasons.

import {
  Adapted,
  type BehaviorNode,
  BehaviorNode as Node,
  BehaviorWithOptions,
  cellOf,
  type EndReason,
  type Meta,
  poison,
  poisonPill,
  senderOf,
  takesMessages,
} from 'troupe/internal'
import { Entry } from './entry.ts'
import { EndReasons } from './end-reasons.ts'
import type { SimCell } from './sim-cell.ts'
import type { SimTap } from './sim-tap.ts'

/** What a handler sees of its context that a check needs. */
interface Ctx {
  readonly message: unknown
  readonly meta: Meta
}

export class MessageAccount {
  readonly #tap: SimTap
  readonly #reasons: EndReasons
  /** On its way into a mailbox. */
  arriving: Entry | undefined = undefined
  /** Whose mailbox is taking something in. */
  putting: SimCell | undefined = undefined
  handled = 0
  asyncHandled = 0
  /** Messages that were in the mailbox or the stash of an actor when it ended. */
  leftBehind = 0
  #taken: Entry | undefined = undefined
  #ids = 0
  constructor(tap: SimTap) {
    this.#tap = tap
    this.#reasons = new EndReasons(tap)
  }

  #entry(message: unknown, meta: Meta, to: SimCell): Entry {
    return new Entry(++this.#ids, message, meta, typeName(message), to)
  }
  sent(cell: SimCell, message: unknown, meta: Meta): Entry {
    const tap = this.#tap
    const entry = this.#entry(message, meta, cell)
    tap.trace.add('send', tap.sender(), cell.ref.uid, entry.type, entry.id)
    if (meta !== undefined) {
      tap.asks.sent(meta)
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
      entry = this.#entry(message, meta, cell)
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
    const entry = this.#entry(message, meta, cell)
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
    let entry = this.#taken
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
    if (cell.dispatcher.takenMeta !== entry.meta && !entry.fronted)
      this.#tap.violate('C2', cell, `${entry.type}#${entry.id} came out of the mailbox with what belongs to another message`)
    entry.state = 'taken'
    this.#taken = entry
  }
  /** A handler begins with what was taken last. */
  begins(cell: SimCell, ctx: Ctx, message: unknown): Entry {
    const tap = this.#tap
    this.handled++
    let entry = this.#taken
    if (entry === undefined || entry.state !== 'taken' || entry.to !== cell) {
      tap.violate('C2', cell, 'a handler was called with no message taken for it, or with one it had before')
      entry = this.#entry(undefined, undefined, cell)
    }
    entry.state = 'running'
    entry.ctx = ctx
    cell.lastType = entry.type
    if (cell.running !== undefined && !cell.options.reentrant) {
      if (cell.ctx?.message === cell.running.message && cell.unsettled > 0)
        tap.violate('C3', cell, `${entry.type} began before ${cell.running.type} was over`)
      this.settle(cell, cell.running)
    }
    if (cell.phase !== 'running') tap.violate('phases', cell, `${entry.type} was handled while ${cell.phase}`)
    tap.lifecycle.handles(cell)
    tap.behaviors.handles(cell)
    const { lane, options } = cell
    if (lane !== undefined) {
      if (lane.commands.size > 0) tap.violate('C10', cell, `${entry.type} was handled before ${lane.commands.size} commands that were waiting`)
      if (lane.signals.size > 0 && options.systemShare === 100)
        tap.violate('C10', cell, `${entry.type} was handled before ${lane.signals.size} signals that were waiting`)
    }
    if (options.plain && entry.message !== message && !(entry.meta instanceof Adapted))
      tap.violate('C2', cell, `${entry.type}#${entry.id} was taken, and ${typeName(message)} was handled`)
    if (entry.meta !== undefined && !entry.fronted && senderOf(ctx.meta) !== senderOf(entry.meta))
      tap.violate('C2', cell, `the handler of ${entry.type}#${entry.id} sees another sender`)
    else if (entry.meta === undefined && senderOf(ctx.meta) !== undefined)
      tap.violate('C2', cell, `the handler of ${entry.type}#${entry.id} sees a sender, and there is none`)
    if (!options.reentrant) cell.running = entry
    else {
      ;(cell.calls ??= []).push(entry)
      const open = cell.extras?.calls?.size ?? 0
      if (open > options.maxConcurrent) tap.violate('C3', cell, `is at ${open} messages, and at most ${options.maxConcurrent} are allowed`)
    }
    tap.trace.add('handle', cell.ref.uid, 0, entry.type, entry.id)
    return entry
  }
  /** A handler returned, and what it returned is no promise. */
  finished(cell: SimCell, entry: Entry, present: boolean, result: unknown): void {
    this.#tap.behaviors.returned(cell, result)
    if (present) this.#count(cell, entry, result)
    else if (entry.state !== 'running') return
    this.#over(cell, entry)
  }
  #count(cell: SimCell, entry: Entry, result: unknown): void {
    const { expected } = this.#tap.ledger
    // Middleware that fails behind a handler makes a failure of what was handled.
    if (cell.options.middleware.length > 0) expected.either++
    else {
      const ending = endingOf(result, cell.options.reentrant)
      expected[ending]++
      if (ending !== 'handled') this.#tap.asks.owes(entry.meta)
    }
  }
  threw(cell: SimCell, entry: Entry, present: boolean): void {
    if (present) {
      this.#tap.ledger.expected.failed++
      this.#tap.asks.owes(entry.meta)
    } else if (entry.state !== 'running') return
    this.#over(cell, entry)
  }
  #over(cell: SimCell, entry: Entry): void {
    entry.state = 'ended'
    if (cell.running === entry) cell.running = undefined
  }
  /** A handler that was waited for is over, or was cut off. */
  settle(cell: SimCell, entry: Entry): void {
    if (cell.running === entry) cell.running = undefined
    if (entry.state !== 'running') return
    entry.state = 'ended'
    const { expected } = this.#tap.ledger
    const { outcome, call } = entry
    if (outcome === undefined || call?.state === 'abandoned') {
      expected.failed++
      if (outcome === undefined && call?.state === 'settled')
        this.#tap.violate('C3', cell, `${entry.type}#${entry.id} counts as settled, and its promise is not`)
    } else if (!outcome.ok) expected.failed++
    else if (call === undefined) expected.either++
    else {
      this.#tap.behaviors.returned(cell, outcome.value)
      this.#count(cell, entry, outcome.value)
    }
  }
  /** Calls of a reentrant actor that are over. */
  settleCalls(cell: SimCell): void {
    const { calls } = cell
    if (calls === undefined) return
    for (let i = calls.length - 1; i >= 0; i--) {
      const entry = calls[i]!
      if (entry.state === 'running' && (entry.ctx as Ctx).message !== undefined) continue
      calls.splice(i, 1)
      if (entry.state !== 'running') continue
      entry.state = 'ended'
      const { expected } = this.#tap.ledger
      if (entry.outcome?.ok === false || entry.outcome === undefined) expected.failed++
      // Whether it was over before it was cut off cannot be seen from here.
      else if ((entry.ctx as { readonly ended?: boolean }).ended === true) expected.either++
      else this.#count(cell, entry, entry.outcome.value)
    }
    if (calls.length === 0) cell.calls = undefined
  }
  /** Whatever was taken and reached no handler: a pill, or a message that an adapter or middleware failed on. */
  resolveTaken(): void {
    const entry = this.#taken
    this.#taken = undefined
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
    if (entry.to.phase === 'stopped' && entry.state !== 'under way' && entry.meta !== poison) this.leftBehind++
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
    const taken = this.#taken
    if (taken !== undefined && taken.state === 'taken' && taken.message === message) return taken
    if (reason === 'stash-overflow') {
      const owner = this.#tap.living.find((c) => c.aside.some((e) => e.message === message))
      if (owner !== undefined && owner.aside[0]!.message !== message)
        this.#tap.violate('C8', owner, 'a full stash gave up another than its oldest message')
    }
    if (reason === 'no-routees') {
      const router = this.#tap.living.find((c) => c.running?.message === message)
      const entry = router?.running
      if (entry !== undefined) router!.running = undefined
      return entry
    }
    // An adapter or a schema may have put another message in its place; answers to asks are in no mailbox at all.
    return this.#fromStash(message) ?? (taken?.state === 'taken' && isOfHandling(reason) ? taken : undefined)
  }
  stashed(cell: SimCell, message: unknown, present: boolean): void {
    const tap = this.#tap
    let entry = present ? (cell.running ?? cell.calls?.find((e) => e.message === message)) : undefined
    if (entry === undefined) entry = this.#entry(message, undefined, cell)
    else if (cell.running === entry) cell.running = undefined
    else cell.calls?.splice(cell.calls.indexOf(entry), 1)
    entry.state = 'stashed'
    entry.message = message
    cell.aside.push(entry)
    tap.trace.add('stash', cell.ref.uid, 0, entry.type, entry.id)
  }
  unstashed(cell: SimCell, messages: readonly (readonly [unknown, Meta])[]): void {
    const entries = cell.aside.splice(0)
    if (entries.length !== messages.length) this.#tap.violate('C8', cell, `${entries.length} messages were stashed, ${messages.length} came back`)
    else if (entries.some((e, i) => e.message !== messages[i]![0])) this.#tap.violate('C8', cell, 'stashed messages came back in another order')
    for (const entry of entries) {
      entry.state = 'queued'
      entry.fronted = true
    }
    cell.waiting.unshift(...entries)
    this.#tap.trace.add('unstash', cell.ref.uid, 0, String(entries.length), 0)
  }
}

/** How a message ends whose handler returned this. */
function endingOf(result: unknown, reentrant: boolean): 'handled' | 'unhandled' | 'failed' {
  const next = result instanceof BehaviorWithOptions ? (result.behavior as unknown) : result
  if (next === undefined) return 'handled'
  if (!(next instanceof Node)) return 'failed'
  const { kind } = next as BehaviorNode
  if (kind === 'unhandled') return 'unhandled'
  return reentrant && (kind === 'receive' || kind === 'setup') ? 'failed' : 'handled'
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
    at = typeof drain === 'object' ? cellOf(drain.redirect) : undefined
    if (at === to) return true
    if (at !== undefined && takesMessages((at as SimCell).phase)) return false
  }
  return false
}

/** The most that a bounded mailbox may hold. */
export function mostOf(cell: SimCell): number {
  const { capacity = Infinity, overflow } = cell.options.mailbox ?? {}
  return typeof overflow === 'object' ? Math.floor(capacity * overflow.maxFactor) : capacity
}

/** How much of what waits counts towards the bound. */
export function heldBy(cell: SimCell): number {
  let held = 0
  for (const entry of cell.waiting) if (!entry.fronted && entry.meta !== poison) held++
  return held
}

/** How a message is called in a trace. */
export function typeName(message: unknown): string {
  if (typeof message === 'string') return message.length > 24 ? `${message.slice(0, 24)}…` : message
  if (typeof message !== 'object' || message === null) return typeof message === 'symbol' ? (message.description ?? 'symbol') : String(message)
  const type = (message as { type?: unknown }).type
  return typeof type === 'string' ? type : message.constructor?.name === 'Object' ? 'object' : (message.constructor?.name ?? 'object')
}

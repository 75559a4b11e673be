// The second account: where each message must be, by what went in and what came out. Compared with the real one after
// each turn. Keeps C1, C2, C8 and C10; lifecycles, watches and asks have accounts of their own.

import { type AnyRef, bounded, type Phase, type Signal } from 'troupe'
import {
  type BehaviorNode,
  type Cell,
  type CellHost,
  type CellOptions,
  type Dispatcher,
  type EndReason,
  type Envelope,
  type LocalRef,
  type Meta,
  poison,
  Tap,
} from 'troupe/internal'
import { AskAccount } from './ask-account.ts'
import type { FaultSource } from './faults.ts'
import { LedgerCheck } from './ledger-check.ts'
import { Lifecycle } from './lifecycle.ts'
import { Entry, SimCell } from './sim-cell.ts'
import type { Trace } from './trace.ts'
import type { InvariantId, Violation } from './violation.ts'
import { TimerAccount } from './timer-account.ts'
import { WatchAccount } from './watch-account.ts'

export class SimTap extends Tap {
  override readonly seesPhases = true
  host!: CellHost
  trace!: Trace
  faults!: FaultSource
  /** The first promise that was broken. */
  violation: Violation | undefined = undefined
  readonly cells: SimCell[] = []
  living: SimCell[] = []
  readonly lifecycle: Lifecycle = new Lifecycle(this)
  readonly watches: WatchAccount = new WatchAccount(this)
  readonly asks: AskAccount = new AskAccount(this)
  readonly timers: TimerAccount = new TimerAccount(this)
  readonly ledger: LedgerCheck = new LedgerCheck(this)
  /** Cells made now are exempt from faults. */
  sparing = false
  arriving: Entry | undefined = undefined
  putting: SimCell | undefined = undefined
  /** Rises with every turn. */
  turns = 0
  handled = 0
  asyncHandled = 0
  #taken: Entry | undefined = undefined
  #ids = 0
  #endedInTurn = false

  violate(invariant: InvariantId, cell: Cell | undefined, text: string): void {
    if (this.violation !== undefined) return
    this.violation = { invariant, text, actor: cell?.ref.path, step: this.trace.step, at: this.host.runtime.now() }
    this.trace.add('note', cell?.ref.uid ?? 0, 0, `${invariant}: ${text}`, 0)
  }

  override attach(host: CellHost): void {
    this.host = host
    this.timers.attach(host)
  }
  override makeCell(ref: LocalRef, dispatcher: Dispatcher, options: CellOptions, initial: BehaviorNode): Cell {
    const cell = new SimCell(this, ref, dispatcher, this.#smaller(ref, options), initial)
    cell.spared = this.sparing
    this.cells.push(cell)
    this.living.push(cell)
    this.lifecycle.born(cell)
    this.trace.add('spawn', dispatcher.current?.ref.uid ?? 0, ref.uid, '', 0)
    this.faults.spawned(cell)
    return cell
  }

  /** A bounded mailbox may be made smaller, so that it is full sooner. */
  #smaller(ref: LocalRef, options: CellOptions): CellOptions {
    const { mailbox } = options
    if (this.sparing || mailbox?.kind !== 'bounded' || mailbox.capacity === undefined || mailbox.overflow === undefined) return options
    const capacity = this.faults.capacity(ref.uid, mailbox.capacity)
    return capacity === mailbox.capacity ? options : { ...options, mailbox: bounded(capacity, mailbox.overflow) }
  }

  // The way of a message.

  sent(cell: SimCell, message: unknown, meta: Meta): Entry {
    const entry = new Entry(++this.#ids, message, meta, typeName(message), cell)
    this.trace.add('send', this.sender(), cell.ref.uid, entry.type, entry.id)
    if (meta !== undefined) this.asks.sent(meta)
    return entry
  }
  sender(): number {
    return this.current?.ref.uid ?? 0
  }
  get current(): Cell | undefined {
    return (this.living[0] ?? this.cells[0])?.dispatcher.current
  }
  forwarded(to: SimCell, message: unknown): Entry | undefined {
    const from =
      this.living.find((c) => c.running?.message === message || c.calls?.some((e) => e.message === message) === true) ??
      this.living.find((c) => c.running !== undefined && c === this.current)
    const entry = from?.running ?? from?.calls?.find((e) => e.message === message)
    if (entry === undefined) {
      this.violate('C2', to, 'a message came by forwarding that no handler was at')
      return this.sent(to, message, undefined)
    }
    if (from!.running === entry) from!.running = undefined
    else from!.calls!.splice(from!.calls!.indexOf(entry), 1)
    entry.message = message
    entry.state = 'under way'
    this.trace.add('send', from!.ref.uid, to.ref.uid, `(moved) ${entry.type}`, entry.id)
    return entry
  }
  queued(cell: SimCell, message: unknown, meta: Meta): void {
    let entry = this.arriving
    if (entry !== undefined && entry.message === message && entry.state === 'under way') entry.to = cell
    // A pill survives a restart that clears the mailbox: it is taken out with the others and put back.
    else if (meta === poison) entry = new Entry(++this.#ids, message, meta, typeName(message), cell)
    else entry = this.#redirected(cell, message)
    if (entry === undefined) return
    entry.state = 'queued'
    cell.waiting.push(entry)
  }
  /** An offer that waited was let in: sent only now. */
  admitted(cell: SimCell, message: unknown, meta: Meta): void {
    const entry = new Entry(++this.#ids, message, meta, typeName(message), cell)
    this.trace.add('send', 0, cell.ref.uid, `(offered) ${entry.type}`, entry.id)
    entry.state = 'queued'
    cell.waiting.push(entry)
  }
  /** C10: what counts towards the bound never exceeds it. */
  checkBound(cell: SimCell): void {
    const { capacity = Infinity, overflow } = cell.options.mailbox!
    const most = typeof overflow === 'object' ? Math.floor(capacity * overflow.maxFactor) : capacity
    let held = 0
    for (const entry of cell.waiting) if (!entry.fronted && entry.meta !== poison) held++
    if (held > most) this.violate('C10', cell, `holds ${held} messages in a mailbox of ${most}`)
  }
  /** What a stopped cell hands to another: was taken from its mailbox or lies in its stash. */
  #redirected(to: SimCell, message: unknown): Entry | undefined {
    let entry = this.#taken
    if (entry === undefined || entry.state !== 'taken' || entry.message !== message) entry = this.#fromStash(message)
    if (entry === undefined) {
      this.violate('C2', to, `${typeName(message)} was put into the mailbox without being sent`)
      return undefined
    }
    entry.to = to
    return entry
  }
  #fromStash(message: unknown): Entry | undefined {
    for (const cell of this.living) {
      const at = cell.aside.findIndex((e) => e.message === message)
      if (at >= 0) return cell.aside.splice(at, 1)[0]
    }
    return undefined
  }
  took(cell: SimCell, message: unknown): void {
    this.#resolveTaken()
    const { waiting } = cell
    if (message === undefined) {
      if (waiting.length > 0) this.violate('C2', cell, `${waiting[0]!.type}#${waiting[0]!.id} is lost: it was queued, and the mailbox is empty`)
      return
    }
    let at = 0
    if (waiting[0]?.message !== message) {
      at = waiting.findIndex((e) => e.message === message)
      if (at < 0) return this.violate('C2', cell, `${typeName(message)} came out of the mailbox and was not in it`)
      if (cell.fifo)
        this.violate(
          'C1',
          cell,
          `${waiting[at]!.type}#${waiting[at]!.id} was taken before ${waiting[0]!.type}#${waiting[0]!.id}, which was sent earlier`,
        )
    }
    const entry = at === 0 ? waiting.shift()! : waiting.splice(at, 1)[0]!
    entry.state = 'taken'
    this.#taken = entry
  }
  /** A handler begins with what was taken last. */
  begins(cell: SimCell): Entry {
    this.handled++
    let entry = this.#taken
    if (entry === undefined || entry.state !== 'taken' || entry.to !== cell) {
      this.violate('C2', cell, 'a handler was called with no message taken for it, or with one it had before')
      entry = new Entry(++this.#ids, undefined, undefined, '?', cell)
    }
    entry.state = 'running'
    if (cell.phase !== 'running') this.violate('phases', cell, `${entry.type} was handled while ${cell.phase}`)
    this.lifecycle.handles(cell)
    if (cell.lane !== undefined && cell.lane.commands.size > 0)
      this.violate('C10', cell, `${entry.type} was handled before ${cell.lane.commands.size} commands that were waiting`)
    if (!cell.options.reentrant) {
      if (cell.running !== undefined && cell.ctx?.message === cell.running.message && cell.unsettled > 0)
        this.violate('C3', cell, `${entry.type} began before ${cell.running.type} was over`)
      cell.running = entry
    } else (cell.calls ??= []).push(entry)
    this.trace.add('handle', cell.ref.uid, 0, entry.type, entry.id)
    return entry
  }
  finished(cell: SimCell, entry: Entry, present: boolean, result: unknown): void {
    if (!present) return
    const unhandled = (result as { kind?: unknown } | undefined)?.kind === 'unhandled'
    const valid = result === undefined || (typeof result === 'object' && result !== null)
    if (unhandled) this.ledger.expected.unhandled++
    else if (valid) this.ledger.expected.handled++
    this.#over(cell, entry)
  }
  threw(cell: SimCell, entry: Entry, present: boolean): void {
    if (!present) return
    this.ledger.expected.failed++
    this.#over(cell, entry)
  }
  #over(cell: SimCell, entry: Entry): void {
    entry.state = 'ended'
    if (cell.running === entry) cell.running = undefined
  }
  /** Whatever was taken and reached no handler: a pill, or a message that an adapter failed on. */
  #resolveTaken(): void {
    const entry = this.#taken
    this.#taken = undefined
    if (entry === undefined || entry.state !== 'taken') return
    if (entry.meta === poison) this.trace.add('done', entry.to.ref.uid, 0, 'poison pill', 0)
    entry.state = 'ended'
  }
  override ended(message: unknown, _meta: Meta, how: 'dead' | 'dropped', reason: EndReason): void {
    this.ledger.expected[how]++
    const entry = this.#find(message)
    this.trace.add(how, entry?.to.ref.uid ?? 0, 0, `${entry?.type ?? typeName(message)} (${reason})`, entry?.id ?? 0)
    if (entry === undefined) return
    if (entry.state === 'ended') this.violate('C2', entry.to, `${entry.type}#${entry.id} ended twice, the second time as ${how}: ${reason}`)
    if (entry.to.phase === 'stopped' && entry.meta !== poison) this.#checkDrain(entry, how, reason)
    entry.state = 'ended'
  }
  /** What an actor leaves behind ends as its options say. */
  #checkDrain(entry: Entry, how: 'dead' | 'dropped', reason: EndReason): void {
    const { drain } = entry.to.options
    const fits = drain === 'drop' ? how === 'dropped' : how === 'dead' && (drain === 'dead-letter') === (reason !== 'redirect-cycle')
    if (!fits)
      this.violate(
        'C2',
        entry.to,
        `${entry.type}#${entry.id} was left behind and ended as ${how} (${reason}), though the actor's drain is ${typeof drain === 'string' ? drain : 'a redirect'}`,
      )
  }
  #find(message: unknown): Entry | undefined {
    const { arriving, putting } = this
    if (arriving !== undefined && arriving.message === message && arriving.state === 'under way') return arriving
    const taken = this.#taken
    if (taken !== undefined && taken.state === 'taken' && taken.message === message) return taken
    if (putting !== undefined) {
      // Of two that look alike, the one that a full mailbox gives up is the newer, unless it makes room by the oldest.
      const oldest = putting.options.mailbox?.overflow === 'drop-oldest'
      const at = oldest ? putting.waiting.findIndex((e) => e.message === message) : putting.waiting.findLastIndex((e) => e.message === message)
      if (at >= 0) return putting.waiting.splice(at, 1)[0]
    }
    // An adapter or a schema may have put another message in its place; answers to asks are in no mailbox at all.
    return this.#fromStash(message) ?? (taken?.state === 'taken' ? taken : undefined)
  }
  override stashed(cell: Cell, message: unknown, present: boolean): void {
    const sim = cell as SimCell
    let entry = present ? sim.running : undefined
    if (entry === undefined) entry = new Entry(++this.#ids, message, undefined, typeName(message), sim)
    else sim.running = undefined
    entry.state = 'stashed'
    entry.message = message
    sim.aside.push(entry)
    this.trace.add('stash', cell.ref.uid, 0, entry.type, entry.id)
  }
  unstashed(cell: SimCell, messages: readonly (readonly [unknown, Meta])[]): void {
    const entries = cell.aside.splice(0)
    if (entries.length !== messages.length) this.violate('C8', cell, `${entries.length} messages were stashed, ${messages.length} came back`)
    else if (entries.some((e, i) => e.message !== messages[i]![0])) this.violate('C8', cell, 'stashed messages came back in another order')
    for (const entry of entries) {
      entry.state = 'queued'
      entry.fronted = true
    }
    cell.waiting.unshift(...entries)
    this.trace.add('unstash', cell.ref.uid, 0, String(entries.length), 0)
  }

  // The edges of a life.

  override phased(cell: Cell, from: Phase, to: Phase): void {
    if (!(cell instanceof SimCell)) return
    this.trace.add('phase', cell.ref.uid, 0, to, 0)
    this.lifecycle.phased(cell, from, to)
    if (to !== 'terminated') return
    this.#endedInTurn = true
    const at = this.living.indexOf(cell)
    if (at >= 0) this.living.splice(at, 1)
    if (cell.waiting.length > 0)
      this.violate('C2', cell, `${cell.waiting[0]!.type}#${cell.waiting[0]!.id} was in the mailbox of an actor that ended, and is gone`)
    if (cell.aside.length > 0)
      this.violate('C8', cell, `${cell.aside[0]!.type}#${cell.aside[0]!.id} was in the stash of an actor that ended, and is gone`)
    this.watches.ended(cell)
  }
  signalled(cell: SimCell, signal: Signal): void {
    this.trace.add('send', this.sender(), cell.ref.uid, signal.type, 0)
  }
  override armed(cell: Cell, timer: Envelope, key: string, ms: number): number {
    const sim = cell as SimCell
    ;(sim.timers ??= new Map()).set(key, timer)
    this.trace.add('timer', cell.ref.uid, 0, key, 0)
    return this.faults.timer(sim, ms)
  }
  override disarmed(cell: Cell, key: string): void {
    ;(cell as SimCell).timers?.delete(key)
    this.trace.add('cancel', cell.ref.uid, 0, key, 0)
  }
  override watched(cell: Cell, ref: AnyRef): void {
    this.watches.watched(cell as SimCell, ref)
  }
  override unwatched(cell: Cell, ref: AnyRef): void {
    this.watches.unwatched(cell as SimCell, ref)
  }

  // The comparison.

  turnBegins(): void {
    this.turns++
    this.asks.begin()
  }
  turnEnded(_cell: SimCell): void {
    this.#resolveTaken()
    if (this.#endedInTurn) {
      this.#endedInTurn = false
      this.asks.checkDead()
      this.timers.check()
    }
    // Dozens of actors are looked at after each turn; of thousands, now and then.
    if (this.living.length <= 24 || this.turns % 16 === 0) this.compare()
  }
  compare(): void {
    this.ledger.compare()
  }
}

/** How a message is called in a trace. */
export function typeName(message: unknown): string {
  if (typeof message === 'string') return message.length > 24 ? `${message.slice(0, 24)}…` : message
  if (typeof message !== 'object' || message === null) return typeof message === 'symbol' ? (message.description ?? 'symbol') : String(message)
  const type = (message as { type?: unknown }).type
  return typeof type === 'string' ? type : message.constructor?.name === 'Object' ? 'object' : (message.constructor?.name ?? 'object')
}

// What the simulator sees of a system: cells that are watched, and the accounts that are kept of them. Each account keeps
// some promises; here is only who is told what, and when all of it is compared.

import { type AnyRef, bounded, type Phase, type Signal } from '@troupe/core'
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
  Tap,
} from '@troupe/core/internal'
import { AskAccount } from './ask-account.ts'
import { BudgetAccount } from './budget-account.ts'
import type { Choices } from './choices.ts'
import { BehaviorAccount } from './behavior-account.ts'
import { CommandAccount } from './command-account.ts'
import { DecisionAccount } from './decision-account.ts'
import type { FaultSource } from './faults.ts'
import { HandlingAccount } from './handling-account.ts'
import { LedgerCheck } from './ledger-check.ts'
import { Lifecycle } from './lifecycle.ts'
import { LogAccount } from './log-account.ts'
import { MessageAccount } from './message-account.ts'
import type { Restlessness } from './restlessness.ts'
import { SimCell } from './sim-cell.ts'
import { TimerAccount } from './timer-account.ts'
import type { Trace } from './trace.ts'
import { isTimer } from './traced-node.ts'
import type { InvariantId, Violation } from './violation.ts'
import { WaitAccount } from './wait-account.ts'
import { WatchAccount } from './watch-account.ts'

export class SimTap extends Tap {
  override readonly seesPhases = true
  host!: CellHost
  trace!: Trace
  faults!: FaultSource
  choices!: Choices
  rest!: Restlessness
  /** The first promise that was broken. */
  violation: Violation | undefined = undefined
  readonly cells: SimCell[] = []
  living: SimCell[] = []
  readonly messages: MessageAccount = new MessageAccount(this)
  readonly handling: HandlingAccount = new HandlingAccount(this)
  readonly lifecycle: Lifecycle = new Lifecycle(this)
  readonly decisions: DecisionAccount = new DecisionAccount(this)
  readonly commands: CommandAccount = new CommandAccount(this)
  readonly behaviors: BehaviorAccount = new BehaviorAccount(this)
  readonly waits: WaitAccount = new WaitAccount(this)
  readonly watches: WatchAccount = new WatchAccount(this)
  readonly asks: AskAccount = new AskAccount(this)
  readonly budgets: BudgetAccount = new BudgetAccount(() => this.systemWithTurn)
  readonly timers: TimerAccount = new TimerAccount(this)
  readonly ledger: LedgerCheck = new LedgerCheck(this)
  readonly log: LogAccount = new LogAccount()
  /** Cells made now are exempt from faults. */
  sparing = false
  /** Rises with every turn. */
  turns = 0
  #endedInTurn = false

  /** The system that runs now; undefined if that is unknown. */
  get systemWithTurn(): CellHost | undefined {
    return this.host
  }
  get now(): number {
    return this.host.runtime.now()
  }
  violate(invariant: InvariantId, cell: Cell | undefined, text: string, step: number = this.trace.step): void {
    if (this.violation !== undefined) return
    this.violation = { invariant, text, actor: cell?.ref.path, step, at: this.now }
    this.trace.add('note', cell?.ref.uid ?? 0, 0, `${invariant}: ${text}`, 0)
  }
  sender(): number {
    return this.current?.ref.uid ?? 0
  }
  get current(): Cell | undefined {
    return (this.living[0] ?? this.cells[0])?.dispatcher.current
  }

  override attach(host: CellHost): void {
    this.host = host
    this.timers.attach(host)
  }
  override makeCell(ref: LocalRef, dispatcher: Dispatcher, options: CellOptions, initial: BehaviorNode): Cell {
    const cell = new SimCell(this, ref, dispatcher, this.decisions.listenTo(this.#smaller(ref, options)), initial)
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

  override ended(message: unknown, meta: Meta, how: 'dead' | 'dropped', reason: EndReason): void {
    if (isTimer(meta)) this.timers.taken(meta)
    this.messages.ended(message, how, reason)
  }
  override hear(cell: Cell, handler: (ctx: never, signal: Signal) => unknown, signal: Signal, first: boolean): unknown {
    return cell instanceof SimCell ? cell.shell.hear(handler, signal, first) : super.hear(cell, handler, signal, first)
  }
  override stashed(cell: Cell, message: unknown, present: boolean): void {
    this.messages.stashed(cell as SimCell, message, present)
  }
  override phased(cell: Cell, from: Phase, to: Phase): void {
    if (!(cell instanceof SimCell)) return
    this.rest.stirs(cell)
    this.trace.add('phase', cell.ref.uid, 0, to, 0)
    cell.changedAt = this.now
    if (to === 'starting' && cell.running !== undefined) this.handling.settle(cell, cell.running)
    // What belonged to the incarnation before must be gone by the end of this turn.
    if (to === 'starting' && from === 'restarting') this.#endedInTurn = true
    this.lifecycle.phased(cell, from, to)
    this.decisions.phased(cell, from, to)
    this.commands.phased(cell, from, to)
    this.waits.phased(cell, to)
    if (to === 'running' && from === 'starting') {
      cell.ranAt = this.now
      this.behaviors.arrived(cell)
    }
    if (to === 'terminated') this.#terminated(cell)
  }
  #terminated(cell: SimCell): void {
    this.#endedInTurn = true
    const at = this.living.indexOf(cell)
    if (at >= 0) this.living.splice(at, 1)
    if (cell.waiting.length > 0)
      this.violate('C2', cell, `${cell.waiting[0]!.type}#${cell.waiting[0]!.id} was in the mailbox of an actor that ended, and is gone`)
    if (cell.aside.length > 0)
      this.violate('C8', cell, `${cell.aside[0]!.type}#${cell.aside[0]!.id} was in the stash of an actor that ended, and is gone`)
    if (cell.running !== undefined) this.handling.settle(cell, cell.running)
    this.handling.settleCalls(cell)
    this.watches.ended(cell)
  }
  signalled(cell: SimCell, signal: Signal): void {
    this.trace.add('send', this.sender(), cell.ref.uid, signal.type, 0)
  }
  override armed(cell: Cell, timer: Envelope, key: string, ms: number): number {
    const sim = cell as SimCell
    ;(sim.timers ??= new Map()).set(key, timer)
    this.trace.add('timer', cell.ref.uid, 0, key, 0)
    const wait = this.faults.timer(sim, ms)
    this.timers.armed(sim, timer, wait)
    return wait
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

  /** The name of an actor in a diagram. */
  nameOf(uid: number): string {
    return this.cells.find((c) => c.ref.uid === uid)?.ref.path.replace('/user/', '') ?? `#${uid}`
  }

  // The comparison.

  turnBegins(): void {
    this.turns++
    this.asks.begin()
  }
  turnEnded(cell: SimCell): void {
    this.rest.turned(cell)
    this.messages.resolveTaken()
    if (cell.phase === 'restarting') cell.turnAt = this.now
    if (cell.extras !== undefined || cell.awaited !== undefined) this.waits.turnEnded(cell)
    if (cell.pillsAside !== 0) this.violate('C2', cell, 'a restart took a poison pill out of the mailbox and did not put it back')
    if (cell.ends) this.behaviors.turnEnded(cell)
    if (cell.failures !== undefined) this.decisions.turnEnded(cell)
    if (this.#endedInTurn) {
      this.#endedInTurn = false
      this.asks.checkDead()
      this.timers.check()
    }
    // A few actors are looked at after each turn; of more, now and then.
    const { length } = this.living
    if (length <= 4 || this.turns % (length <= 24 ? 6 : 16) === 0) this.compare()
  }
  compare(): void {
    this.ledger.compare()
    this.asks.checkOwed()
    // Each stands there at most once; so does the root, and whoever ended with a turn still to come.
    const { depth } = (this.living[0] ?? this.cells[0])?.dispatcher ?? { depth: 0 }
    if (depth > this.cells.length + 1) this.violate('C11', undefined, `${depth} turns are to come, and there were ${this.cells.length} actors`)
  }
  /** Faults have stopped, and all that was due has run. */
  judge(): void {
    this.compare()
    this.decisions.checkCounts()
    this.lifecycle.checkCounts()
    this.watches.check()
    this.timers.check()
    for (const cell of this.living) {
      this.lifecycle.checkAwake(cell)
      this.lifecycle.checkRest(cell)
      const pending = cell.extras?.pending
      if (pending !== undefined && pending.state === 'waiting' && !cell.never)
        this.violate('stuck', cell, `the handler of ${pending.what} waits for something that the simulator knows nothing of`)
    }
  }
  /** The system has ended. */
  judgeEnd(): void {
    this.asks.checkAll()
    this.compare()
    this.judgeBudgets()
  }
  /** No system that has ended has slots, bytes, credits or permits in use. */
  protected judgeBudgets(): void {
    for (const left of this.budgets.stillTaken) this.violate('leaks', undefined, left)
  }
  /** Nothing is left to do at this moment: what was asked for has come about, and nothing is overdue. */
  compareAtRest(): void {
    this.compare()
    this.asks.check(this.now)
    this.timers.checkDue()
    for (const cell of this.living) {
      this.lifecycle.checkAwake(cell)
      this.commands.check(cell)
      this.waits.check(cell)
      this.decisions.check(cell)
      if (cell.extras?.settledCalls !== undefined) this.violate('leaks', cell, 'keeps calls that have settled')
    }
    const { active } = this.host as unknown as { readonly active: number }
    if (active !== this.living.length) this.violate('leaks', undefined, `${active} actors count as active, and ${this.living.length} are`)
  }
}

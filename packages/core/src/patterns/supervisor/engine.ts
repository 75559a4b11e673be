// Performs what a supervisor decides, and tells it what happens. It is the keeper of the children's cells, so that it
// hears of every start, failure and end at once, in each phase of the supervisor's own life. One engine per
// incarnation; it never waits, and of user code it runs only what makes a child.

import { tellAny } from '../../cell/message/telling.ts'
import type { Cell } from '../../cell/turn/cell.ts'
import type { CellSupervisor } from '../../cell/life/cell-supervisor.ts'
import { deadlineBelow } from '../../cell/life/ending-children.ts'
import { cellOf } from '../../cell/ref/local-ref.ts'
import type { EndInfo } from '../../cell/life/phase-info.ts'
import { releaseHeld } from '../../cell/life/restarting.ts'
import type { Deadline } from '../../queues/timers.ts'
import type { ActorContext } from '../../values/context.ts'
import { show, SystemClosed } from '../../values/errors.ts'
import type { ActorRef, AnyRef } from '../../values/ref.ts'
import type { Directive } from '../../values/signals.ts'
import type { AnyChildSpec } from './child-spec.ts'
import { decide } from './decide.ts'
import { RestartIntensityExceeded } from './errors.ts'
import type { ChildKey, ChildReply, SupervisorMessage } from './protocol.ts'
import { refusal } from './refusal.ts'
import { Roster } from './roster.ts'
import { siblingsOf } from './sibling-refs.ts'
import { type Effect, type Event, type Operation, type Outcome, statusOf, type Tree } from './tree.ts'

class Alarm implements Deadline {
  at = 0
  order = 0
  readonly fire: () => void
  constructor(fire: () => void) {
    this.fire = fire
  }
}

interface Asked {
  readonly what: string
  readonly spec: AnyChildSpec | undefined
  readonly replyTo: ActorRef<ChildReply>
  id: number | undefined
}

export class Engine implements CellSupervisor {
  readonly #ctx: ActorContext<SupervisorMessage>
  readonly #cell: Cell
  readonly #tree: Tree
  /** Which actor is which child. */
  readonly roster: Roster
  readonly #waits = new Map<Operation, Alarm>()
  readonly #asked = new Map<number, Asked>()
  readonly #events: Event[] = []
  #serial = 0
  #directive: Directive = 'stop'
  #booted: ((error: { readonly cause: unknown } | undefined) => void) | undefined
  #closed: (() => void) | undefined

  constructor(ctx: ActorContext<SupervisorMessage>, tree: Tree, specs: readonly AnyChildSpec[]) {
    this.#ctx = ctx
    this.#cell = cellOf(ctx.self)!
    this.#tree = tree
    this.roster = new Roster(tree, specs)
  }

  /** Starts the declared children; calls back when all are up, or when one was not and the others have been stopped. */
  boot(done: (error: { readonly cause: unknown } | undefined) => void): void {
    this.#booted = done
    this.#tell({ type: 'boot' })
  }

  /** Stops all children, youngest first, and calls back when they are gone. */
  close(done: () => void): void {
    this.#closed = done
    this.#tell({ type: 'close' })
  }

  /** Lets go of every timer; for the end of the incarnation, which after a kill comes without `close`. */
  dispose(): void {
    const { timers } = this.#cell.host
    for (const alarm of this.#waits.values()) timers.cancel(alarm)
    this.#waits.clear()
  }

  // What happens to children.

  failed(cell: Cell, cause: unknown): Directive {
    this.#directive = 'stop'
    this.#about(cell, (id) => ({ type: 'failed', id, cause }))
    const member = this.#tree.members.get(this.roster.id(cell) ?? -1)
    // Also where its restart has to wait for another.
    return member !== undefined && statusOf(this.#tree, member) === 'restarting' ? 'restart' : this.#directive
  }
  started(cell: Cell): void {
    this.#about(cell, (id) => ({ type: 'started', id }))
  }
  held(cell: Cell): void {
    this.#about(cell, (id) => ({ type: 'held', id }))
  }
  ended(cell: Cell, { reason, cause }: EndInfo): void {
    const id = this.roster.gone(cell)
    if (id !== undefined && !this.#inert) this.#tell({ type: 'ended', id, reason, cause })
  }

  #about(cell: Cell, event: (id: number) => Event): void {
    const id = this.roster.id(cell)
    if (id !== undefined && !this.#inert) this.#tell(event(id))
  }

  /** Whether the supervisor was killed, or this incarnation of it has ended: then its cell stops the children. */
  get #inert(): boolean {
    if (this.#cell.ctx !== (this.#ctx as unknown)) return true
    return this.#cell.end !== undefined && this.#tree.closing === undefined
  }

  /** Events may come up while effects are performed; they wait their turn. */
  #tell(event: Event): void {
    this.#events.push(event)
    if (this.#events.length > 1) return
    for (let next = this.#events[0]; next !== undefined; next = this.#events[0]) {
      for (const effect of decide(this.#tree, next, this.#cell.host.runtime.now())) this.#perform(effect)
      this.#events.shift()
    }
  }

  #perform(effect: Effect): void {
    const { host } = this.#cell
    switch (effect.type) {
      case 'joined':
        this.#asked.get(effect.request)!.id = effect.id
        this.roster.add(effect.id, this.#asked.get(effect.request)!.spec!)
        return
      case 'spawn':
        return this.#spawn(effect.id)
      case 'relaunch': {
        const entry = this.roster.of(effect.id)
        // It may never have had its first turn.
        entry.first = undefined
        return releaseHeld(entry.cell!)
      }
      case 'forget':
        return this.roster.remove(effect.id)
      case 'hold':
        return this.#hold(effect.id, effect.cause)
      case 'stop':
        return this.#stop(effect)
      case 'wait': {
        const { operation } = effect
        const alarm = new Alarm(() => {
          this.#waits.delete(operation)
          if (!this.#inert) this.#tell({ type: 'due', operation })
        })
        this.#waits.set(operation, alarm)
        return host.timers.set(alarm, operation.until)
      }
      case 'unwait': {
        const alarm = this.#waits.get(effect.operation)
        this.#waits.delete(effect.operation)
        if (alarm !== undefined) host.timers.cancel(alarm)
        return
      }
      case 'answer':
        return this.#answer(effect.request, effect.outcome)
      case 'restarting':
        return host.count({ directive: 'restart', limitHit: false, fatal: false })
      case 'gave-up':
        this.#directive = 'escalate'
        host.logger.error({ actor: this.#cell.ref.path, child: effect.child, cause: effect.cause }, 'the supervisor gives up and stops its children')
        return host.count({ directive: 'escalate', limitHit: effect.cause instanceof RestartIntensityExceeded, fatal: false })
      case 'fail':
        return this.#cell.command({ verb: 'fail', cause: effect.cause })
      case 'leave':
        return this.#cell.command({ verb: 'stop', reason: 'shutdown', cause: undefined })
      case 'booted':
      case 'boot-failed': {
        const done = this.#booted
        this.#booted = undefined
        return done?.('cause' in effect ? effect : undefined)
      }
      case 'closed': {
        const done = this.#closed
        this.#closed = undefined
        return done?.()
      }
    }
  }

  #spawn(id: number): void {
    const entry = this.roster.of(id)
    try {
      const { make } = entry.spec
      if (make === undefined) return void this.#born(id, entry.spec)
      const siblings = siblingsOf(entry.spec, this.roster, this.#tree.path)
      entry.made = make(siblings)
      entry.first = entry.made.behavior
      this.#born(id, entry.made).remake(() => {
        const made = entry.first ?? make(siblings).behavior
        entry.first = undefined
        return made
      })
    } catch (cause) {
      // The system closes, and the supervisor will be told to stop: nobody is brought back any more.
      if (cause instanceof SystemClosed) this.#tree.leaving = true
      this.#events.push({ type: 'ended', id, reason: 'failure', cause })
    }
  }

  #born(id: number, { name, behavior, spawn }: AnyChildSpec): Cell {
    const cell = cellOf(this.#ctx.spawn(behavior!, name === undefined ? spawn : { ...spawn, name }))!
    cell.ensureExtras().keeper = this
    this.roster.born(id, cell)
    return cell
  }

  #hold(id: number, cause: unknown): void {
    const { cell, made } = this.roster.of(id)
    // None where its spawn failed just now: the news of that is on its way.
    cell?.command({ verb: 'hold', cause, along: true, above: this.#deadlineOf(made) })
  }

  #stop({ id, reason, cause }: Extract<Effect, { type: 'stop' }>): void {
    const { cell, made } = this.roster.of(id)
    cell?.command(made.shutdown === 'kill' ? { verb: 'kill' } : { verb: 'stop', reason, cause, above: this.#deadlineOf(made) })
  }

  /** When a child that is told now must have come to rest: as it declares, and before the supervisor itself must. */
  #deadlineOf({ shutdown }: AnyChildSpec): number {
    const { host } = this.#cell
    const own = this.#cell.phase === 'stopping' || this.#cell.phase === 'restarting' ? deadlineBelow(this.#cell) : Infinity
    if (shutdown === 'infinity') return own
    return Math.min(own, host.runtime.now() + (shutdown === 'kill' ? 0 : shutdown))
  }

  // What is asked for.

  start(spec: AnyChildSpec, replyTo: ActorRef<ChildReply>): void {
    const request = this.#ask(`start ${spec.name ?? 'an instance'}`, replyTo, spec)
    this.#tell({ type: 'start', request, facts: spec })
  }

  control(type: 'restart' | 'stop' | 'delete', key: ChildKey, replyTo: ActorRef<ChildReply>): void {
    const id = this.roster.find(key)
    const request = this.#ask(`${type} ${nameOf(key)}`, replyTo, undefined)
    this.#asked.get(request)!.id = id
    this.#tell({ type, request, id })
  }

  find(key: ChildKey): AnyRef | undefined {
    return this.roster.cell(this.roster.find(key))?.ref
  }

  #ask(what: string, replyTo: ActorRef<ChildReply>, spec: AnyChildSpec | undefined): number {
    const request = ++this.#serial
    this.#asked.set(request, { what, spec, replyTo, id: undefined })
    return request
  }

  #answer(request: number, outcome: Outcome): void {
    const { what, replyTo, id } = this.#asked.get(request)!
    this.#asked.delete(request)
    this.reply(replyTo, outcome.ok ? { ok: true, ref: this.roster.cell(id)?.ref } : refusal(this.#cell.ref.path, what, outcome))
  }

  /** Answers whoever asked. A bad address is the asker's affair: the children must not suffer for it. */
  reply<T>(replyTo: ActorRef<T> | undefined, answer: T): void {
    const { ref, dispatcher } = this.#cell
    try {
      if (typeof replyTo?.tell === 'function') return tellAny(dispatcher.host, replyTo, answer)
      dispatcher.ledger.sent++
      dispatcher.host.bury(answer, ref, undefined, 'no-recipient')
    } catch (cause) {
      dispatcher.host.logger.error({ actor: ref.path, cause }, 'the answer of a supervisor could not be delivered')
    }
  }
}

function nameOf(key: ChildKey): string {
  if (typeof key === 'string') return `"${key}"`
  if (typeof key !== 'object' || key === null) return show(key)
  return 'tell' in key ? key.path : `"${key.name ?? 'an instance'}"`
}

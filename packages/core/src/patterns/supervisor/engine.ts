// Performs what a supervisor decides, and tells it what happens. It is the keeper of the children's cells, so that it
// hears of every start, failure and end at once, in each phase of the supervisor's own life. One engine per
// incarnation; it never waits and never runs user code.

import type { Cell } from '../../cell/cell.ts'
import type { Keeper } from '../../cell/keeper.ts'
import { cellOf } from '../../cell/local-ref.ts'
import type { EndInfo } from '../../cell/phase-info.ts'
import { releaseHeld } from '../../cell/restarting.ts'
import type { Deadline } from '../../queues/timers.ts'
import { walk } from '../../system/inspection.ts'
import type { ActorContext } from '../../values/context.ts'
import { SystemClosed } from '../../values/errors.ts'
import type { ActorRef, AnyRef } from '../../values/ref.ts'
import type { Directive } from '../../values/signals.ts'
import { type AnyChildSpec, endless } from './child-spec.ts'
import { decide } from './decide.ts'
import { isSupervisor } from './marker.ts'
import type { ChildCount, ChildInfo, ChildKey, ChildReply, SupervisorMessage } from './protocol.ts'
import { refusal } from './refusal.ts'
import { type Effect, type Event, type Member, type Operation, type Outcome, statusOf, type Tree } from './tree.ts'

/** A child's actor, as long as there is one, and what its end is waiting for. */
interface Held {
  readonly spec: AnyChildSpec
  cell: Cell | undefined
  guard: Alarm | undefined
}

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

export class Engine implements Keeper {
  readonly #ctx: ActorContext<SupervisorMessage>
  readonly #cell: Cell
  readonly #tree: Tree
  readonly #held = new Map<number, Held>()
  readonly #ids = new Map<Cell, number>()
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
    let i = 0
    for (const id of tree.members.keys()) this.#held.set(id, { spec: specs[i++]!, cell: undefined, guard: undefined })
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

  // What happens to children.

  failed(cell: Cell, cause: unknown): Directive {
    this.#directive = 'stop'
    this.#about(cell, (id) => ({ type: 'failed', id, cause }))
    const member = this.#tree.members.get(this.#ids.get(cell) ?? -1)
    // Also where its restart has to wait for another.
    return member !== undefined && statusOf(this.#tree, member) === 'restarting' ? 'restart' : this.#directive
  }
  started(cell: Cell): void {
    this.#about(cell, (id) => ({ type: 'started', id }))
  }
  held(cell: Cell): void {
    this.#disarm(cell)
    this.#about(cell, (id) => ({ type: 'held', id }))
  }
  ended(cell: Cell, { reason, cause }: EndInfo): void {
    this.#disarm(cell)
    const id = this.#ids.get(cell)
    this.#ids.delete(cell)
    const held = id === undefined ? undefined : this.#held.get(id)
    if (held === undefined || held.cell !== cell) return
    held.cell = undefined
    if (this.#inert) return
    this.#tell({ type: 'ended', id: id!, reason, cause })
  }

  #about(cell: Cell, event: (id: number) => Event): void {
    const id = this.#ids.get(cell)
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
      for (const effect of decide(this.#tree, next, this.#cell.dispatcher.host.runtime.now())) this.#perform(effect)
      this.#events.shift()
    }
  }

  #perform(effect: Effect): void {
    const { host } = this.#cell.dispatcher
    switch (effect.type) {
      case 'joined':
        this.#asked.get(effect.request)!.id = effect.id
        this.#held.set(effect.id, { spec: this.#asked.get(effect.request)!.spec!, cell: undefined, guard: undefined })
        return
      case 'spawn':
        return this.#spawn(effect.id)
      case 'relaunch':
        return releaseHeld(this.#held.get(effect.id)!.cell!)
      case 'forget':
        this.#held.delete(effect.id)
        return
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
        return host.count({ directive: 'escalate', limitHit: true, fatal: false })
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
    const held = this.#held.get(id)!
    const { name, behavior, spawn } = held.spec
    try {
      const cell = cellOf(this.#ctx.spawn(behavior, name === undefined ? spawn : { ...spawn, name }))!
      cell.more.keeper = this
      held.cell = cell
      this.#ids.set(cell, id)
    } catch (cause) {
      // The system closes, and the supervisor will be told to stop: nobody is brought back any more.
      if (cause instanceof SystemClosed) this.#tree.leaving = true
      this.#events.push({ type: 'ended', id, reason: 'failure', cause })
    }
  }

  #hold(id: number, cause: unknown): void {
    const { cell, spec } = this.#held.get(id)!
    cell!.command({ verb: 'restart', cause, delay: Infinity })
    // The cell itself cuts off what overruns its stop time, so that ref and mailbox survive; this is for the rest.
    if (typeof spec.shutdown === 'number') this.#guard(id, 2 * spec.shutdown)
  }

  #stop({ id, reason, cause }: Extract<Effect, { type: 'stop' }>): void {
    const { cell, spec } = this.#held.get(id)!
    this.#disarm(cell!)
    if (spec.shutdown === 'kill') return killAll(cell!)
    cell!.command({ verb: 'stop', reason, cause })
    if (spec.shutdown !== 'infinity' && spec.shutdown !== endless) this.#guard(id, spec.shutdown)
  }

  /** Kills a child that has not come to rest after `ms`. */
  #guard(id: number, ms: number): void {
    const held = this.#held.get(id)!
    const { host } = this.#cell.dispatcher
    const cell = held.cell!
    held.guard = new Alarm(() => killAll(cell))
    host.timers.set(held.guard, host.runtime.now() + ms)
  }

  #disarm(cell: Cell): void {
    const held = this.#held.get(this.#ids.get(cell) ?? -1)
    if (held?.guard === undefined) return
    this.#cell.dispatcher.host.timers.cancel(held.guard)
    held.guard = undefined
  }

  // What is asked for.

  start(spec: AnyChildSpec, replyTo: ActorRef<ChildReply>): void {
    const request = this.#ask(`start ${spec.name ?? 'an instance'}`, replyTo, spec)
    this.#tell({ type: 'start', request, facts: spec })
  }

  control(type: 'restart' | 'stop' | 'delete', key: ChildKey, replyTo: ActorRef<ChildReply>): void {
    const id = this.#find(key)
    const request = this.#ask(`${type} ${nameOf(key)}`, replyTo, undefined)
    this.#asked.get(request)!.id = id
    this.#tell({ type, request, id })
  }

  find(key: ChildKey): AnyRef | undefined {
    return this.#held.get(this.#find(key) ?? -1)?.cell?.ref
  }

  #ask(what: string, replyTo: ActorRef<ChildReply>, spec: AnyChildSpec | undefined): number {
    const request = ++this.#serial
    this.#asked.set(request, { what, spec, replyTo, id: undefined })
    return request
  }

  #answer(request: number, outcome: Outcome): void {
    const { what, replyTo, id } = this.#asked.get(request)!
    this.#asked.delete(request)
    if (!outcome.ok) return replyTo.tell(refusal(this.#cell.ref.path, what, outcome))
    replyTo.tell({ ok: true, ref: this.#held.get(id ?? -1)?.cell?.ref })
  }

  #find(key: ChildKey): number | undefined {
    if (typeof key === 'string') return this.#tree.names.get(key)?.id
    if ('tell' in key) {
      const cell = cellOf(key)
      return cell === undefined ? undefined : this.#ids.get(cell)
    }
    for (const [id, { spec }] of this.#held) if (spec === key) return id
    return undefined
  }

  list(): ChildInfo[] {
    return [...this.#tree.members.values()].map((m) => this.#info(m))
  }

  #info(member: Member): ChildInfo {
    const { spec, cell } = this.#held.get(member.id)!
    const { name, restart, significant, behavior } = spec
    return {
      name,
      ref: cell?.ref,
      status: statusOf(this.#tree, member),
      restart,
      significant,
      restarts: member.restarts,
      supervisor: isSupervisor(behavior),
    }
  }

  count(): ChildCount {
    let active = 0
    let supervisors = 0
    for (const { cell, spec } of this.#held.values()) {
      if (cell !== undefined) active++
      if (isSupervisor(spec.behavior)) supervisors++
    }
    const specs = this.#held.size
    return { specs, active, supervisors, workers: specs - supervisors }
  }
}

/** Ends an actor at once, and all below it: those would only keep it waiting. */
function killAll(cell: Cell): void {
  walk(cell, (c) => c.command({ verb: 'kill' }))
}

function nameOf(key: ChildKey): string {
  if (typeof key === 'string') return `"${key}"`
  return 'tell' in key ? key.path : `"${key.name ?? 'an instance'}"`
}

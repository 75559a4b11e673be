// Circles of actors that wait for each other across threads. Each thread knows who of its own waits for which question, and who
// of its own has which; so a probe goes from question to question, one thread to the next, with the numbers of all that it
// followed. One that comes back to a question it has met has found a circle. Then one question of it is chosen, the same by
// whomever it was found, and the circle is gone around once more: only if each link of it still holds, and so all of them
// held at one moment in between, that question is refused.
//
// Begun where a circle can be closed: where a question comes to an actor that waits, where an actor waits for one of its own
// thread that waits for another, and where a question turns out to have gone on to a third thread. A question that is answered costs nothing of this.

import { DeadlockError } from '@troupe/core'
import { type AskEdge, type Cell, inProgress, PendingAsk } from '@troupe/core/internal'
import type { ControlOf } from '../way/control.ts'
import type { Exchange } from './exchange.ts'
import type { ProxyCell } from '../way/remote-ref.ts'
import { StubCell } from '../lives/stub.ts'

/** A question that is waited for: where it was asked, its number there, and what its asker wants to be done about circles. */
export interface WaitMark {
  readonly origin: number
  readonly id: number
  readonly mode: AskEdge['mode']
}

type Probe = Omit<ControlOf<'probe'>, 'op' | 'uid'>

export class Deadlocks {
  readonly #exchange: Exchange
  /** What is to be looked at when the turn is over. */
  readonly #begun: (() => void)[] = []
  readonly #microtask: (task: () => void) => void
  constructor(exchange: Exchange, microtask: (task: () => void) => void) {
    this.#exchange = exchange
    this.#microtask = microtask
    const before = exchange.core.onWait
    exchange.core.onWait = (edge) => {
      before?.(edge)
      this.#later(() => this.#waits(edge))
    }
    exchange.on('probe', ({ uid, ...probe }) => this.#arrived(probe, uid))
    exchange.on('probe.confirm', ({ known }) => this.#confirm(known))
  }

  /** A question of another thread has come to an actor, or was handed on to it. */
  came(ask: PendingAsk, origin: number, id: number): void {
    const { target } = ask
    if (target.extras?.pending === undefined && !this.#isElsewhere(target)) return
    this.#later(() => {
      if (!ask.settled) this.#follow(ask.target, { chain: [{ origin, id, mode: 'off' }], trail: [], known: undefined })
    })
  }
  /** Who waits for what, and where a question is, is known when the turn is over: until then it is neither linked nor sent. */
  #later(look: () => void): void {
    if (this.#begun.push(look) > 1) return
    this.#microtask(() => {
      for (const each of this.#begun.splice(0)) each()
    })
  }

  /** A question of this thread is with another thread than was believed: what was looked for there found nothing. */
  went({ edge }: PendingAsk): void {
    if (edge !== undefined && this.#binds(edge)) this.#pass(edge, { chain: [], trail: [], known: undefined })
  }

  /** An actor waits for another of this thread: what that one waits for may be elsewhere. */
  #waits(edge: AskEdge): void {
    if (this.#binds(edge) && !this.#exchange.questions.isAway(edge.ask)) this.#pass(edge, { chain: [], trail: [], known: undefined })
  }

  /** Goes on from an actor to the questions that keep it waiting. */
  #follow(cell: Cell, probe: Probe): void {
    const { extras } = cell
    if (this.#isElsewhere(cell)) {
      // The question waits here for its way: its actor is looked at where that is.
      if (cell.at !== undefined) this.#exchange.reach(cell.at, { op: 'probe', uid: this.#exchange.numberOf(cell), ...probe })
      return
    }
    if (extras?.pending === undefined || cell.options.reentrant) return
    for (let edge = extras.asking; edge !== undefined; edge = edge.next) if (this.#binds(edge)) this.#pass(edge, probe)
  }
  #pass(edge: AskEdge, { chain, trail, known }: Probe): void {
    const { questions } = this.#exchange
    const { origin, id } = questions.markOf(edge.ask)
    const is = (mark: WaitMark | undefined): boolean => mark?.origin === origin && mark.id === id
    const met = chain.findIndex(is)
    if (met >= 0) {
      if (known === undefined) this.#found([{ origin, id, mode: edge.mode }, ...chain.slice(met + 1)])
      else if (met === 0 && chain.length === known.length) this.#refuse(edge, trail)
      return
    }
    if (known !== undefined && !is(known[chain.length])) return
    const next: Probe = { chain: [...chain, { origin, id, mode: edge.mode }], trail: [...trail, edge.asker.cell.ref.path], known }
    const holder = questions.holderOf(edge.ask)
    if (holder === undefined) this.#follow(edge.ask.target, next)
    else this.#exchange.reach(holder, { op: 'probe', uid: undefined, ...next })
  }
  /** A probe comes for the actor that has its last question, or that it waits to be passed on to. */
  #arrived(probe: Probe, uid: number | undefined): void {
    if (uid !== undefined) {
      const cell = this.#exchange.residents.cell(uid)
      if (cell !== undefined) this.#follow(cell, probe)
      return
    }
    const { origin, id } = probe.chain.at(-1)!
    const { epoch, addresses, questions } = this.#exchange
    const ask = origin === epoch ? addresses.get(id) : questions.mirrorOf(origin, id)
    // It is in the mailbox of its actor, or in its hands; otherwise nobody waits for that actor.
    if (ask instanceof PendingAsk && !ask.settled && (ask.opened !== true || inProgress(ask))) this.#follow(ask.target, probe)
  }

  /** Whether an actor runs at another place of this exchange, and this cell only stands for it. */
  #isElsewhere(cell: Cell): cell is StubCell | ProxyCell {
    return (cell instanceof StubCell && cell.exchange === this.#exchange) || this.#exchange.isProxy(cell)
  }

  /** Whether a question keeps the handler waiting that asked it; whether somebody has it is for those who have it. */
  #binds(edge: AskEdge): boolean {
    const { ask, call, asker } = edge
    if (call === undefined || call !== asker.cell.extras?.pending || ask.settled) return false
    return this.#exchange.questions.isAway(ask) || ask.opened !== true || inProgress(ask)
  }

  /** Once around: the one whose turn it is to be refused is asked to go around again. */
  #found(circle: readonly WaitMark[]): void {
    const wanted = circle.some((mark) => mark.mode === 'reject') ? 'reject' : 'warn'
    const first = circle.reduce((best, mark, at) => (mark.mode === wanted && (best < 0 || isAfter(mark, circle[best]!)) ? at : best), -1)
    if (first < 0) return
    const known = [...circle.slice(first), ...circle.slice(0, first)]
    const { origin } = known[0]!
    if (origin === this.#exchange.epoch) this.#confirm(known)
    else this.#exchange.reach(origin, { op: 'probe.confirm', known })
  }
  #confirm(known: readonly WaitMark[]): void {
    const ask = this.#exchange.addresses.get(known[0]?.id ?? 0)
    if (ask instanceof PendingAsk && ask.edge !== undefined && this.#binds(ask.edge)) this.#pass(ask.edge, { chain: [], trail: [], known })
  }
  #refuse(edge: AskEdge, trail: readonly string[]): void {
    const { ref } = edge.asker.cell
    const { core } = this.#exchange
    const error = new DeadlockError([...trail, ref.path])
    const rejected = edge.mode === 'reject'
    if (core.listening) core.observe({ type: 'deadlock', ref, cycle: error.cycle, rejected, at: core.runtime.now() })
    if (rejected) edge.ask.fail(error)
    else core.logger.warn({ actor: ref.path, cycle: error.cycle }, 'a question closes a cycle of waiting actors')
  }
}

/** Which of two questions is refused: any order will do, as long as all threads have the same. */
function isAfter(a: WaitMark, b: WaitMark): boolean {
  return a.origin === b.origin ? a.id > b.id : a.origin > b.origin
}

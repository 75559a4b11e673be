// C9, a second time: every question seen on its way, with the time by which it must be settled.

import { AskTargetStopped, AskTimeout, DeadlockError, TroupeError } from '@troupe/core'
import { Adapted, type Meta, PendingAsk } from '@troupe/core/internal'
import type { Entry } from './entry.ts'
import type { SimCell } from './sim-cell.ts'
import type { SimTap } from './sim-tap.ts'

/** What is known of a question. */
interface Question {
  /** By when it must be settled, and before when it must not time out. */
  until: number
  readonly least: number
  /** The message whose handler asked. */
  readonly by: Entry | undefined
  /** The question itself. */
  readonly entry: Entry
  settled: boolean
}

export class AskAccount {
  readonly #tap: SimTap
  readonly #open = new Map<PendingAsk, Question>()
  readonly #outside: PendingAsk[] = []
  readonly #owed: PendingAsk[] = []
  /** Questions that ran out of time. */
  readonly #expired = new WeakSet<PendingAsk>()
  constructor(tap: SimTap) {
    this.#tap = tap
  }
  get size(): number {
    return this.#open.size
  }
  sent(meta: Meta, entry: Entry): void {
    const ask = askOf(meta)
    if (ask === undefined || this.#open.has(ask)) return
    this.#checkDeadline(ask)
    const until = this.#tap.now + ask.timeout
    const asker = this.#tap.current as SimCell | undefined
    const question: Question = { until, least: until, by: asker?.running, entry, settled: false }
    this.#open.set(ask, question)
    if (asker === undefined) this.#outside.push(ask)
    this.#listen(ask, question)
  }
  /** Sees the answer or the rejection; there may be one of them. */
  #listen(ask: PendingAsk, question: Question): void {
    const { resolve, reject } = ask
    if (resolve === undefined || reject === undefined) {
      // Answered before it was sent.
      this.#tap.ledger.expected.either++
      return
    }
    const once = (): void => {
      if (question.settled) this.#tap.violate('C9', ask.target, 'a question was settled twice')
      question.settled = true
      if (!ask.settled) this.#tap.violate('C9', ask.target, 'a question was settled and is still open')
    }
    ask.resolve = (answer) => {
      this.#tap.ledger.expected.handled++
      once()
      resolve(answer)
    }
    ask.reject = (cause) => {
      once()
      this.#checkCause(ask, question, cause)
      reject(cause)
    }
  }
  /** Who asks in order to answer has no more time than he was given. */
  #checkDeadline(ask: PendingAsk): void {
    // Behind an await it is nobody's turn: there only the question knows who asks it.
    const outer = askOf((ask.edge?.asker ?? this.#tap.current?.ctx)?.meta)
    // Whoever has answered is free; whoever has let the time run out has none left.
    const until =
      outer === undefined ? undefined : this.#expired.has(outer) ? this.#tap.now : outer.settled ? undefined : this.#open.get(outer)?.until
    if (until === undefined) return
    const left = Math.max(1, until - this.#tap.now)
    if (ask.timeout > left) this.#tap.violate('C9', ask.target, `a question has ${ask.timeout} ms, and the one it serves only ${left}`)
  }
  /** The reason of a rejection must be true. */
  #checkCause(ask: PendingAsk, { least, by, entry }: Question, cause: unknown): void {
    const { target } = ask
    if (!(cause instanceof TroupeError) && (entry.state === 'queued' || entry.state === 'stashed'))
      this.#tap.violate(
        'C9',
        target,
        `a question failed of a handler that had handed it on: ${entry.type}#${entry.id} is ${entry.state} at ${entry.to.ref.path}`,
      )
    if (cause instanceof AskTimeout) {
      this.#expired.add(ask)
      if (this.#tap.now < least) this.#tap.violate('C9', target, `a question timed out at ${this.#tap.now} ms, and its time was over at ${least}`)
    } else if (cause instanceof DeadlockError) this.#checkDeadlock(ask, by)
    else if (cause instanceof AskTargetStopped && (target.phase === 'running' || target.phase === 'suspended' || target.phase === 'created'))
      this.#tap.violate('C9', target, `a question was refused because its target stopped, and it is ${target.phase}`)
  }
  /** A circle is one only while the handler that asked is waited for. */
  #checkDeadlock(ask: PendingAsk, asked: Entry | undefined): void {
    if (asked !== undefined && asked.state !== 'running')
      this.#tap.violate(
        'C9',
        ask.target,
        `a question was refused as one of a circle, though the handler of ${asked.type}#${asked.id} that asked it is over`,
      )
  }
  /** No answer can come any more: whoever asked must hear of it now. */
  owes(meta: Meta): void {
    const ask = askOf(meta)
    if (ask !== undefined && !ask.settled) this.#owed.push(ask)
  }
  /** By the end of the turn. */
  checkOwed(): void {
    if (this.#owed.length === 0) return
    for (const ask of this.#owed.splice(0))
      if (!ask.settled) this.#tap.violate('C9', ask.target, 'a question failed, was not understood or was lost, and whoever asked does not know')
  }
  /** The time of a question from outside begins with the next turn. */
  begin(): void {
    if (this.#outside.length === 0) return
    const now = this.#tap.host.runtime.now()
    for (const ask of this.#outside.splice(0)) {
      const question = this.#open.get(ask)
      if (question !== undefined) question.until = now + ask.timeout
    }
  }
  /** Whether a message is a question that nobody waits for any more. */
  isSettled(meta: Meta): boolean {
    return askOf(meta)?.settled === true
  }
  /** All that was due has run: nothing may be open past its time. */
  check(now: number): void {
    for (const [ask, { until }] of this.#open) {
      if (ask.settled) {
        this.#open.delete(ask)
        if (linked(ask)) this.#tap.violate('C9', ask.target, 'a question was settled and is still registered')
      } else if (until < now) this.#tap.violate('C9', ask.target, `a question should have been settled by ${until} ms, and it is ${now} ms`)
    }
  }
  /** Somebody has ended: whoever asked must know by now. */
  checkDead(): void {
    for (const ask of this.#open.keys())
      if (!ask.settled && ask.target.phase === 'terminated') this.#tap.violate('C9', ask.target, 'ended, and a question to it is still open')
  }
  /** The system has ended. */
  checkAll(): void {
    for (const ask of this.#open.keys()) if (!ask.settled) this.#tap.violate('C9', ask.target, 'a question is open after its system has ended')
  }
}

function askOf(meta: Meta): PendingAsk | undefined {
  const inner = meta instanceof Adapted ? meta.inner : meta
  return inner instanceof PendingAsk ? inner : undefined
}

function linked(ask: PendingAsk): boolean {
  if (ask.nextAsk !== undefined || ask.previousAsk !== undefined || ask.target.extras?.asked === ask) return true
  for (let edge = ask.edge?.asker.cell.extras?.asking; edge !== undefined; edge = edge.next) if (edge.ask === ask) return true
  return ask.order > 0
}

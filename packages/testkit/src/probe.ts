// An actor that keeps what it is told, so that a test can say what it expects, in order. What takes time takes virtual
// time: expectations that wait move the clock from deadline to deadline and no further than they were allowed.

import { type ActorRef, type AnyRef, type Behavior, receive, same, type Terminated } from '@troupe/core'
import { checkFunction, checkString } from '@troupe/core/internal'
import { equal, show } from './compare.ts'

/** What drives the system that a probe lives in. */
export interface Driver {
  settle(): Promise<void>
  /** Moves time until `done` holds or `ms` have passed; returns whether it holds. */
  advanceUntil(done: () => boolean, ms: number): Promise<boolean>
  watch(ref: AnyRef, watcher: AnyRef): void
}

export class ProbeInbox<M> {
  readonly messages: M[] = []
  readonly senders: (AnyRef | undefined)[] = []
  readonly terminated: Terminated[] = []
  behavior(): Behavior<M> {
    return receive<M>(
      (ctx, message) => {
        this.messages.push(message)
        this.senders.push(ctx.sender)
        return same
      },
      (_ctx, signal) => {
        if (signal.type === 'Terminated') this.terminated.push(signal)
        return same
      },
    )
  }
}

/**
 * The messages of a probe, oldest first; expectations take them away.
 *
 * Guarantees: messages are seen in the order in which the actor handled them. Fails: each expectation throws (or
 * rejects) with what was expected and what came instead.
 *
 * @example
 * const probe = kit.probe<Reply>()
 * ref.tell({ type: 'get', replyTo: probe.ref })
 * await kit.settle()
 * probe.expect({ type: 'value', n: 3 })
 */
export class Probe<M> {
  readonly ref: ActorRef<M>
  /** What came and was not taken yet. */
  readonly messages: M[]
  readonly #inbox: ProbeInbox<M>
  readonly #driver: Driver
  #last: { readonly message: M; readonly sender: AnyRef | undefined } | undefined
  constructor(ref: ActorRef<M>, inbox: ProbeInbox<M>, driver: Driver) {
    this.ref = ref
    this.messages = inbox.messages
    this.#inbox = inbox
    this.#driver = driver
  }
  /** Takes the next message; fails unless it equals this. */
  expect(expected: M): M {
    const message = this.#next()
    if (!equal(message, expected)) throw new Error(`Expected ${show(expected)}, but got ${show(message)}.`)
    return message
  }
  /** Takes the next message; fails unless its `type` is this. */
  expectType<K extends string>(type: K): Extract<M, { type: K }> {
    checkString('type', type)
    const message = this.#next()
    if ((message as { type?: unknown } | null)?.type !== type) throw new Error(`Expected a ${type}, but got ${show(message)}.`)
    return message as Extract<M, { type: K }>
  }
  /** Fails if a message is waiting. */
  expectNone(): void
  /** Fails if a message comes within `ms` of virtual time, which passes. */
  expectNone(ms: number): Promise<void>
  expectNone(ms?: number): void | Promise<void> {
    if (ms === undefined) return this.#none()
    return this.#driver.advanceUntil(() => this.messages.length > 0, ms).then(() => this.#none())
  }
  /** Takes messages until one is wanted, up to `within` ms of virtual time, and returns that one; the others are gone. */
  async fish<R extends M>(wanted: ((message: M) => message is R) | ((message: M) => boolean), within = 0): Promise<R> {
    checkFunction('wanted', wanted)
    const others: M[] = []
    const bite = (): boolean => {
      while (this.messages.length > 0 && !wanted(this.messages[0]!)) others.push(this.#next())
      return this.messages.length > 0
    }
    if (await this.#driver.advanceUntil(bite, within)) return this.#next() as R
    throw new Error(`Fished for ${within} ms and caught nothing that was wanted, but ${others.length} others: ${others.map(show).join(', ')}.`)
  }
  /** Waits for the next message, up to `within` ms of virtual time, and takes it. */
  async next(within = 0): Promise<M> {
    await this.#driver.advanceUntil(() => this.messages.length > 0, within)
    return this.#next()
  }
  /** Watches an actor from here on, for `expectTerminated`. */
  watch(ref: AnyRef): void {
    this.#driver.watch(ref, this.ref)
  }
  /** Fails unless the actor ends within `within` ms of virtual time; watches it if that was not done before. */
  async expectTerminated(ref: AnyRef, within = 0): Promise<Terminated> {
    const { terminated } = this.#inbox
    const at = (): number => terminated.findIndex((t) => t.ref === ref)
    if (at() < 0) {
      this.watch(ref)
      await this.#driver.advanceUntil(() => at() >= 0, within)
    }
    if (at() < 0) throw new Error(`Expected the end of ${ref.path} within ${within} ms, but it lives.`)
    return terminated.splice(at(), 1)[0]!
  }
  /** Answers the message that was taken last: to its `replyTo`, else to its sender. */
  reply(answer: unknown): void {
    if (this.#last === undefined) throw new Error('There is nothing to reply to: no message was taken yet.')
    const { message, sender } = this.#last
    const to = (message as { replyTo?: AnyRef } | null)?.replyTo ?? sender
    if (to === undefined) throw new Error(`Nobody waits for a reply to ${show(message)}: it has no replyTo and no sender.`)
    to.tell(answer as never)
  }
  /** Who sent the message that was taken last. */
  get sender(): AnyRef | undefined {
    return this.#last?.sender
  }
  #none(): void {
    if (this.messages.length > 0) throw new Error(`Expected nothing, but got ${this.messages.map(show).join(', ')}.`)
  }
  #next(): M {
    if (this.messages.length === 0) throw new Error('Expected a message, but there is none. Is an advance or settle missing?')
    const message = this.messages.shift()!
    this.#last = { message, sender: this.#inbox.senders.shift() }
    return message
  }
}

// Runs one behavior by hand: no system, no turn, no time. Each message is handled synchronously, and what the handler did
// through its context is there to be looked at, in order. For logic that needs no others; whatever needs a reply, a
// supervisor or the passing of time is for `createTestKit`.

import { type ActorRef, type AnyRef, type Behavior, type SpawnOptions, type Signal } from '@troupe/core'
import {
  any,
  BehaviorNode,
  BehaviorWithOptions,
  checkCan,
  checkMessage,
  checkObject,
  checkRef,
  checkString,
  checkText,
  checkWhole,
  readOptions,
  refusalOf,
} from '@troupe/core/internal'
import { show } from './compare.ts'
import { FakeContext, type Inbox } from './fake-context.ts'
import type { LogLine } from './test-kit.ts'

/** What a behavior did through its context, in order. */
export type Effect =
  | { readonly type: 'spawned'; readonly ref: AnyRef; readonly behavior: Behavior<never>; readonly options: SpawnOptions }
  | { readonly type: 'stopped'; readonly ref: AnyRef }
  | { readonly type: 'watched'; readonly ref: AnyRef; readonly message?: unknown }
  | { readonly type: 'unwatched'; readonly ref: AnyRef }
  | {
      readonly type: 'scheduled'
      readonly key: string
      readonly ms: number
      readonly message: unknown
      readonly every: boolean
      readonly to?: AnyRef
    }
  | { readonly type: 'cancelled'; readonly key: string }
  | { readonly type: 'told'; readonly to: AnyRef; readonly message: unknown }
  | { readonly type: 'asked'; readonly to: AnyRef; readonly question: unknown }
  | { readonly type: 'forwarded'; readonly to: AnyRef; readonly message: unknown }
  | { readonly type: 'replied'; readonly answer: unknown }
  | { readonly type: 'stashed'; readonly message: unknown }
  | { readonly type: 'unstashed'; readonly messages: readonly unknown[] }
  | { readonly type: 'adapted'; readonly ref: AnyRef }
  | { readonly type: 'piped' }
  | { readonly type: 'receive-timeout'; readonly ms: number | null }
  | { readonly type: 'breathed' }
  | { readonly type: 'handed-over'; readonly value: unknown }

/** How the actor under test is called and what it finds. */
export interface BehaviorKitOptions {
  /** The name of the actor under test; `test` if left out. */
  readonly name?: string
  /** What `ctx.handedOver` gives. */
  readonly handedOver?: unknown
}

/**
 * One behavior, run by hand.
 *
 * Guarantees: `run` and `signal` return after the handler did; effects are in the order in which they were caused.
 * Fails: a throw of the handler comes out of `run`; an async handler must be run by `runAsync`.
 *
 * @example
 * const kit = new BehaviorTestKit(counter())
 * const inbox = kit.inbox<number>()
 * kit.run({ type: 'add', by: 2 })
 * kit.run({ type: 'get', replyTo: inbox.ref })
 * inbox.messages // [2]
 */
export class BehaviorTestKit<M> {
  readonly #ctx: FakeContext
  #node: BehaviorNode
  /** Handlers given to the setups it began with, and to those that came later; the innermost first. */
  #first: Handler[] = []
  #later: Handler[] = []
  #alive = true
  /** What the last handler returned, in words. */
  returned: 'same' | 'stopped' | 'unhandled' | 'behavior' = 'same'

  constructor(behavior: Behavior<M>, options: BehaviorKitOptions = {}) {
    const { name = 'test', handedOver } = readOptions('BehaviorTestKit', options, { name: checkText, handedOver: any })
    checkCan('behavior', behavior, ['a behavior', 'onSignal'])
    this.#ctx = new FakeContext(name, handedOver)
    let spawned: unknown = behavior
    while (spawned instanceof BehaviorWithOptions) spawned = spawned.behavior
    this.#node = this.#resolve(spawned, (handlers) => (this.#first = handlers))
    this.#tell({ type: 'PreStart' })
    this.#tell({ type: 'PostStart' })
  }

  /** What was done since the last `takeEffects`, oldest first. */
  get effects(): readonly Effect[] {
    return this.#ctx.effects
  }
  /** What was done so far; the list starts anew. */
  takeEffects(): readonly Effect[] {
    return this.#ctx.effects.splice(0)
  }
  /** Fails unless an effect of this type was caused and not taken yet; takes the first. */
  expectEffect<K extends Effect['type']>(type: K): Extract<Effect, { type: K }> {
    checkString('type', type)
    const at = this.#ctx.effects.findIndex((e) => e.type === type)
    if (at < 0) throw new Error(`Expected an effect "${type}", but there are: ${this.#ctx.effects.map((e) => e.type).join(', ') || 'none'}.`)
    return this.#ctx.effects.splice(at, 1)[0] as Extract<Effect, { type: K }>
  }
  get self(): ActorRef<M> {
    return this.#ctx.self
  }
  /** What the behavior told itself. */
  get selfInbox(): Inbox<M> {
    return this.#ctx.selfInbox as Inbox<M>
  }
  get logs(): readonly LogLine[] {
    return this.#ctx.logs
  }
  /** Whether the behavior has not returned `stopped`. */
  get isAlive(): boolean {
    return this.#alive
  }
  /** An address that keeps what it is told, for `replyTo` and the like. */
  inbox<T>(name = 'inbox'): Inbox<T> {
    return this.#ctx.inbox(checkText('name', name)) as Inbox<T>
  }
  /** What a child of this name (or this ref) was told. */
  childInbox<T>(child: string | AnyRef): Inbox<T> {
    return this.#ctx.childInbox(child) as Inbox<T>
  }

  /** Handles one message. */
  run(message: M, sender?: AnyRef): void {
    const next = this.#handle(message, sender)
    if (isPromise(next)) throw new Error(`The handler of ${show(message)} is async: use runAsync.`)
    this.#follow(next)
  }
  /** Handles one message and waits for the promise that the handler returns. */
  async runAsync(message: M, sender?: AnyRef): Promise<void> {
    this.#follow(await this.#handle(message, sender))
  }
  /** Delivers one signal. */
  signal(signal: Signal): void {
    this.#assertAlive()
    checkObject('signal', signal)
    this.#tell(signal)
  }
  /** Handles what the behavior told itself since, one after the other, those included that it tells itself meanwhile. */
  runSelf(limit = 1000): void {
    checkWhole('limit', limit, 1)
    for (let i = 0; this.selfInbox.messages.length > 0; i++) {
      if (i >= limit) throw new Error(`The behavior told itself more than ${limit} messages.`)
      this.run(this.selfInbox.messages.shift()!)
    }
  }

  #handle(message: M, sender: AnyRef | undefined): unknown {
    this.#assertAlive()
    checkMessage(message)
    if (sender !== undefined) checkRef('sender', sender)
    this.#ctx.begin(message, sender)
    return this.#node.handle(this.#ctx as never, message as never)
  }
  #assertAlive(): void {
    if (!this.#alive) throw new Error(`${this.#ctx.path} has returned stopped: it takes nothing more.`)
  }
  #tell(signal: Signal): void {
    this.#ctx.begin(undefined, undefined)
    let next: unknown
    for (const handler of [this.#node.signal, ...this.#later, ...this.#first]) {
      if (handler === undefined) continue
      next = handler(this.#ctx as never, signal)
      if (isPromise(next)) throw new Error(`The handler of ${signal.type} is async: use createTestKit.`)
      if (!(next instanceof BehaviorNode) || next.kind !== 'unhandled') break
    }
    this.#follow(next)
  }
  #follow(next: unknown): void {
    if (next === undefined) this.returned = 'same'
    else if (!(next instanceof BehaviorNode)) throw refusalOf(next, `The handler of ${this.#ctx.path} returned`)
    else if (next.kind === 'receive' || next.kind === 'setup') {
      this.returned = 'behavior'
      this.#node = this.#resolve(next, (handlers) => (this.#later = handlers))
    } else this.returned = next.kind
    if (this.returned === 'stopped') this.#alive = false
  }
  /** `keep` is told the handlers of its setups, if there are. */
  #resolve(behavior: unknown, keep: (handlers: Handler[]) => void): BehaviorNode {
    let at = behavior
    const handlers: Handler[] = []
    for (;;) {
      if (at instanceof BehaviorNode && at.kind === 'setup') {
        if (at.signal !== undefined) handlers.unshift(at.signal)
        at = (at.handle as (ctx: unknown) => unknown)(this.#ctx)
        if (isPromise(at)) throw new Error('The setup is async: use createTestKit.')
      } else if (at instanceof BehaviorNode) {
        if (at.kind === 'stopped') this.#alive = false
        if (handlers.length > 0) keep(handlers)
        return at
      } else throw refusalOf(at, `${this.#ctx.path} was given, or its setup returned,`)
    }
  }
}

type Handler = NonNullable<BehaviorNode['signal']>

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | undefined)?.then === 'function'
}

// The context that a behavior test kit hands out: does nothing, remembers everything. Its refs keep what they are told.

import {
  type ActorClass,
  type ActorContext,
  type ActorHooks,
  type ActorRef,
  type AnyRef,
  type Behavior,
  behaviorOfClass,
  type ClassThatNeedsNoArgs,
  InvalidOption,
  type Logger,
  NotABehavior,
  NotAllowed,
  type OptionsFor,
  type Spawned,
  type SpawnOptions,
  type Stash,
  type SystemView,
  type Timers,
} from '@troupe/core'
import {
  can,
  checkFinite,
  checkFunction,
  checkMessage,
  checkName,
  checkObject,
  checkRef,
  checkStashed,
  checkString,
  checkText,
  checkWhole,
  type HandleRef,
  type HookedNode,
  makeAbortSource,
  pathOf,
  readOptions,
  spawnTable,
  type Table,
} from '@troupe/core/internal'
import type { Effect } from './behavior-kit.ts'
import type { LogLine } from './test-kit.ts'

/**
 * An address that keeps what it is told.
 *
 * @example
 * const inbox = kit.inbox<number>()
 * kit.run({ type: 'get', replyTo: inbox.ref })
 * expect(inbox.messages).toEqual([0])
 */
export class Inbox<M> {
  readonly messages: M[] = []
  readonly ref: ActorRef<M>
  constructor(path: string, uid: number, told: (ref: AnyRef, message: unknown) => void) {
    checkText('path', path)
    checkFunction('told', told)
    const inbox = this.messages
    this.ref = {
      path,
      uid,
      tell(message: M) {
        inbox.push(message)
        told(this, message)
      },
      ask: () => Promise.reject(new NotAllowed(`${path} is an inbox of a behavior test: nobody answers there. Use createTestKit.`)),
      offer(message: M) {
        this.tell(message)
        return Promise.resolve()
      },
      stop() {},
    }
  }
}

export class FakeContext implements ActorContext<unknown> {
  readonly effects: Effect[] = []
  readonly logs: LogLine[] = []
  readonly selfInbox: Inbox<unknown>
  readonly path: string
  readonly headers = {}
  readonly incarnation = 0
  readonly handedOver: unknown
  readonly parent: AnyRef
  sender: AnyRef | undefined = undefined
  #message: unknown = undefined
  readonly #children = new Map<AnyRef, Inbox<unknown>>()
  readonly #timers = new Set<string>()
  readonly #abort = makeAbortSource()
  #stashed: unknown[] = []
  #uid = 0

  constructor(name: string, handedOver: unknown) {
    this.path = `/user/${name}`
    this.handedOver = handedOver
    this.parent = this.inbox('user').ref
    this.selfInbox = new Inbox(this.path, ++this.#uid, (to, message) => this.effects.push({ type: 'told', to, message }))
  }
  begin(message: unknown, sender: AnyRef | undefined): void {
    this.#message = message
    this.sender = sender
  }
  inbox(name: string): Inbox<unknown> {
    return new Inbox(`/${name}`, ++this.#uid, (to, message) => this.effects.push({ type: 'told', to, message }))
  }
  childInbox(child: string | AnyRef): Inbox<unknown> {
    for (const [ref, inbox] of this.#children) if (ref === child || (typeof child === 'string' && ref.path === `${this.path}/${child}`)) return inbox
    throw new Error(
      `There is no child ${typeof child === 'string' ? child : pathOf(child)}; there are ${this.children.map((c) => c.path).join(', ') || 'none'}.`,
    )
  }

  get self(): ActorRef<unknown> {
    return this.selfInbox.ref
  }
  get children(): readonly AnyRef[] {
    return [...this.#children.keys()]
  }
  get system(): SystemView {
    throw new NotAllowed('A behavior test has no system. Use createTestKit.')
  }
  get signal(): ActorContext<unknown>['signal'] {
    return this.#abort.signal
  }
  get log(): Logger {
    const to =
      (level: keyof Logger) =>
      (fields: Readonly<Record<string, unknown>>, message: string): void =>
        void this.logs.push({ level, fields, message })
    return { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') }
  }
  get timers(): Timers<unknown> {
    const schedule = (key: string, ms: number, message: unknown, every: boolean, to: AnyRef | undefined): void => {
      checkString('key', key)
      checkFinite('ms', ms, every ? 'above' : 'from')
      checkMessage(message)
      this.#timers.add(key)
      this.effects.push(to === undefined ? { type: 'scheduled', key, ms, message, every } : { type: 'scheduled', key, ms, message, every, to })
    }
    const cancel = (key: string): void => {
      if (this.#timers.delete(key)) this.effects.push({ type: 'cancelled', key })
    }
    return {
      once: (key: string, ms: number, message: unknown, options?: { readonly to: AnyRef }) =>
        schedule(key, ms, message, false, options === undefined ? undefined : readOptions('timers.once', options, { to: [checkRef, 0, true] }).to),
      every: (key, ms, message) => schedule(key, ms, message, true, undefined),
      cancel,
      cancelAll: () => [...this.#timers].forEach(cancel),
      has: (key) => this.#timers.has(key),
    }
  }
  get stash(): Stash<unknown> {
    const stashed = (): unknown[] => this.#stashed
    const unstash = (count: number): void => {
      const messages = this.#stashed.splice(0, count)
      this.effects.push({ type: 'unstashed', messages })
      this.selfInbox.messages.unshift(...messages)
    }
    return {
      get size() {
        return stashed().length
      },
      add: (message) => {
        checkStashed(this.path, message, this.#message)
        this.#stashed.push(message)
        this.effects.push({ type: 'stashed', message })
      },
      unstashAll: () => unstash(Infinity),
      unstash: (count) => unstash(checkWhole('count', count, 0)),
      clear: () => void (this.#stashed = []),
    }
  }

  spawn<C, T extends ActorHooks = never>(actor: Behavior<C> | ClassThatNeedsNoArgs<T>): Spawned<C, T>
  spawn<C, T extends ActorHooks = never, A extends readonly unknown[] = never>(
    actor: Behavior<C> | ActorClass<T, A>,
    options: OptionsFor<T, A>,
  ): Spawned<C, T>
  spawn(spawnable: Behavior<never> | ActorClass<ActorHooks, never>, given: SpawnOptions & { readonly args?: readonly unknown[] } = {}): never {
    checkObject('options', given)
    if (typeof spawnable !== 'function') return this.#spawn(spawnable, given) as never
    const { args = [], ...options } = given
    if (!Array.isArray(args)) throw new InvalidOption('args', args, 'use an array of what the constructor takes')
    const behavior = behaviorOfClass(spawnable as ActorClass<ActorHooks, readonly unknown[]>, ...(args as readonly unknown[]))
    return handle(this.#spawn(behavior, options) as ActorRef<unknown>, methodsOf(behavior)) as never
  }
  #spawn(behavior: Behavior<never>, options: SpawnOptions): AnyRef {
    if (!can(behavior, 'onSignal')) throw new NotABehavior(behavior, 'spawn was given')
    const { name } = readOptions('spawn', options, spawnTable as Table<SpawnOptions>)
    if (name !== undefined) checkName(name, this)
    const uid = ++this.#uid
    const inbox = new Inbox<unknown>(`${this.path}/${name ?? `$${uid}`}`, uid, (to, message) => this.effects.push({ type: 'told', to, message }))
    this.#children.set(inbox.ref, inbox)
    this.effects.push({ type: 'spawned', ref: inbox.ref, behavior, options })
    return inbox.ref
  }
  stop(child?: AnyRef): void {
    if (child !== undefined) {
      checkRef('child', child)
      this.#children.delete(child)
    }
    this.effects.push({ type: 'stopped', ref: child ?? this.self })
  }
  watch(ref: AnyRef): void {
    checkRef('ref', ref)
    this.effects.push({ type: 'watched', ref })
  }
  watchWith(ref: AnyRef, message: unknown): void {
    checkRef('ref', ref)
    checkMessage(message)
    this.effects.push({ type: 'watched', ref, message })
  }
  unwatch(ref: AnyRef): void {
    this.effects.push({ type: 'unwatched', ref })
  }
  ask(ref: AnyRef, question: unknown): Promise<never> {
    checkRef('ref', ref)
    this.effects.push({ type: 'asked', to: ref, question })
    return new Promise(() => {})
  }
  reply(answer: unknown): void {
    this.effects.push({ type: 'replied', answer })
    const to = (this.#message as { replyTo?: AnyRef } | undefined)?.replyTo ?? this.sender
    if (can(to, 'tell')) to!.tell(answer as never)
  }
  forward(ref: AnyRef): void {
    checkRef('ref', ref)
    if (this.#message === undefined) throw new NotAllowed(`${this.path} has no message to forward.`)
    this.effects.push({ type: 'forwarded', to: ref, message: this.#message })
  }
  adapt<T>(fn: (message: T) => unknown): ActorRef<T> {
    checkFunction('fn', fn)
    const inbox = new Inbox<T>(`${this.path}/$adapter`, ++this.#uid, (_to, message) => this.self.tell(fn(message as T)))
    this.effects.push({ type: 'adapted', ref: inbox.ref })
    return inbox.ref
  }
  pipeToSelf<T>(promise: PromiseLike<T>, ok: (value: T) => unknown, err: (cause: unknown) => unknown): void {
    checkFunction('ok', ok)
    checkFunction('err', err)
    this.effects.push({ type: 'piped' })
    void Promise.resolve(promise)
      .then(
        (value) => this.self.tell(ok(value)),
        (cause: unknown) => this.self.tell(err(cause)),
      )
      .then(undefined, (cause: unknown) => this.log.error({ cause }, 'a mapper of pipeToSelf failed'))
  }
  setReceiveTimeout(ms: number | null): void {
    if (ms !== null) checkFinite('ms', ms, 'above')
    this.effects.push({ type: 'receive-timeout', ms })
  }
  breathe(): Promise<void> {
    this.effects.push({ type: 'breathed' })
    return Promise.resolve()
  }
  label(text: string): void {
    checkString('text', text)
  }
  handOver(value: unknown): void {
    this.effects.push({ type: 'handed-over', value })
  }
}

/** The methods of the class that a behavior was made from. */
function methodsOf(behavior: unknown): readonly string[] {
  const { protocol } = (behavior as HookedNode).makeRef!(undefined as never, undefined, 0) as HandleRef
  return protocol.names
}

/** The face of a class actor: each method told or asked is a message `{ type, args }`, as it is in a system. */
function handle(ref: ActorRef<unknown>, methods: readonly string[]): object {
  const calls = (send: (message: object) => unknown, plain: object): object => {
    const face = Object.setPrototypeOf(plain, null) as Record<string, unknown>
    for (const type of methods) Object.defineProperty(face, type, { configurable: true, value: (...args: unknown[]) => send({ type, args }) })
    return face
  }
  const told = calls(
    (message) => ref.tell(message),
    (message: unknown) => ref.tell(message),
  )
  const asked = calls(
    (message) => ref.ask(() => message),
    (question: never) => ref.ask(question),
  )
  const face = { ...ref, tell: told, ask: asked }
  return { ...face, with: () => face }
}

// What an actor does with a message, as a value. One class for every kind, so that the turn's call site sees one shape.
// A behavior holds no runtime state: the same one may be given to many actors, and to each incarnation anew.

import { checkCan, checkFunction, checkObject, unreadable } from './checks.ts'
import type { ActorContext } from './context.ts'
import { OptionsTooLate, type TroupeError } from './errors.ts'
import type { SpawnOptions } from './options.ts'
import type { Signal } from './signals.ts'

/**
 * What an actor does next: made by `receive`, `match` or `setup`, or one of `same`, `stopped`, `unhandled`, `empty`,
 * `ignore`.
 */
export interface Behavior<in M> {
  /** Only for the compiler: makes the protocol part of the type. */
  readonly accepts?: (message: M) => void
  /** The same behavior with this signal handler; the second argument of `receive` and `setup` infers more. */
  onSignal(handler: SignalHandler<M>): Behavior<M>
}

/** What a handler returns: the next behavior, nothing (`same`), or a promise of either. */
export type Next<M> = Behavior<M> | void | Promise<Behavior<M> | void>

/** Handles one message. */
export type MessageHandler<M> = (ctx: ActorContext<M>, message: M) => Next<M>

/** Handles one signal; `unhandled` leaves it to the default. */
export type SignalHandler<M> = (ctx: ActorContext<M>, signal: Signal) => Next<M>

/** Which step a node asks for when it is returned. */
export type NodeKind = 'receive' | 'setup' | 'same' | 'stopped' | 'unhandled'

/** The one class behind `Behavior`; what its members mean depends on `kind`. */
export class BehaviorNode {
  declare readonly kind: NodeKind
  declare readonly handle: (ctx: never, message: never) => unknown
  declare readonly signal: ((ctx: never, signal: Signal) => unknown) | undefined
  // Those of the subclasses: asked of every node, so that who has none of them need not carry their classes.
  declare readonly error?: ((ctx: never, cause: unknown, message: unknown) => void) | undefined
  declare readonly makeRef?: ((parent: never, name: string | undefined, uid: number) => unknown) | undefined
  declare readonly early?: { release(): void } | undefined
  constructor(kind: NodeKind, handle: (ctx: never, message: never) => unknown, signal: BehaviorNode['signal']) {
    if (signal !== undefined) checkFunction('onSignal', signal)
    this.kind = kind
    this.handle = handle
    this.signal = signal
  }
  onSignal(handler: (ctx: never, signal: Signal) => unknown): BehaviorNode {
    return new BehaviorNode(this.kind, this.handle, handler)
  }
}

/** A behavior with two things that only class actors have: a hook that runs when they fail, and a ref of their own. */
export class HookedNode extends BehaviorNode {
  /** Runs in the failing actor before its supervisor decides; what it throws is attached to the failure. */
  declare readonly error?: ((ctx: never, cause: unknown, message: unknown) => void) | undefined
  /** Makes the ref that `spawn` returns; the usual one if left out. */
  declare readonly makeRef?: ((parent: never, name: string | undefined, uid: number) => unknown) | undefined
  constructor(
    kind: NodeKind,
    handle: BehaviorNode['handle'],
    signal: BehaviorNode['signal'],
    error: HookedNode['error'],
    makeRef: HookedNode['makeRef'],
  ) {
    super(kind, handle, signal)
    this.error = error
    this.makeRef = makeRef
  }
  override onSignal(handler: (ctx: never, signal: Signal) => unknown): HookedNode {
    return new HookedNode(this.kind, this.handle, handler, this.error, this.makeRef)
  }
}

/** A `setup` whose actor is to own something that is there already, and that somebody must let go of if it never starts. */
export class EarlyNode extends BehaviorNode {
  declare readonly early: { release(): void }
  constructor(init: BehaviorNode['handle'], signal: BehaviorNode['signal'], early: { release(): void }) {
    super('setup', init, signal)
    this.early = early
  }
  override onSignal(handler: (ctx: never, signal: Signal) => unknown): EarlyNode {
    return new EarlyNode(this.handle, handler, this.early)
  }
}

const never = (): unknown => undefined
// Marked as pure, so that a program which does not use one of these does not carry it.

/** Keep the present behavior. */
export const same: Behavior<unknown> = /* @__PURE__ */ new BehaviorNode('same', never, undefined)

/** Stop this actor, with reason `normal`, after the present message. */
export const stopped: Behavior<unknown> = /* @__PURE__ */ new BehaviorNode('stopped', never, undefined)

/** The message was not understood: counted and published as unhandled, an ask of it is rejected; the behavior stays. */
export const unhandled: Behavior<unknown> = /* @__PURE__ */ new BehaviorNode('unhandled', never, undefined)

/** Understands nothing: every message is unhandled. */
export const empty: Behavior<unknown> = /* @__PURE__ */ new BehaviorNode('receive', () => unhandled, undefined)

/** Takes every message and does nothing with it. */
export const ignore: Behavior<unknown> = /* @__PURE__ */ new BehaviorNode('receive', () => same, undefined)

/**
 * A behavior from a function of each message.
 *
 * Guarantees: one message at a time, also across awaits. Fails: a throw or rejection goes to supervision.
 *
 * @example
 * const counter = (n = 0): Behavior<Counter> => receive((ctx, m) => {
 *   switch (m.type) {
 *     case 'add': return counter(n + m.by)
 *     case 'get': m.replyTo.tell(n); return same
 *   }
 * })
 */
export function receive<M>(onMessage: MessageHandler<M>, onSignal?: SignalHandler<M>): Behavior<M> {
  checkFunction('onMessage', onMessage)
  return new BehaviorNode('receive', onMessage, onSignal)
}

/** One handler for each `type` of a protocol. */
export type MatchHandlers<M extends { type: string }> = {
  readonly [K in M['type']]: (ctx: ActorContext<M>, message: MessagesByType<M>[K]) => Next<M>
}

// A table that the compiler makes once for each protocol: `Extract` would search the whole of it for each handler.
type MessagesByType<M extends { type: string }> = { [X in M as X['type']]: X }

/**
 * A behavior from one function per message `type`, exhaustively. A message of another type is unhandled.
 *
 * @example
 * const door: Behavior<Door> = match({ open: () => opened, close: () => same })
 */
export function match<M extends { type: string }>(handlers: MatchHandlers<M>, onSignal?: SignalHandler<M>): Behavior<M> {
  checkObject('handlers', handlers)
  const table = handlers as unknown as Readonly<Record<string, MessageHandler<M>>>
  try {
    for (const type in table) checkFunction(`handlers.${type}`, table[type])
  } catch (cause) {
    throw unreadable('handlers', handlers, cause)
  }
  const dispatch: MessageHandler<M> = (ctx, message) => {
    const type = message.type
    const handler = Object.hasOwn(table, type) ? table[type] : undefined
    return handler === undefined ? unhandled : handler(ctx, message)
  }
  return new BehaviorNode('receive', dispatch, onSignal)
}

/**
 * A behavior that is made when the actor starts, in its first turn and again at each restart: state made inside is
 * fresh each time. May be async; then `startTimeout` bounds it and messages wait.
 *
 * `onSignal` is for the incarnation: it hears every signal for which the behavior of the moment has no handler, or whose handler
 * returned `unhandled`. Of nested setups the inner one hears first.
 *
 * @example
 * const session = setup<Msg>((ctx) => { const seen = new Set<string>(); return receive(…) })
 */
export function setup<M>(init: (ctx: ActorContext<M>) => Behavior<M> | Promise<Behavior<M>>, onSignal?: SignalHandler<M>): Behavior<M> {
  checkFunction('init', init)
  return new BehaviorNode('setup', init, onSignal)
}

/** What `spawn` takes apart, and nobody else can follow. */
export abstract class SpawnOnly<M> {
  abstract readonly behavior: Behavior<M>
  abstract readonly options: SpawnOptions
  /** Why it is not a behavior to go on with; `where` says who returned it. */
  abstract refusal(where: string): TroupeError
  /** What a setup that returned it goes on with, once its options hold; undefined where they could only be lost. */
  adopt(_cell: unknown): unknown {
    return undefined
  }
}

/** A behavior with the options it wants to be spawned with; those given to `spawn` win. */
export class BehaviorWithOptions<M> extends SpawnOnly<M> implements Behavior<M> {
  declare readonly accepts?: (message: M) => void
  declare readonly behavior: Behavior<M>
  declare readonly options: SpawnOptions
  constructor(behavior: Behavior<M>, options: SpawnOptions) {
    super()
    this.behavior = behavior
    this.options = options
  }
  override refusal(where: string): TroupeError {
    const names = new Set(keysOf(this.options))
    for (let at: unknown = this.behavior; at instanceof SpawnOnly; at = at.behavior) for (const name of keysOf(at.options)) names.add(name)
    return new OptionsTooLate(where, [...names])
  }
  onSignal(handler: SignalHandler<M>): Behavior<M> {
    return new BehaviorWithOptions(this.behavior.onSignal(handler), this.options)
  }
}

function keysOf(options: unknown): readonly string[] {
  try {
    return Object.keys(options as object)
  } catch {
    return []
  }
}

/** The behavior without the options it brings. */
export function bareOf(behavior: unknown): unknown {
  let at = behavior
  while (at instanceof SpawnOnly) at = at.behavior
  return at
}

/**
 * Bundles spawn options with a behavior, so that whoever spawns it need not know them. Around another one, the outer
 * options win.
 *
 * Fails: returned by a setup or handler, where options could only be lost, it fails the actor with `OptionsTooLate`.
 *
 * @example
 * export const cache = withOptions(receive<Cache>(…), { mailbox: bounded(1_000, 'drop-oldest') })
 */
export function withOptions<M>(behavior: Behavior<M>, options: SpawnOptions): Behavior<M> {
  checkCan('behavior', behavior, ['a behavior', 'onSignal'])
  checkObject('options', options)
  return new BehaviorWithOptions(behavior, options)
}

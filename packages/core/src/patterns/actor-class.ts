// Actors as classes: public methods are the protocol, hooks are the signals, and the instance is the state of one
// incarnation. A class becomes an ordinary behavior; `spawn` finds the conversion on the class itself, so that programs
// without class actors do not carry it.

import type { Context } from '../cell/context/context.ts'
import { askedBy } from '../cell/message/envelope.ts'
import { type ActorClass, type ActorHandle, type ActorHooks, behaviorFrom, type CallOf, type ClassCall } from '../values/actor-class.ts'
import { type Behavior, type BehaviorNode, HookedNode, unhandled } from '../values/behavior.ts'
import { checkRef, isList } from '../values/checks.ts'
import type { ActorContext } from '../values/context.ts'
import { NotABehavior, NotAllowed, pathOf, Rejection } from '../values/errors.ts'
import type { ActorRef } from '../values/ref.ts'
import type { ChildFailed, ChildStopped, Signal, Terminated } from '../values/signals.ts'
import { isThenable } from '../values/thenable.ts'
import { cellOf } from '../cell/ref/local-ref.ts'
import { tellAny } from '../cell/message/telling.ts'
import { HandleRef, Protocol } from './actor-handle.ts'

type Method = (...args: readonly unknown[]) => unknown
type AnyClass = new (...args: readonly unknown[]) => Actor

/** The context of the instance that is being made; its constructor may use it already. */
let making: Context | undefined

/** Gives an instance the context of the call or signal that comes; the class lets nobody else do it. The first instance says how. */
let bind: ((instance: Actor, ctx: Context) => void) | undefined

/** Has how `spawn` turns a class into a behavior; subclasses inherit it. A call that is pure: a static block would keep the class in every bundle. */
const Spawnable: abstract new () => object = /* @__PURE__ */ makeSpawnable()

function makeSpawnable(): abstract new () => object {
  const convert = function (this: AnyClass, args: readonly unknown[]): BehaviorNode {
    return behaviorOf(this, [...args])
  }
  return Object.defineProperty(class {}, behaviorFrom, { value: convert })
}

/**
 * The base of class actors. Methods are messages; `#private` members, hooks and accessors are not. (TypeScript's `private` and
 * `protected` only hide a method from the compiler.) Each incarnation is a fresh instance, made with the `args` given to `spawn`.
 *
 * Guarantees: one method at a time, also across awaits; what a method returns, or its promise resolves to, is the
 * answer. Fails: a throw or rejection rejects the ask and goes to supervision.
 *
 * @example
 * class Cart extends Actor {
 *   #items: string[] = []
 *   add(item: string) { this.#items.push(item) }
 *   count() { return this.#items.length }
 * }
 * const cart = system.spawn(Cart)
 * cart.tell.add('book')
 * const n = await cart.ask.count()
 */
export abstract class Actor extends Spawnable implements ActorHooks {
  #ctx: Context | undefined = making

  constructor() {
    super()
    bind ??= (instance, ctx) => void (instance.#ctx = ctx)
  }

  /** What this actor can do. In a reentrant actor, take it before the first await: each call has its own. */
  protected get ctx(): ActorContext<ClassCall> {
    return this.#live()
  }
  /** The handle of this actor: `this.self<Cart>().tell.add('book')`. The class is named, since `this` is too general to look into. */
  protected self<T extends ActorHooks>(): ActorHandle<T> {
    return this.#live().self as unknown as ActorHandle<T>
  }
  /** The call in progress, such as `ctx.stash.add` takes it; undefined in hooks and once it was moved on. */
  protected get currentCall(): ClassCall | undefined {
    return this.#live().message as ClassCall | undefined
  }
  #live(): Context {
    if (this.#ctx !== undefined) return this.#ctx
    throw new NotAllowed(`${this.constructor.name} has no context: it was made with new. Give the class to spawn instead.`)
  }

  onStart(): void | Promise<void> {}
  onStarted(): void | Promise<void> {}
  onStopping(): void | Promise<void> {}
  onStop(): void | Promise<void> {}
  onRestart(_cause: unknown): void | Promise<void> {}
  onRestarted(_cause: unknown): void | Promise<void> {}
  onError(_cause: unknown, _message: unknown): void {}
  onChildFailed(_failed: ChildFailed): void | Promise<void> {}
  onChildStopped(_stopped: ChildStopped): void | Promise<void> {}
  onTerminated(_terminated: Terminated): void | Promise<void> {}
  onReceiveTimeout(): void | Promise<void> {}
}

/**
 * A class actor as a behavior, for whatever takes one: supervisors, routers, `withOptions`. The ref that comes of it is
 * a handle.
 *
 * @example
 * supervisor({ children: [child('cart', behaviorOfClass(Cart, 'eur'))] })
 */
export function behaviorOfClass<T extends ActorHooks, A extends readonly unknown[]>(actor: ActorClass<T, A>, ...args: A): Behavior<CallOf<T>> {
  let convert: unknown
  try {
    // As spawn does: a class may be more than its methods, as one is that has a journal.
    convert = (actor as { readonly [behaviorFrom]?: unknown })[behaviorFrom]
  } catch {}
  if (typeof convert !== 'function') throw new NotABehavior(actor, 'behaviorOfClass was given')
  return (convert as (args: readonly unknown[]) => Behavior<CallOf<T>>).call(actor, args)
}

/**
 * The handle that a ref is, for refs that came typed as plain ones.
 *
 * Fails with `NotAllowed` when the ref is not that of a class actor.
 *
 * @example
 * const n = await handleOf<Cart>(ref).ask.count()
 */
export function handleOf<T extends ActorHooks>(ref: ActorRef<CallOf<T>>): ActorHandle<T> {
  checkRef('ref', ref)
  if (cellOf(ref) !== undefined && ref instanceof HandleRef) return ref as unknown as ActorHandle<T>
  throw new NotAllowed(`${pathOf(ref)} is not a class actor: it has no methods to call.`)
}

/** What is known of a class, found once: its methods, and what its handles need. */
interface ClassPlan {
  readonly methods: ReadonlyMap<string, Method>
  readonly protocol: Protocol
}
const plans = new WeakMap<AnyClass, ClassPlan>()

function planOf(actor: AnyClass): ClassPlan {
  let plan = plans.get(actor)
  if (plan === undefined) {
    const methods = methodsOf(actor)
    plan = { methods, protocol: new Protocol(methods.keys(), actor.name) }
    plans.set(actor, plan)
  }
  return plan
}

/** Methods of the class and of those between it and `Actor`, the nearest first; never what every object has. */
function methodsOf(actor: AnyClass): Map<string, Method> {
  const methods = new Map<string, Method>()
  const shadowed = new Set(['then', 'toJSON', ...Object.getOwnPropertyNames(Object.prototype), ...Object.getOwnPropertyNames(Actor.prototype)])
  for (let at = actor.prototype as object; at !== Actor.prototype && at !== null; at = Object.getPrototypeOf(at) as object) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (shadowed.has(name)) continue
      shadowed.add(name)
      if (typeof value === 'function') methods.set(name, value as Method)
    }
  }
  return methods
}

function behaviorOf(actor: AnyClass, args: readonly unknown[]): BehaviorNode {
  const { methods, protocol } = planOf(actor)
  const init = (ctx: Context): BehaviorNode => instanceBehavior(make(actor, args, ctx), methods)
  return new HookedNode('setup', init, undefined, undefined, (parent, name, uid) => new HandleRef(parent, name, uid, protocol))
}

function make(actor: AnyClass, args: readonly unknown[], ctx: Context): Actor {
  const outer = making
  making = ctx
  try {
    return new actor(...args)
  } finally {
    making = outer
  }
}

function instanceBehavior(instance: Actor, methods: ReadonlyMap<string, Method>): BehaviorNode {
  const handle = (ctx: Context, message: Partial<ClassCall> | null): unknown => {
    const method = methods.get(message?.type as string)
    const args = message?.args
    if (method === undefined || !isList(args)) return unhandled
    bind!(instance, ctx)
    const thrown = (cause: unknown): undefined => rejected(ctx, message as ClassCall, cause)
    let result: unknown
    try {
      result = method.apply(instance, args as unknown[])
    } catch (cause) {
      return thrown(cause)
    }
    if (isThenable(result)) return Promise.resolve(result).then((value) => answer(ctx, message as ClassCall, value), thrown)
    answer(ctx, message as ClassCall, result)
    return undefined
  }
  const signal = (ctx: Context, s: Signal): unknown => {
    bind!(instance, ctx)
    return runHook(instance, s)
  }
  const error = (ctx: Context, cause: unknown, message: unknown): void => {
    bind!(instance, ctx)
    return instance.onError(cause, message)
  }
  return new HookedNode('receive', handle, signal, error, undefined)
}

/** A method threw: an answer, where it is a rejection and somebody asked; otherwise the actor fails of it. */
function rejected(ctx: Context, message: ClassCall, cause: unknown): undefined {
  const asked = message.replyTo ?? (ctx.meta === undefined ? undefined : askedBy(ctx.meta))
  if (!(cause instanceof Rejection) || asked === undefined) throw cause
  return answer(ctx, message, cause)
}

/** Answers whoever asked, unless the call was handed on, put aside, cut off, or has replied by itself. */
function answer(ctx: Context, message: ClassCall, value: unknown): undefined {
  // A schema may have left the address out; whoever asked is known all the same.
  const replyTo = message.replyTo ?? (ctx.meta === undefined ? undefined : askedBy(ctx.meta))
  if (replyTo === undefined || ctx.message !== message || ctx.ended) return
  if (value === undefined && (replyTo as { settled?: boolean }).settled === true) return
  tellAny(ctx.cell.host, replyTo, value)
}

/** Runs the hook of a signal. Where the class has none, the default holds. */
function runHook(instance: Actor, signal: Signal): unknown {
  const base = Actor.prototype
  switch (signal.type) {
    case 'PreStart':
      return instance.onStart === base.onStart ? unhandled : done(instance.onStart())
    case 'PostStart':
      return instance.onStarted === base.onStarted ? unhandled : done(instance.onStarted())
    case 'PreStop':
      return instance.onStopping === base.onStopping ? unhandled : done(instance.onStopping())
    case 'PostStop':
      return instance.onStop === base.onStop ? unhandled : done(instance.onStop())
    case 'PreRestart':
      return instance.onRestart === base.onRestart ? unhandled : done(instance.onRestart(signal.cause))
    case 'PostRestart':
      return instance.onRestarted === base.onRestarted ? unhandled : done(instance.onRestarted(signal.cause))
    case 'ChildFailed':
      return instance.onChildFailed === base.onChildFailed ? unhandled : done(instance.onChildFailed(signal))
    case 'ChildStopped':
      return instance.onChildStopped === base.onChildStopped ? unhandled : done(instance.onChildStopped(signal))
    case 'Terminated':
      return instance.onTerminated === base.onTerminated ? unhandled : done(instance.onTerminated(signal))
    case 'ReceiveTimeout':
      return instance.onReceiveTimeout === base.onReceiveTimeout ? unhandled : done(instance.onReceiveTimeout())
  }
}

/** What a hook returns means nothing but when it is done. */
function done(returned: unknown): unknown {
  return isThenable(returned) ? Promise.resolve(returned).then(() => undefined) : undefined
}

// What a supervisor knows of a child before it lives: its name, its behavior or what makes it, and how its end is answered.
// Specs are values: the same one may stand in several supervisors, and it is also the typed key to the child's ref.

import { spawnTable } from '../../cell/context/options.ts'
import { checkBackoff } from '../../deciders/supervision.ts'
import { type ActorClass, type ActorHandle, type ActorHooks, behaviorFrom, type CallOf } from '../../values/actor-class.ts'
import type { Behavior } from '../../values/behavior.ts'
import { any, type Check, checkBoolean, checkCan, checkList, checkObject, checkOneOf, isList, readOptions, type Table } from '../../values/checks.ts'
import { InvalidOption, NotABehavior } from '../../values/errors.ts'
import { endless, type SpawnOptions } from '../../values/options.ts'
import { checkName } from '../../values/path.ts'
import type { Backoff } from '../../values/policy.ts'
import type { ActorRef } from '../../values/ref.ts'
import type { ClassThatNeedsNoArgs, OptionsFor } from '../../values/spawnable.ts'
import { isSupervisor } from './marker.ts'

/** permanent: always restarted; transient: only after it was killed or failed; temporary: never. */
export type RestartType = 'permanent' | 'transient' | 'temporary'

/** How long a stop may take before the child is killed: milliseconds, not at all, or as long as it wants. */
export type Shutdown = number | 'kill' | 'infinity'

/** How a supervised child is set up; what `spawn` takes, and what its supervisor wants to know. */
export interface ChildOptions extends Omit<SpawnOptions, 'name' | 'supervision'> {
  /** Which ends are answered with a restart; `permanent` if left out. */
  readonly restart?: RestartType | undefined
  /** 5,000 ms if left out; `infinity` for a supervisor. */
  readonly shutdown?: Shutdown | undefined
  /** Whether its own end may shut the supervisor down (`autoShutdown`); not for permanent children. */
  readonly significant?: boolean | undefined
  /** Siblings that must have started before, by spec or by name; those given by spec can be asked for by `refOf`. */
  readonly needs?: readonly (string | AnyChildSpec)[] | undefined
  /** How long to wait before a restart that this child causes; at once if left out. */
  readonly backoff?: Partial<Backoff> | undefined
}

/** What a child that is made by a function may learn of its siblings. */
export interface Siblings {
  /**
   * The ref of a living sibling, which must be among `needs`. It stays good for as long as this incarnation lives: whoever holds it
   * begins anew when that sibling comes back as another actor.
   */
  readonly refOf: <R>(sibling: ChildSpec<never, R>) => R
}

/** A child as its supervisor has it on file; `R` is what its ref is. Made by `child` or `template(…).with(…)`. */
export interface ChildSpec<in M, out R = ActorRef<M>> {
  /** Only for the compiler: makes the ref part of the type. */
  readonly ref?: R
  /** Undefined for an instance of a template. */
  readonly name: string | undefined
  /** Undefined where a function makes it, at each start. */
  readonly behavior: Behavior<M> | undefined
  /** Makes the child as it is to be spawned now. */
  readonly make: ((siblings: Siblings) => AnyChildSpec) | undefined
  readonly restart: RestartType
  readonly shutdown: Shutdown
  readonly significant: boolean
  readonly needs: readonly string[]
  /** Siblings whose refs it may hold. */
  readonly siblings: readonly AnyChildSpec[]
  readonly backoff: Backoff | undefined
  /** What it is spawned with, besides its name. */
  readonly spawn: SpawnOptions
  /** The template this is an instance of. */
  readonly template: object | undefined
}

/** What `child` gives: a spec whose ref is that of a behavior, or the handle of a class. */
export type Child<M, T extends ActorHooks> = [T] extends [never] ? ChildSpec<M> : [T] extends [infer U] ? ChildSpec<CallOf<U>, ActorHandle<U>> : never

/** A spec of which only the supervisor's side matters. */
export type AnyChildSpec = ChildSpec<never, unknown>

const ownTable: Table<Pick<ChildOptions, 'restart' | 'shutdown' | 'significant' | 'needs' | 'backoff'>> = {
  restart: [checkOneOf, ['permanent', 'transient', 'temporary']],
  shutdown: (option, value) => {
    if (value === 'kill' || value === 'infinity' || (Number.isFinite(value) && (value as number) >= 0)) return value
    throw new InvalidOption(option, value, "use milliseconds, 'kill' or 'infinity'")
  },
  significant: checkBoolean,
  needs: (option, value) => checkList(option, value, isNeed, 'names, or of what child(…) returned'),
  backoff: checkBackoff,
}

function isNeed(need: unknown): boolean {
  return typeof need === 'string' || (isSpec(need) && need.name !== undefined)
}

const decidedElsewhere: Check = (option, value) => {
  throw new InvalidOption(option, value, 'a supervised child takes its name first, and its supervisor decides about its failures')
}

const decided = { name: decidedElsewhere, supervision: decidedElsewhere }
const table = /* @__PURE__ */ Object.assign({}, spawnTable, ownTable, decided) as Table<ChildOptions>
const classTable = /* @__PURE__ */ Object.assign({}, table, { args: any }) as Table<ChildOptions & { readonly args?: unknown }>

/**
 * A child for `supervisor` or `startChild`: a behavior, a class, or a function that makes the behavior at every start, given the refs
 * of siblings that the child needs.
 *
 * Guarantees: nothing runs until a supervisor starts it; what a function was given by `refOf` is never the ref of a sibling that
 * was replaced. Fails with `InvalidName` or `InvalidOption`; options that only `spawn` can check fail its start.
 *
 * @example
 * const db = child('db', database())
 * child('cache', cache(), { restart: 'transient', needs: ['db'], shutdown: 2_000 })
 * child('cart', Cart, { args: ['eur'] })
 * child('api', ({ refOf }) => api(refOf(db)), { needs: [db] })
 */
export function child<M, T extends ActorHooks = never>(
  name: string,
  actor: Behavior<M> | ((siblings: Siblings) => Behavior<M>) | ClassThatNeedsNoArgs<T>,
): Child<M, T>
export function child<M, T extends ActorHooks = never, A extends readonly unknown[] = never>(
  name: string,
  actor: Behavior<M> | ((siblings: Siblings) => Behavior<M>) | ActorClass<T, A>,
  options: OptionsFor<T, A, ChildOptions, A | ((siblings: Siblings) => A)>,
): Child<M, T>
export function child(name: string, actor: unknown, options: ChildOptions & { readonly args?: unknown } = {}): AnyChildSpec {
  checkName(name, { path: 'a supervisor' })
  checkObject('options', options)
  if (typeof actor !== 'function') return specOf(name, actor as Behavior<never>, readOptions('child', options, table))
  const { args = [], ...rest } = readOptions('child', options, classTable)
  if (!isActorClass(actor, name)) {
    if ('args' in options) readOptions('child', options, table)
    return madeSpec(name, actor as (siblings: Siblings) => Behavior<never>, rest)
  }
  const from = (given: unknown): Behavior<never> => {
    if (!isList(given)) throw new InvalidOption('args', given, 'use an array of what the constructor takes, or a function that makes it')
    return (actor[behaviorFrom] as (args: readonly unknown[]) => Behavior<never>).call(actor, given)
  }
  return typeof args === 'function'
    ? madeSpec(name, (siblings) => from((args as (siblings: Siblings) => unknown)(siblings)), rest)
    : specOf(name, from(args), rest)
}

/** Whether it is a class of actors, and no function that makes a behavior; another class cannot be called. */
function isActorClass(actor: unknown, name: string): actor is { readonly [behaviorFrom]: unknown } {
  try {
    if (behaviorFrom in (actor as object)) return true
    if (Object.getOwnPropertyDescriptor(actor, 'prototype')?.writable !== false) return false
  } catch {}
  throw new NotABehavior(actor, `child "${name}" was given`)
}

/** What instances of a template have in common; `with` makes one. */
export interface ChildTemplate<A extends readonly unknown[], in M> {
  /** One child, to be given to `startChild` of the supervisor that has this template. */
  with(...args: A): ChildSpec<M>
}

/**
 * The one kind of child of a `simple-one-for-one` supervisor. Its instances have no name: they are addressed by ref.
 *
 * Fails with `InvalidOption`; instances have no siblings to need.
 *
 * @example
 * const room = template((topic: string) => chatRoom(topic), { restart: 'transient' })
 * const ref = await supervisorClient(rooms).startChild(room.with('birds'))
 */
export function template<A extends readonly unknown[], M>(make: (...args: A) => Behavior<M>, options: ChildOptions = {}): ChildTemplate<A, M> {
  if (typeof make !== 'function') throw new InvalidOption('template', make, 'use a function that makes the behavior')
  const read = readOptions('template', options, table)
  if (read.needs !== undefined && read.needs.length > 0) throw new InvalidOption('needs', read.needs, 'instances of a template have no names to need')
  const self: ChildTemplate<A, M> = { with: (...args) => specOf(undefined, make(...args), read, { template: self }) }
  return self
}

/** The spec of a child that a function makes. */
function madeSpec(name: string, make: (siblings: Siblings) => Behavior<never>, read: ChildOptions): AnyChildSpec {
  const siblings = (read.needs ?? []).filter((need) => typeof need === 'object')
  const spec = specOf<never>(name, undefined, read, { siblings, make: (given) => specOf(name, make(given), read) })
  const fleeting = siblings.find((sibling) => sibling.restart === 'temporary')
  if (fleeting !== undefined)
    throw new InvalidOption('needs', read.needs, `"${fleeting.name}" is temporary: nobody brings it back, and "${name}" holds its ref`)
  return spec
}

/** From options that were checked. */
function specOf<M>(
  name: string | undefined,
  behavior: Behavior<M> | undefined,
  read: ChildOptions,
  { template: from, siblings = [], make }: Partial<Pick<AnyChildSpec, 'template' | 'siblings' | 'make'>> = {},
): ChildSpec<M> {
  if (make === undefined) checkCan('behavior', behavior, ['a behavior, a class that extends Actor, or a function that makes a behavior', 'onSignal'])
  const { restart = 'permanent', significant = false, backoff } = read
  const { shutdown = isSupervisor(behavior) ? 'infinity' : 5000 } = read
  if (significant && restart === 'permanent')
    throw new InvalidOption('significant', significant, 'a permanent child is always restarted; make it transient or temporary')
  const needs = (read.needs ?? []).map((need) => (typeof need === 'string' ? need : need.name!))
  const spawn: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(read)) if (!(key in ownTable)) spawn[key] = value
  if (spawn['stopTimeout'] === undefined && !isSupervisor(behavior) && shutdown !== 'kill')
    spawn['stopTimeout'] = shutdown === 'infinity' ? endless : shutdown
  const spec: ChildSpec<M> = {
    name,
    behavior,
    make,
    restart,
    shutdown,
    significant,
    needs,
    siblings,
    backoff: backoff as Backoff | undefined,
    spawn,
    template: from,
  }
  specs.add(spec)
  return spec
}

/** Those that came from `child` or `template`: made by hand, one would lack what those check and complete. */
const specs = new WeakSet<object>()

export function isSpec(spec: unknown): spec is AnyChildSpec {
  return typeof spec === 'object' && spec !== null && specs.has(spec)
}

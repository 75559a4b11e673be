// What a supervisor knows of a child before it lives: its name, its behavior, and how its end is answered. Specs are
// values: the same one may stand in several supervisors, and it is also the typed key to the child's ref.

import { spawnTable } from '../../cell/options.ts'
import { checkBackoff } from '../../deciders/supervision.ts'
import { type ActorClass, type ActorHandle, type ActorHooks, behaviorFrom, type CallOf } from '../../values/actor-class.ts'
import type { Behavior } from '../../values/behavior.ts'
import { type Check, checkBoolean, checkCan, checkList, checkObject, checkOneOf, readOptions, type Table, unreadable } from '../../values/checks.ts'
import { InvalidOption, NotABehavior } from '../../values/errors.ts'
import { endless, type SpawnOptions } from '../../values/options.ts'
import { checkName } from '../../values/path.ts'
import type { Backoff } from '../../values/policy.ts'
import type { ActorRef } from '../../values/ref.ts'
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
  /** Names of siblings that must have started before. */
  readonly needs?: readonly string[] | undefined
  /** How long to wait before a restart that this child causes; at once if left out. */
  readonly backoff?: Partial<Backoff> | undefined
}

/** A child as its supervisor has it on file; `R` is what its ref is. Made by `child` or `template(…).with(…)`. */
export interface ChildSpec<in M, out R = ActorRef<M>> {
  /** Only for the compiler: makes the ref part of the type. */
  readonly ref?: R
  /** Undefined for an instance of a template. */
  readonly name: string | undefined
  readonly behavior: Behavior<M>
  readonly restart: RestartType
  readonly shutdown: Shutdown
  readonly significant: boolean
  readonly needs: readonly string[]
  readonly backoff: Backoff | undefined
  /** What it is spawned with, besides its name. */
  readonly spawn: SpawnOptions
  /** The template this is an instance of. */
  readonly template: object | undefined
}

/** A spec of which only the supervisor's side matters. */
export type AnyChildSpec = ChildSpec<never, unknown>

const ownTable: Table<Pick<ChildOptions, 'restart' | 'shutdown' | 'significant' | 'needs' | 'backoff'>> = {
  restart: [checkOneOf, ['permanent', 'transient', 'temporary']],
  shutdown: (option, value) => {
    if (value === 'kill' || value === 'infinity' || (Number.isFinite(value) && (value as number) >= 0)) return value
    throw new InvalidOption(option, value, "use milliseconds, 'kill' or 'infinity'")
  },
  significant: checkBoolean,
  needs: (option, value) => checkList(option, value, (need) => typeof need === 'string', 'names'),
  backoff: checkBackoff,
}

const decidedElsewhere: Check = (option, value) => {
  throw new InvalidOption(option, value, 'a supervised child takes its name first, and its supervisor decides about its failures')
}

const table: Table<ChildOptions> = { ...spawnTable, ...ownTable, name: decidedElsewhere, supervision: decidedElsewhere } as Table<ChildOptions>

/**
 * A child for `supervisor` or `startChild`.
 *
 * Guarantees: nothing runs until a supervisor starts it. Fails with `InvalidName` or `InvalidOption`; options that
 * only `spawn` can check fail its start.
 *
 * @example
 * child('cache', cache(), { restart: 'transient', needs: ['db'], shutdown: 2_000 })
 * child('cart', Cart, { args: ['eur'] })
 */
export function child<M>(name: string, behavior: Behavior<M>, options?: ChildOptions): ChildSpec<M>
export function child<T extends ActorHooks, A extends readonly unknown[]>(
  name: string,
  actor: ActorClass<T, A>,
  ...options: ClassChildOptions<A>
): ChildSpec<CallOf<T>, ActorHandle<T>>
export function child(name: string, actor: unknown, options: ChildOptions & { readonly args?: readonly unknown[] } = {}): AnyChildSpec {
  checkName(name, { path: 'a supervisor' })
  checkObject('options', options)
  if (typeof actor !== 'function') return specOf(name, actor as Behavior<never>, readOptions('child', options, table), undefined)
  const { args, rest } = takeArgs(options)
  const read = readOptions('child', rest, table)
  let behavior: Behavior<never> | undefined
  try {
    if (behaviorFrom in actor) behavior = (actor[behaviorFrom] as (args: readonly unknown[]) => Behavior<never>).call(actor, args)
  } catch {}
  if (behavior === undefined) throw new NotABehavior(actor, `child "${name}" was given`)
  return specOf(name, behavior, read, undefined)
}

function takeArgs(options: ChildOptions & { readonly args?: readonly unknown[] }): {
  readonly args: readonly unknown[]
  readonly rest: ChildOptions
} {
  try {
    const { args = [], ...rest } = options
    if (!Array.isArray(args)) throw new InvalidOption('args', args, 'use an array of what the constructor takes')
    return { args, rest }
  } catch (cause) {
    throw unreadable('options', options, cause)
  }
}

/** Options of a child that is a class; `args` may be left out only where the constructor needs none. */
export type ClassChildOptions<A extends readonly unknown[]> = [] extends A
  ? [options?: ChildOptions & { readonly args?: A | undefined }]
  : [options: ChildOptions & { readonly args: A }]

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
  const self: ChildTemplate<A, M> = { with: (...args) => specOf(undefined, make(...args), read, self) }
  return self
}

function specOf<M>(name: string | undefined, behavior: Behavior<M>, read: ChildOptions, from: object | undefined): ChildSpec<M> {
  checkCan('behavior', behavior, ['a behavior, or a class that extends Actor', 'onSignal'])
  const { restart = 'permanent', significant = false, needs = [], backoff } = read
  const { shutdown = isSupervisor(behavior) ? 'infinity' : 5000 } = read
  if (significant && restart === 'permanent')
    throw new InvalidOption('significant', significant, 'a permanent child is always restarted; make it transient or temporary')
  const spawn: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(read)) if (!(key in ownTable)) spawn[key] = value
  if (spawn['stopTimeout'] === undefined && !isSupervisor(behavior) && shutdown !== 'kill')
    spawn['stopTimeout'] = shutdown === 'infinity' ? endless : shutdown
  return { name, behavior, restart, shutdown, significant, needs, backoff: backoff as Backoff | undefined, spawn, template: from }
}

// Finding actors by what they do instead of where they are. Belongs to one system; an actor that stops is forgotten
// before its watchers hear of it, so that nobody finds a ref that is known to be dead.

import { cellIn } from '../cell/ref/local-ref.ts'
import type { CellHost } from '../cell/turn/host.ts'
import { checkText } from '../values/checks.ts'
import { InvalidOption, SystemClosed } from '../values/errors.ts'
import type { ActorRef, AnyRef } from '../values/ref.ts'
import type { SystemView } from '../values/system.ts'
import { Adapter, adapterOf } from '../cell/ref/adapter.ts'
import { endHooksOf } from '../cell/message/end-hooks.ts'
import type { Cell } from '../cell/turn/cell.ts'
import { hostOf } from './host-of.ts'

/** What actors are registered under; keys of the same id are the same key. */
export class ServiceKey<in M> {
  /** Only for the compiler: makes the protocol part of the type. */
  declare readonly accepts?: (message: M) => void
  readonly id: string
  constructor(id: string) {
    checkText('id', id)
    this.id = id
  }
}

/**
 * A key to register and find actors of protocol `M` by.
 *
 * @example
 * export const workers = serviceKey<Work>('workers')
 */
export function serviceKey<M>(id: string): ServiceKey<M> {
  return new ServiceKey(id)
}

/** Who is registered under a key now, in order of registration. */
export interface Listing<in out M> {
  readonly type: 'listing'
  readonly key: ServiceKey<M>
  readonly refs: readonly ActorRef<M>[]
}

/**
 * The directory of one system.
 *
 * Guarantees: a registration ends with its actor, before that actor's watchers are told; subscribers get the listing at
 * once, and again after every change, in order. Fails: on a closing system with `SystemClosed`, for a ref of another
 * system with `ForeignRef`.
 */
export interface Receptionist {
  /** Registers an actor; returns what ends the registration. A no-op for one that has stopped. */
  register<M>(key: ServiceKey<M>, ref: ActorRef<M>): () => void
  find<M>(key: ServiceKey<M>): readonly ActorRef<M>[]
  /** Sends the subscriber a `Listing` now and after each change; ends with the subscriber, or by the returned function. */
  subscribe<M>(key: ServiceKey<M>, subscriber: ActorRef<Listing<M>>): () => void
}

const receptionists = new WeakMap<CellHost, Receptionist>()

/**
 * The receptionist of a system: always the same one.
 *
 * @example
 * receptionistOf(ctx.system).register(workers, ctx.self)
 * const refs = receptionistOf(system).find(workers)
 */
export function receptionistOf(system: SystemView): Receptionist {
  const host = hostOf(system)
  let receptionist = receptionists.get(host)
  if (receptionist === undefined) receptionists.set(host, (receptionist = new LocalReceptionist(host)))
  return receptionist
}

type Members = Map<AnyRef, () => void>

interface Service {
  readonly key: ServiceKey<never>
  /** Each with what ends it. */
  readonly refs: Members
  readonly subscribers: Members
}

class LocalReceptionist implements Receptionist {
  readonly #host: CellHost
  readonly #services = new Map<string, Service>()
  constructor(host: CellHost) {
    this.#host = host
  }
  register<M>(key: ServiceKey<M>, ref: ActorRef<M>): () => void {
    const service = this.#service(key, 'register')
    const leave = this.#join(ref, service.refs, () => this.#changed(service))
    this.#sweep(service)
    return leave
  }
  find<M>(key: ServiceKey<M>): readonly ActorRef<M>[] {
    checkKey(key)
    this.#leaveStale(key.id)
    return [...(this.#services.get(key.id)?.refs.keys() ?? [])] as ActorRef<M>[]
  }
  subscribe<M>(key: ServiceKey<M>, subscriber: ActorRef<Listing<M>>): () => void {
    const service = this.#service(key, 'subscribe')
    const leave = this.#join(subscriber, service.subscribers, () => this.#sweep(service))
    if (service.subscribers.has(subscriber)) subscriber.tell(listingOf(service) as Listing<M>)
    else this.#sweep(service)
    return leave
  }
  #service(key: ServiceKey<never>, what: string): Service {
    checkKey(key)
    if (this.#host.phase !== 'open') throw new SystemClosed(this.#host.name, `${what} ${key.id}`)
    this.#leaveStale(key.id)
    let service = this.#services.get(key.id)
    if (service === undefined) this.#services.set(key.id, (service = { key, refs: new Map(), subscribers: new Map() }))
    return service
  }
  /** Makes an actor a member for as long as it lives; `changed` hears of its coming and going. */
  #join(ref: AnyRef, members: Members, changed: () => void): () => void {
    const cell = this.#cellOf(ref)
    if (cell.end !== undefined || members.has(ref)) return () => {}
    const hooks = endHooksOf(cell)
    const leave = (): void => {
      hooks.delete(leave)
      if (members.delete(ref)) changed()
    }
    hooks.add(leave)
    members.set(ref, leave)
    changed()
    return leave
  }
  #cellOf(ref: AnyRef): Cell {
    return cellIn(this.#host, adapterOf(ref)?.cell.ref ?? ref, 'register')
  }
  /** May take the service away, where nobody else is in it. */
  #leaveStale(id: string): void {
    const service = this.#services.get(id)
    if (service === undefined) return
    leaveStale(service.subscribers)
    leaveStale(service.refs)
  }
  #changed(service: Service): void {
    leaveStale(service.subscribers)
    leaveStale(service.refs)
    const listing = listingOf(service)
    for (const subscriber of service.subscribers.keys()) subscriber.tell(listing as never)
    this.#sweep(service)
  }
  #sweep(service: Service): void {
    if (service.refs.size === 0 && service.subscribers.size === 0) this.#services.delete(service.key.id)
  }
}

/** Whether it is a key; what does not say what it is, is none. */
export function isKey(key: unknown): boolean {
  try {
    return key instanceof ServiceKey
  } catch {
    return false
  }
}

function checkKey(key: unknown): void {
  if (!isKey(key)) throw new InvalidOption('key', key, 'use a serviceKey')
}

function listingOf(service: Service): Listing<unknown> {
  return { type: 'listing', key: service.key as ServiceKey<unknown>, refs: [...service.refs.keys()] as ActorRef<unknown>[] }
}

/** Ends what adapters of earlier incarnations began: they take nothing any more, and their actor lives on. */
function leaveStale(members: Members): void {
  for (const [ref, leave] of members) if (ref instanceof Adapter && ref.fn === undefined) leave()
}

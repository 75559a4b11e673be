// The directory of a whole cluster: who is registered under a key on any node. Each node keeps its own with the receptionist of its system, and tells
// the others of every change, whole; what a node said goes with its session.

import { type ActorRef, type AnyRef, InvalidOption, type Listing, type Receptionist, receptionistOf, type ServiceKey, serviceKey } from '@troupe/core'
import { cellOf, isKey, type SystemCore } from '@troupe/core/internal'
import { type Session, sessionText } from '../values/session.ts'
import { PassingCell } from '../refs/passing-cell.ts'
import type { Post } from './post.ts'

/** What a local key is called that all nodes know of. */
const prefix = 'cluster/'

export interface ReceptionistHost {
  readonly core: SystemCore
  readonly post: Post
  readonly self: Session
  others(): readonly Session[]
}

interface Service {
  readonly key: ServiceKey<never>
  own: readonly AnyRef[]
  /** By session. */
  readonly theirs: Map<string, readonly AnyRef[]>
  /** Each with what ends it. */
  readonly subscribers: Map<AnyRef, () => void>
  /** Ends its following of the local one. */
  unfollow: () => void
}

export class ClusterReceptionist implements Receptionist {
  readonly #host: ReceptionistHost
  readonly #local: Receptionist
  readonly #services = new Map<string, Service>()

  constructor(host: ReceptionistHost) {
    this.#host = host
    this.#local = receptionistOf(host.core.view)
    host.post.on('listing', {
      came: ([, from, id, refs]) => {
        host.core.ledger.handled++
        if (typeof from !== 'string' || typeof id !== 'string' || id === '' || !Array.isArray(refs)) return
        this.#told(
          from,
          id,
          refs.filter((ref) => cellOf(ref as AnyRef) !== undefined),
        )
      },
    })
  }

  register<M>(key: ServiceKey<M>, ref: ActorRef<M>): () => void {
    this.#service(key)
    return this.#local.register(localKey(key), ref)
  }

  find<M>(key: ServiceKey<M>): readonly ActorRef<M>[] {
    check(key)
    const service = this.#services.get(key.id)
    return [...this.#local.find(localKey(key)), ...((service === undefined ? [] : [...service.theirs.values()].flat()) as ActorRef<M>[])]
  }

  subscribe<M>(key: ServiceKey<M>, subscriber: ActorRef<Listing<M>>): () => void {
    const service = this.#service(key)
    const cell = cellOf(subscriber)
    if (cell?.host !== this.#host.core) throw new InvalidOption('subscriber', subscriber, 'use the ref of an actor of this node')
    if (cell.end !== undefined || service.subscribers.has(subscriber)) return () => {}
    const hooks = (cell.ensureExtras().endHooks ??= new Set())
    const leave = (): void => {
      hooks.delete(leave)
      service.subscribers.delete(subscriber)
    }
    hooks.add(leave)
    service.subscribers.set(subscriber, leave)
    subscriber.tell(this.#listing(service) as never)
    return leave
  }

  /** Sessions, this node's own not among them, that have somebody registered under a key. */
  sessionsWith(key: ServiceKey<never>): readonly string[] {
    return [...(this.#services.get(key.id)?.theirs.keys() ?? [])]
  }
  /** Those of this node alone. */
  here<M>(key: ServiceKey<M>): readonly ActorRef<M>[] {
    return this.#local.find(localKey(key))
  }

  joined(session: Session): void {
    for (const service of this.#services.values()) if (service.own.length > 0) this.#tell(session, service)
  }
  ended(session: Session): void {
    for (const service of this.#services.values()) if (service.theirs.delete(sessionText(session))) this.#changed(service)
  }
  /** This node is no member any more: there is nobody but its own. */
  close(): void {
    for (const service of this.#services.values()) {
      service.unfollow()
      service.theirs.clear()
      this.#changed(service)
    }
  }

  #service(key: ServiceKey<never>): Service {
    check(key)
    const known = this.#services.get(key.id)
    if (known !== undefined) return known
    const service: Service = { key, own: [], theirs: new Map(), subscribers: new Map(), unfollow: () => {} }
    this.#services.set(key.id, service)
    const { core } = this.#host
    const follower = new PassingCell(core, 'directory', (message) => {
      core.ledger.handled++
      this.#follow(service, (message as Listing<never>).refs)
    })
    service.unfollow = this.#local.subscribe(localKey(key), follower.ref as never)
    return service
  }

  /** The own part of a service has changed. */
  #follow(service: Service, refs: readonly AnyRef[]): void {
    if (service.own.length === 0 && refs.length === 0) return
    service.own = refs
    for (const session of this.#host.others()) this.#tell(session, service)
    this.#changed(service)
  }
  #tell(session: Session, { key, own }: Service): void {
    this.#host.post.send(session, ['listing', sessionText(this.#host.self), key.id, own])
  }

  #told(from: string, id: string, refs: readonly AnyRef[]): void {
    const service = this.#service(serviceKey(id))
    if (refs.length === 0) service.theirs.delete(from)
    else service.theirs.set(from, refs)
    this.#changed(service)
  }
  #changed(service: Service): void {
    const listing = this.#listing(service)
    for (const subscriber of service.subscribers.keys()) subscriber.tell(listing as never)
  }
  #listing({ key, own, theirs }: Service): Listing<never> {
    return { type: 'listing', key, refs: [...own, ...[...theirs.values()].flat()] as ActorRef<never>[] }
  }
}

function localKey<M>(key: ServiceKey<M>): ServiceKey<M> {
  return serviceKey<M>(`${prefix}${key.id}`)
}

function check(key: unknown): void {
  if (!isKey(key)) throw new InvalidOption('key', key, 'use a serviceKey')
}

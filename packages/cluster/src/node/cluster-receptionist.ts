// The directory of a whole cluster: who is registered under a key on any node. Each node keeps its own with the receptionist of its system, and tells
// the others of every change, whole, in parts that fit a frame; what a node said goes with its session. Where many are registered changes are told
// together, the more the rarer: a thousand that come one by one are no million refs on the wire.
//
// What was told may be lost with a connection. So after each break both nodes tell everything again, between `begin` and `end`; what is not among it
// is gone. Until the end has come nothing is removed, so that nobody is missing for a moment.

import { type ActorRef, type AnyRef, InvalidOption, type Listing, type Receptionist, receptionistOf, type ServiceKey, serviceKey } from '@troupe/core'
import { cellOf, isKey, type SystemCore } from '@troupe/core/internal'
import { type Session, sessionText } from '../values/session.ts'
import { PassingCell } from '../refs/passing-cell.ts'
import type { Post } from './post.ts'

/** What a local key is called that all nodes know of. */
const prefix = 'cluster/'
/** How many are told of in one mail. */
const perPart = 500
/** Up to so many each change is told at once; of more, so many in a millisecond. */
const fewRefs = 100
const refsPerMs = 20

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
  /** Parts of what a session is telling, until the last has come. */
  readonly coming: Map<string, AnyRef[]>
  /** Sessions that are telling everything again, and have not told of this. */
  readonly stale: Set<string>
  /** Whether others are told who is registered, or only whether anybody is. */
  named: boolean
  /** When others may be told again, and what ends the wait for that. */
  next: number
  cancel: (() => void) | undefined
  /** Ends its following of the local one. */
  unfollow: () => void
}

export class ClusterReceptionist implements Receptionist {
  readonly #host: ReceptionistHost
  readonly #local: Receptionist
  readonly #services = new Map<string, Service>()
  /** How many services each session has told of since it began to tell everything. */
  readonly #retelling = new Map<string, number>()

  constructor(host: ReceptionistHost) {
    this.#host = host
    this.#local = receptionistOf(host.core.view)
    host.post.on('listing', {
      came: ([, from, id, refs, more]) => {
        host.core.ledger.handled++
        if (typeof from !== 'string' || typeof id !== 'string' || id === '' || !Array.isArray(refs)) return
        const known = refs.filter((ref) => cellOf(ref as AnyRef) !== undefined)
        this.#told(from, this.#service(serviceKey(id)), known, more === true)
      },
    })
    host.post.on('directory', {
      came: ([, from, step, count]) => {
        host.core.ledger.handled++
        if (typeof from !== 'string') return
        if (step === 'begin') this.#beginRetelling(from)
        else if (step === 'end') this.#endRetelling(from, count)
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
  /** The connection to a session that lives broke: what was told may be lost, and is told again, all of it. */
  reconnected(session: Session): void {
    const { post, self } = this.#host
    const from = sessionText(self)
    const told = [...this.#services.values()].filter(({ own }) => own.length > 0)
    post.send(session, ['directory', from, 'begin'])
    for (const service of told) this.#tell(session, service)
    post.send(session, ['directory', from, 'end', told.length])
  }
  ended(session: Session): void {
    const from = sessionText(session)
    this.#retelling.delete(from)
    for (const service of this.#services.values()) {
      service.stale.delete(from)
      service.coming.delete(from)
      if (service.theirs.delete(from)) this.#changed(service)
    }
  }
  /** This node is no member any more: there is nobody but its own. */
  close(): void {
    for (const service of this.#services.values()) {
      service.unfollow()
      service.cancel?.()
      service.coming.clear()
      service.theirs.clear()
      this.#changed(service)
    }
  }

  /** Makes a key one of which others need only know whether anybody is registered under it here. */
  nameless(key: ServiceKey<never>): void {
    this.#service(key).named = false
  }

  #service(key: ServiceKey<never>): Service {
    check(key)
    const known = this.#services.get(key.id)
    if (known !== undefined) return known
    const service: Service = {
      key,
      named: true,
      own: [],
      theirs: new Map(),
      coming: new Map(),
      stale: new Set(),
      subscribers: new Map(),
      next: 0,
      cancel: undefined,
      unfollow: () => {},
    }
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
    const before = service.own.length
    if (before === 0 && refs.length === 0) return
    service.own = refs
    if (service.named) this.#tellSoon(service)
    else if ((before === 0) !== (refs.length === 0)) this.#tellAll(service)
    this.#changed(service)
  }
  #tellSoon(service: Service): void {
    if (service.cancel !== undefined) return
    const { runtime } = this.#host.core
    const wait = service.next - runtime.now()
    if (wait <= 0) return this.#tellAll(service)
    service.cancel = runtime.timer(wait, () => {
      service.cancel = undefined
      this.#tellAll(service)
    })
  }
  #tellAll(service: Service): void {
    const { length } = service.own
    service.next = length <= fewRefs ? 0 : this.#host.core.runtime.now() + length / refsPerMs
    for (const session of this.#host.others()) this.#tell(session, service)
  }
  #tell(session: Session, { key, own, named }: Service): void {
    const { post, self } = this.#host
    const last = named ? own.length : Math.min(own.length, 1)
    for (let at = 0; at === 0 || at < last; at += perPart) {
      const end = Math.min(at + perPart, last)
      post.send(session, ['listing', sessionText(self), key.id, own.slice(at, end), ...(end < last ? [true] : [])])
    }
  }

  #told(from: string, service: Service, part: readonly AnyRef[], more: boolean): void {
    const { coming } = service
    const before = coming.get(from)
    if (more) {
      if (before === undefined) coming.set(from, [...part])
      else before.push(...part)
      return
    }
    coming.delete(from)
    service.stale.delete(from)
    if (this.#retelling.has(from)) this.#retelling.set(from, this.#retelling.get(from)! + 1)
    const refs = before === undefined ? part : [...before, ...part]
    if (refs.length === 0) service.theirs.delete(from)
    else service.theirs.set(from, refs)
    this.#changed(service)
  }
  #beginRetelling(from: string): void {
    this.#retelling.set(from, 0)
    for (const { stale, theirs, coming } of this.#services.values()) {
      // Parts whose rest was lost.
      coming.delete(from)
      if (theirs.has(from)) stale.add(from)
    }
  }
  #endRetelling(from: string, count: unknown): void {
    // Some of it was lost with the next break, after which it begins again.
    const isWhole = this.#retelling.get(from) === count
    this.#retelling.delete(from)
    for (const service of this.#services.values()) if (service.stale.delete(from) && isWhole && service.theirs.delete(from)) this.#changed(service)
  }
  #changed(service: Service): void {
    if (service.subscribers.size === 0) return
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

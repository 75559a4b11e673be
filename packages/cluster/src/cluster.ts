// The face of a cluster, as one of its nodes has it. It has no state of its own: everything is in the node behind it.

import {
  type ActorRef,
  ActorSystem,
  type ActorSnapshot,
  type AnyRef,
  type Behavior,
  InvalidOption,
  type LedgerReport,
  NotAllowed,
  type Receptionist,
} from '@troupe/core'
import { checkFinite, checkFunction, checkText, coreOf, extensionOf, readOptions } from '@troupe/core/internal'
import type { MemberEvent } from './membership/members.ts'
import { ClusterNode } from './node/cluster-node.ts'
import { checkJoin, type JoinOptions } from './node/options.ts'
import { type ClusterReport, reportOf } from './node/report.ts'
import { checkId, checkKind, type KindSpec, type ShardedOptions } from './sharding/kind.ts'
import type { Region } from './sharding/region.ts'
import type { Topic } from './node/topics.ts'
import type { Member } from './values/member.ts'

/** Who comes and goes, as this node hears of it. */
export interface MemberEvents {
  /** Calls back for each session that joins or ends, once; returns what ends that. It must be quick; what it throws is logged. */
  listen(listener: (event: MemberEvent) => void): () => void
}

/** The tree of one node. */
export interface NodeSnapshot {
  readonly node: string
  /** Undefined where the node did not answer. */
  readonly tree: ActorSnapshot | undefined
}

/** A kind of sharded actors, as one node has it. */
export interface Sharded<M> {
  readonly kind: string
  /**
   * The ref of the actor of an id, wherever it is: the same on every node, and good for ever. Telling it something makes the actor, if there is
   * none. Fails with `InvalidOption` where the id is not a text of 1 to 400 characters.
   */
  ref(id: string): ActorRef<M>
  /** Resolves when this node takes part; rejects with `KindDiffers` or `JournalDiffers` where it cannot. */
  readonly ready: Promise<void>
  /** The node that has the actor of an id, as far as this one knows. */
  ownerOf(id: string): string | undefined
  /** The shards that run on this node. */
  readonly active: readonly number[]
  /** How many actors of the kind live on this node. */
  readonly entities: number
}

/** How a node leaves. */
export interface LeaveOptions {
  /** Milliseconds for handing over; 30,000 if left out. What is not handed over by then is claimed by others, without what was queued. */
  readonly deadline?: number | undefined
}

/** From when a system joins until it is no node any more; undefined while it is joining. */
const joined = new WeakMap<ActorSystem, Cluster | undefined>()

/** Whether it is one; what does not say what it is, is none. */
function isSystem(system: unknown): system is ActorSystem {
  try {
    return system instanceof ActorSystem
  } catch {
    return false
  }
}

/**
 * A cluster of systems, as one of its nodes sees it.
 *
 * Guarantees: between two nodes that live messages are neither lost, doubled nor reordered; one that is not heard of for its lease is gone
 * for all at once, and whoever watches or asked an actor of it hears `NodeLost`. See SEMANTICS.md, K1 to K15.
 *
 * @example
 * const cluster = await Cluster.join(system, { name: 'shop', node: 'a', engine: memory() })
 * await cluster.leave()
 */
export class Cluster {
  readonly #node: ClusterNode
  /** Resolves when this node is no member any more: with undefined where it left, with the cause where its session ended. */
  readonly ended: Promise<unknown>
  readonly events: MemberEvents

  private constructor(node: ClusterNode) {
    this.#node = node
    this.ended = new Promise((resolve) => node.onOver(resolve))
    this.events = {
      listen: (listener) => {
        checkFunction('listener', listener)
        return node.listen(listener)
      },
    }
  }

  /**
   * Makes a system a node of a cluster.
   *
   * Fails: with `InvalidOption`; with `NotAllowed` where the system is a node already; with `EngineRefused` where the engine cannot be used as
   * it is; with `NodeNameTaken` where a node of that name lives; with `VersionsApart`, `LeaseDiffers` or `MessageLimitDiffers`; with
   * `RegistryUnavailable` where the engine does not answer for half a minute.
   */
  static async join(system: ActorSystem, options: JoinOptions): Promise<Cluster> {
    if (!isSystem(system)) throw new InvalidOption('system', system, 'use an ActorSystem')
    const checked = checkJoin(options)
    if (joined.has(system)) throw new NotAllowed(`System ${system.name} is a node of a cluster already. Leave that first, or use another system.`)
    if (system.phase !== 'open') throw new NotAllowed(`System ${system.name} is ${system.phase} and cannot join a cluster.`)
    joined.set(system, undefined)
    try {
      const node = await ClusterNode.start(coreOf(system), checked)
      const cluster = new Cluster(node)
      joined.set(system, cluster)
      node.onOver(() => joined.delete(system))
      return cluster
    } catch (cause) {
      joined.delete(system)
      throw cause
    }
  }

  /** The cluster that a system is a node of; undefined where it is none, has left, or is still joining. */
  static of(system: ActorSystem): Cluster | undefined {
    if (!isSystem(system)) throw new InvalidOption('system', system, 'use an ActorSystem')
    return joined.get(system)
  }

  get name(): string {
    return this.#node.name
  }
  /** This node, with its session. */
  get self(): Member {
    return this.#node.self
  }
  /** All nodes whose session has not ended, this one among them, by name; none where this one is no member any more. */
  get members(): readonly Member[] {
    return this.#node.phase === 'over' ? [] : this.#node.membership.members
  }
  /** Milliseconds after which a node that is not heard of is gone. */
  get lease(): number {
    return this.#node.lease
  }
  /** Whether this node may act in its own name now. Past its lease, after a pause or without the engine, it may not. */
  get held(): boolean {
    return this.#node.held
  }

  /** The living actor at a path of a node, such as `/user/cart`; undefined where there is none, or the node does not answer. */
  find(node: string, path: string): Promise<AnyRef | undefined> {
    return this.#node.find(checkText('node', node), checkText('path', path))
  }

  /**
   * Where every message of all nodes is, at one consistent cut; `sent` is the sum of the others, also under load. `unknown` are those that
   * were with a session that ended, or on their way to it.
   *
   * Fails: with `LedgerIncomplete`, which names the nodes that did not answer; with `NotAllowed` where this node is no member any more.
   */
  async ledger(): Promise<LedgerReport> {
    const { phase, self, name } = this.#node
    if (phase === 'over') throw new NotAllowed(`Node ${self.session.node} has left ${name}, or was lost to it, and cannot count it. Ask a member.`)
    return this.#node.ledgers.count()
  }

  /**
   * How the cluster stands as this node sees it, at once and without asking anybody: members and their leases, shards of each node, and what is
   * under way, was sent again and takes how long on each channel.
   */
  report(): ClusterReport {
    return reportOf(this.#node)
  }

  /** The trees of all nodes; none where this one is no member any more. */
  inspect(): Promise<readonly NodeSnapshot[]> {
    const { membership, asking } = this.#node
    return Promise.all(
      this.members.map(async ({ session }) => {
        const own = session.node === membership.self.session.node
        return { node: session.node, tree: await (own ? this.#node.tree() : asking.inspect(session)) }
      }),
    )
  }

  /**
   * Actors of a kind, one for each id, on whatever node: every node of the cluster registers the kind, and each id lives on one of them.
   *
   * Guarantees: at most one actor of an id begins handlers, with clocks within 10 % in rate; messages of one sender to one id are handled in
   * order, also when it moves; persistent ones have one writer in each epoch (K7, K8). Fails: with `InvalidOption`; with `NotAllowed` where this
   * node has the kind already, or is to have actors of a persistent one and has no journal. Where nodes do not agree on the kind, `ready` rejects.
   *
   * @example
   * const carts = cluster.sharded('cart', (id: string) => cart(id), { accepts: schema })
   * carts.ref('42').tell({ type: 'add', item })
   */
  sharded<M>(kind: string, make: (id: string) => Behavior<M>, options: ShardedOptions<NoInfer<M>> = {}): Sharded<M> {
    const region = this.#region(checkKind(kind, make, options))
    const { entities } = this.#node
    return {
      kind,
      ready: region.ready,
      ref: (id) => entities.ref(kind, checkId(id)) as ActorRef<M>,
      ownerOf: (id) => region.ownerOf(checkId(id))?.session.node,
      get active() {
        return region.active
      },
      get entities() {
        return region.entities
      },
    }
  }

  /**
   * One actor in the whole cluster, started as soon as a node can have it, and again elsewhere when that node is gone. Every node registers it.
   *
   * Guarantees and fails as `sharded`, of which it is one shard with one actor. One that has stopped, or did not start, is made again when it is
   * told something, or by its supervision (`retryStart`).
   *
   * @example
   * const clock = cluster.singleton('clock', ticker())
   */
  singleton<M>(
    name: string,
    behavior: Behavior<M>,
    options: Omit<ShardedOptions<NoInfer<M>>, 'shards' | 'passivateAfter' | 'concurrentHandOvers'> = {},
  ): ActorRef<M> {
    const spec = checkKind(name, () => behavior, options)
    this.#region({ ...spec, shards: 1, passivateAfter: undefined, eager: [name] })
    return this.#node.entities.ref(name, name) as ActorRef<M>
  }

  /**
   * Who is registered under a key on any node: the same interface as that of one system. A registration ends with its actor, and with its node;
   * `register` and `subscribe` take actors of this node.
   *
   * @example
   * cluster.receptionist.register(workers, ctx.self)
   * const refs = cluster.receptionist.find(workers)
   */
  get receptionist(): Receptionist {
    return this.#node.receptionist
  }

  /**
   * What is published under a name on any node reaches the subscribers of all.
   *
   * Guarantees: each publication reaches each subscriber at most once; those of one node in order. Fails: with `InvalidOption` on a name that is
   * empty, or a message that is undefined; what cannot go to another node is a dead letter.
   *
   * @example
   * cluster.topic<News>('news').subscribe(reader)
   * cluster.topic<News>('news').publish({ type: 'headline', text })
   */
  topic<M>(name: string): Topic<M> {
    return this.#node.topics.topic(name)
  }

  #region(spec: KindSpec): Region {
    const node = this.#node
    if (node.phase !== 'member') throw new NotAllowed(`Node ${node.self.session.node} is leaving, or has left, and cannot have ${spec.kind}.`)
    if (node.regions.has(spec.kind)) throw new NotAllowed(`This node has ${spec.kind} already. Register a kind once, under a name of its own.`)
    // One that has no shards of the kind, for want of its role, only sends.
    const hosts = spec.role === undefined || node.self.roles.includes(spec.role)
    if (spec.persistent && hosts && extensionOf(node.core.view, 'persistence') === undefined)
      throw new NotAllowed(
        `Cannot have ${spec.kind}: it is persistent, and its system has no journal. Write ActorSystem.create(name, { extensions: [persistence({ journal })] }).`,
      )
    return node.region(spec)
  }

  /**
   * Leaves the cluster: shards are handed over to other nodes, a batch at a time, what is under way arrives, and the end of the session is recorded,
   * so that nobody waits for a lease. No message is lost where all of that is done by the deadline.
   */
  leave(options: LeaveOptions = {}): Promise<void> {
    const { deadline = 30_000 } = readOptions('leave', options, { deadline: [checkFinite, 'from'] })
    return this.#node.leave(deadline)
  }
}

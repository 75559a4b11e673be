// A node of a simulated cluster: a system of its own on a place of the run, joined by the real code. What it may suffer is what a process and
// its network may: it is paused, killed, cut off, and comes back under its name as a new one.

import { ActorSystem, type SystemOptions } from '@troupe/core'
import type { SimPlace } from '@troupe/testkit'
import { Cluster } from '../cluster.ts'
import { connectTo } from '../engines/memory/memory.ts'
import { sessionText } from '../values/session.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, isLevelEnabled: () => false }

/** What a node is started with. */
export interface SimulatedNodeOptions {
  /** As of `Cluster.join`; none if left out. */
  readonly roles?: readonly string[] | undefined
  /** As of `Cluster.join`. */
  readonly maxMessageBytes?: number | undefined
  /** As of `Cluster.join`. */
  readonly journalTimeout?: number | false | undefined
  /** Options of the node's system. */
  readonly system?: SystemOptions | undefined
}

/** One life of a node in a simulated cluster. */
export class SimulatedNode {
  readonly world: SimulatedCluster
  readonly node: string
  readonly place: SimPlace
  readonly system: ActorSystem
  /** Undefined until it has joined. */
  cluster: Cluster | undefined
  /** `ended` is what it was told of its session, `killed` and `left` what was done to it, `refused` that it could not join. */
  state: 'joining' | 'alive' | 'refused' | 'ended' | 'killed' | 'leaving' | 'left' = 'joining'
  /** Why it could not join. */
  refusal: unknown

  constructor(world: SimulatedCluster, node: string, options: SimulatedNodeOptions) {
    this.world = world
    this.node = node
    this.place = world.sim.place(`${node}-${world.nodes.length}`)
    this.system = ActorSystem.create(node, {
      logger: silent,
      deadLetterCapacity: 1_000,
      ...options.system,
      keepAlive: false,
      dispatcher: { maxTurns: 1 },
      runtime: this.place.runtime,
    })
    // Nobody here writes what another cannot read.
    this.system.events.listen((event) => {
      if (world.expectsBreaks) return
      const { cause } = event as unknown as { readonly cause: Error }
      world.sim.violate('invariant', `K1: a connection between two that live was lost: ${cause.message}`)
    }, 'connection.lost')
    const { hub, lease } = world
    const engine = { name: 'simulated', connect: (joining: Parameters<typeof connectTo>[1]) => Promise.resolve(connectTo(hub, joining)) }
    const { roles, maxMessageBytes, journalTimeout } = options
    this.#join(Cluster.join(this.system, { name: 'sim', node, engine, lease, roles, maxMessageBytes, journalTimeout })).catch(() => {})
  }

  async #join(joining: Promise<Cluster>): Promise<void> {
    try {
      this.cluster = await joining
    } catch (cause) {
      this.refusal = cause
      if (this.state === 'joining') this.state = 'refused'
      return
    }
    if (this.state !== 'joining') return
    this.state = 'alive'
    this.world.sim.note(`${this.name} has joined`)
    this.world.came(this)
    const cause = await this.cluster.ended
    if (this.state !== 'alive') return
    this.state = cause === undefined ? 'left' : 'ended'
    this.world.sim.note(`${this.name} hears that its session has ended`)
  }

  /** The name of its session. */
  get name(): string {
    return this.cluster === undefined ? `${this.node}?` : sessionText(this.cluster.self.session)
  }

  /** Returns if it is a member, as far as it knows, was not killed, and is not being shut down; it may be paused. */
  get isUp(): boolean {
    return this.state === 'alive' && this.system.phase === 'open'
  }

  /** As SIGSTOP and SIGCONT do. */
  pause(ms: number): void {
    this.world.sim.note(`${this.name} is paused for ${ms} ms`)
    this.place.hang()
    this.world.sim.after(ms, () => this.place.goOn())
  }

  /** As the lid of a laptop does: nothing runs, and the monotonic clock of the machine stands still. */
  suspend(ms: number): void {
    this.world.sim.note(`${this.name} is suspended for ${ms} ms`)
    this.place.suspend()
    this.world.sim.after(ms, () => this.place.goOn())
  }

  /** As kill -9 does. */
  kill(): void {
    this.world.sim.note(`${this.name} is killed`)
    this.state = 'killed'
    this.place.end()
    this.world.hub.gone(this.node)
  }

  /** Cut off from the engine and from all others. */
  isolate(ms: number): void {
    this.world.sim.note(`${this.name} is cut off for ${ms} ms`)
    this.world.hub.isolate(this.node, true)
    this.world.sim.after(ms, () => this.world.hub.isolate(this.node, false))
  }

  leave(): void {
    if (this.state !== 'alive' || this.cluster === undefined) return
    this.world.sim.note(`${this.name} leaves`)
    this.state = 'leaving'
    this.cluster.leave().then(
      () => this.#gone(),
      () => this.#gone(),
    )
  }
  #gone(): void {
    if (this.state === 'leaving') this.state = 'left'
  }
}

// Actors that register and leave while connections break and nodes come and go: in the end every node finds those of all, and nobody else.

import { type ActorRef, receive, same, serviceKey } from '@troupe/core'
import type { SimulatedCluster, SimulatedNode } from '@troupe/cluster/testing'

const keys = ['one', 'two', 'three'].map((name) => serviceKey<never>(name))

interface Registered {
  readonly key: (typeof keys)[number]
  readonly path: string
  leave(): void
}

export class Directory {
  readonly world: SimulatedCluster
  readonly #registered = new Map<SimulatedNode, Registered[]>()
  #names = 0

  constructor(world: SimulatedCluster) {
    this.world = world
    world.onJoin = (node) => void this.#registered.set(node, [])
    world.sim.eventually('every node finds who is registered on any, and nobody else', () => this.#agree())
  }

  /** Somebody registers somewhere, or leaves. */
  act(): void {
    const { sim } = this.world
    const node = this.world.pick()
    const own = node === undefined ? undefined : this.#registered.get(node)
    if (node === undefined || own === undefined || node.place.state !== 'running') return
    // What is told of it may be lost with its connection.
    if (sim.choose(4) === 3) sim.after(sim.int(1, 8) * 5, () => void this.world.strike(['spoil']))
    if (own.length > 0 && sim.choose(2) === 1) return own.splice(sim.choose(own.length), 1)[0]!.leave()
    const key = sim.oneOf(keys)
    const name = `worker-${++this.#names}`
    const ref: ActorRef<never> = node.system.spawn<never>(
      receive(() => same),
      { name },
    )
    own.push({ key, path: `//${node.node}/user/${name}`, leave: node.cluster!.receptionist.register(key, ref) })
  }

  #agree(): boolean {
    return this.world.up.every((node) => keys.every((key) => this.#found(node, key) === this.#expected(node, key)))
  }
  #found(node: SimulatedNode, key: (typeof keys)[number]): string {
    return node
      .cluster!.receptionist.find(key)
      .map(({ path }) => (path.startsWith('//') ? path : `//${node.node}${path}`))
      .toSorted()
      .join()
  }
  #expected(node: SimulatedNode, key: (typeof keys)[number]): string {
    const known = new Set(node.cluster!.members.map(({ session }) => session.node))
    return this.world.up
      .filter((other) => known.has(other.node))
      .flatMap((other) => this.#registered.get(other)!)
      .filter((one) => one.key === key)
      .map(({ path }) => path)
      .toSorted()
      .join()
  }
}

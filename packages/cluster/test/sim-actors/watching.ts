// Watchers of sharded actors that stop, fail, fall asleep, move and lose their nodes, and an account of what each watch may be told.

import { type Behavior, receive, same, stopped, type Terminated } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { KindNotHosted, NodeLost, OwnershipLost, SessionEnded, type Sharded } from '@troupe/cluster'
import { sessionText } from '@troupe/cluster/internal'
import type { SimulatedCluster, SimulatedNode } from '@troupe/cluster/testing'

const ids = ['ann', 'bob', 'cat', 'dan'] as const
/** Longer than a node may be paused between the end of an actor and the report of it. */
const late = 10_000

type Order = 'work' | 'stop' | 'fail'

/** One incarnation of an actor. */
interface Life {
  readonly node: SimulatedNode
  readonly since: number
  /** What it decided to do by itself. */
  by: 'stop' | 'fail' | undefined
  until: number | undefined
}

interface Watch {
  readonly by: SimulatedNode
  readonly id: string
  readonly since: number
  isOver: boolean
}

/** What watchers were told in all runs, by reason. */
export const watchTally: { readonly told: Map<string, number> } = { told: new Map() }

export class Watching {
  readonly world: SimulatedCluster
  readonly #kinds = new Map<SimulatedNode, Sharded<Order>>()
  readonly #lives = new Map<string, Life[]>(ids.map((id) => [id, []]))
  /** The latest watch of each node on each actor: there is one at a time. */
  readonly #watches = new Map<string, Watch>()

  constructor(world: SimulatedCluster) {
    this.world = world
    world.onJoin = (node) => {
      const kind = node.cluster!.sharded<Order>('watched', (id) => this.#make(node, id), { shards: 2, passivateAfter: 1_500, stopTimeout: 500 })
      kind.ready.catch(() => {})
      this.#kinds.set(node, kind)
    }
    world.sim.eventually('K4: every watch of a sharded actor has ended', () =>
      [...this.#watches.values()].every(({ by, isOver }) => isOver || !by.isUp),
    )
    world.sim.eventually('K15: nothing is kept of watches that have ended', () => world.up.every((node) => this.#kept(node) === 0))
  }

  #make(node: SimulatedNode, id: string): Behavior<Order> {
    const { sim } = this.world
    let life: Life
    return receive<Order>(
      (_ctx, order) => {
        if (order === 'work') return same
        life.by = order
        if (order === 'fail') throw new Error('broken')
        return stopped
      },
      (_ctx, signal) => {
        if (signal.type === 'PreStart') this.#lives.get(id)!.push((life = { node, since: sim.now, by: undefined, until: undefined }))
        else if (signal.type === 'PostStop') life.until = sim.now
        return same
      },
    )
  }

  act(): void {
    const { sim } = this.world
    const node = this.world.pick()
    const kind = node === undefined ? undefined : this.#kinds.get(node)
    if (node === undefined || kind === undefined || node.place.state !== 'running') return
    const id = sim.oneOf(ids)
    switch (sim.choose(8)) {
      case 0:
        return kind.ref(id).tell('stop')
      case 1:
        // Restarts are allowed three times in a second.
        for (let n = 0; n < 4; n++) kind.ref(id).tell('fail')
        return
      case 2:
      case 3:
      case 4:
        return this.#watch(node, kind, id)
      default:
        return kind.ref(id).tell('work')
    }
  }

  #watch(by: SimulatedNode, kind: Sharded<Order>, id: string): void {
    const { sim } = this.world
    const key = `${by.name} ${id}`
    if (this.#watches.get(key)?.isOver === false) return
    const watch: Watch = { by, id, since: sim.now, isOver: false }
    this.#watches.set(key, watch)
    const ref = kind.ref(id)
    // Most keep the actor awake for a while, others find it asleep.
    if (sim.choose(3) > 0) ref.tell('work')
    const givesUp = sim.oneOf([0, 0, 0, 700])
    const watcher = by.system.spawn(
      receive<'watch' | 'give up'>(
        (ctx, order) => {
          if (order === 'watch') ctx.watch(ref)
          else {
            ctx.unwatch(ref)
            watch.isOver = true
            return stopped
          }
          return same
        },
        (_ctx, signal) => {
          if (signal.type === 'Terminated') {
            this.#told(watch, signal)
            return stopped
          }
          return same
        },
      ),
    )
    watcher.tell('watch')
    if (givesUp > 0) by.place.after(givesUp, () => watcher.tell('give up'))
  }

  #told(watch: Watch, { reason, cause }: Terminated): void {
    const { sim, over } = this.world
    const { by, id, since } = watch
    const what = cause instanceof Error ? `${reason} (${cause.constructor.name})` : reason
    watchTally.told.set(what, (watchTally.told.get(what) ?? 0) + 1)
    if (watch.isOver) sim.violate('invariant', `K4: ${by.name} was told twice of the end of ${id}`)
    watch.isOver = true
    const lives = this.#lives.get(id)!
    const hasEnded = (how: Life['by']): boolean => lives.some((life) => life.by === how && (life.until ?? sim.now) >= since - late)
    const fits = (): boolean => {
      if (reason === 'normal') return hasEnded('stop')
      if (cause instanceof NodeLost) return over.has(sessionText(cause.session))
      // All nodes are leaving.
      if (cause instanceof KindNotHosted) return this.world.up.length === 0
      // Its own node is no member any more.
      if (cause instanceof SessionEnded) return over.has(by.name)
      if (cause instanceof OwnershipLost || reason === 'shutdown') return over.size > 0
      if (reason === 'failure') return hasEnded('fail')
      // Nobody has it who had it when the watch began.
      return (
        reason === 'passivated' &&
        !lives.some((life) => life.until === undefined && life.since < since && life.node.isUp && !over.has(life.node.name))
      )
    }
    if (!fits()) sim.violate('invariant', `K4: ${by.name} was told that ${id} ended by ${what}, which it did not`)
  }

  #kept({ system }: SimulatedNode): number {
    const { watchers } = coreOf(system).otherPlaces as unknown as {
      readonly watchers: { readonly size: number; readonly own: { readonly size: number } }
    }
    return watchers.size + watchers.own.size
  }
}

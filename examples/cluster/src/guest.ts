// The node of those who play: it sends to the rooms, has none itself, and has no journal. A process that gets no time for longer than its lease loses its
// session, and this one has people who wait: it joins again, for as long as nobody asked it to leave.

import { Cluster, type Engine, type Sharded } from '@troupe/cluster'
import { ActorSystem, type ActorRef } from '@troupe/core'
import { wait } from './director.ts'
import { joinRooms } from './node.ts'
import type { Room } from './room.ts'

export interface GuestOptions {
  readonly node: string
  readonly engine: Engine
  readonly lease: number
  /** Hears of each session that it has. */
  readonly onJoined: (cluster: Cluster) => void
}

/** Between two attempts to join. */
const retryDelayMs = 300

export class Guest {
  readonly system: ActorSystem
  readonly #options: GuestOptions
  #cluster: Cluster | undefined
  #rooms: Sharded<Room> | undefined
  #leaving = false
  /** Settles when the attempt to join again that is under way is over. */
  #rejoining: Promise<void> = Promise.resolve()

  private constructor(system: ActorSystem, options: GuestOptions) {
    this.system = system
    this.#options = options
  }

  /** Fails as `Cluster.join` does; only a guest that was a member joins again. */
  static async join(options: GuestOptions): Promise<Guest> {
    const system = ActorSystem.create(options.node, { logger: false })
    const guest = new Guest(system, options)
    try {
      await guest.#join()
      return guest
    } catch (cause) {
      await system.shutdown()
      throw cause
    }
  }

  /** The ref of a room by the session of now: one from before an end of the session leads nowhere. */
  ref(room: string): ActorRef<Room> {
    return this.#rooms!.ref(room)
  }

  /** Leaves the cluster for good and ends the system. */
  async leave(options: { readonly deadline?: number } = {}): Promise<void> {
    this.#leaving = true
    await this.#rejoining
    await this.#cluster?.leave(options)
    await this.system.shutdown()
  }

  async #join(): Promise<void> {
    const { node, engine, lease, onJoined } = this.#options
    const cluster = await Cluster.join(this.system, { name: 'rooms', node, engine, lease })
    try {
      const rooms = joinRooms(cluster, node)
      await rooms.ready
      this.#cluster = cluster
      this.#rooms = rooms
    } catch (cause) {
      await cluster.leave({ deadline: 0 })
      throw cause
    }
    onJoined(cluster)
    void cluster.ended.then((cause) => {
      if (cause !== undefined) this.#rejoining = this.#joinAgain()
    })
  }

  async #joinAgain(): Promise<void> {
    while (!this.#leaving) {
      try {
        return await this.#join()
      } catch {
        // The engine is away, or the session ended once more while it joined.
        await wait(retryDelayMs)
      }
    }
  }
}

// A shard moves on when every node has found it where it is. A node that knows of an earlier owner sends by that one, which passes on what comes; were
// the shard to move once more meanwhile, what is sent next could overtake it, for whoever passes on would take another way. So an owner asks all others first: each
// answers when it knows of this owner, and when nothing of its own is on an older way any more.

import type { Timing } from '../ports/timing.ts'
import type { Session } from '../values/session.ts'

/** A shard, and the epoch in which it is somewhere. */
export type ShardEpoch = readonly [shard: number, epoch: number]

export interface SettlingHost {
  readonly timing: Pick<Timing, 'now'>
  readonly lease: number
  /** In which epoch a shard is here. */
  epochOf(shard: number): number | undefined
  /** In which epoch each shard is here. */
  epochs(): ReadonlyMap<number, number>
  others(): readonly Session[]
  /** Looks at the registry for members that nobody has told of. */
  refresh(): Promise<void>
  /** Asks all of these which shards have not settled; one that does not answer has settled none. */
  ask(sessions: readonly Session[], shards: readonly ShardEpoch[]): Promise<ReadonlySet<number>>
}

interface Batch {
  readonly shards: ShardEpoch[]
  /** Those of its shards that have not settled. */
  readonly unsettled: Promise<ReadonlySet<number>>
}

export class Settling {
  readonly #host: SettlingHost
  /** Epochs since whose beginning members were looked for: whoever comes later knows no earlier owner. */
  #seen: ReadonlyMap<number, number> = new Map()
  readonly #settled = new Map<number, number>()
  #refreshing: Promise<void> | undefined
  /** What is about to be asked. */
  #next: Batch | undefined

  constructor(host: SettlingHost) {
    this.#host = host
  }

  /** Whether a shard may move on from here; asked for a lease. */
  async isSettled(shard: number): Promise<boolean> {
    const { timing, lease } = this.#host
    const epoch = this.#host.epochOf(shard)
    if (epoch === undefined || this.#settled.get(shard) === epoch) return true
    while (this.#seen.get(shard) !== epoch && this.#host.epochOf(shard) === epoch) await (this.#refreshing ??= this.#refresh())
    const until = timing.now() + lease
    do {
      if (!(await this.#ask(shard, epoch))) continue
      this.#settled.set(shard, epoch)
      return true
    } while (timing.now() < until)
    return false
  }

  /** Asks, together with all others that are to be asked at the same time. */
  async #ask(shard: number, epoch: number): Promise<boolean> {
    const batch = (this.#next ??= this.#begin())
    batch.shards.push([shard, epoch])
    return !(await batch.unsettled).has(shard)
  }
  #begin(): Batch {
    const shards: ShardEpoch[] = []
    const unsettled = Promise.resolve().then(() => {
      this.#next = undefined
      return this.#host.ask(this.#host.others(), shards)
    })
    return { shards, unsettled }
  }

  async #refresh(): Promise<void> {
    const epochs = this.#host.epochs()
    try {
      await this.#host.refresh()
      this.#seen = epochs
    } finally {
      this.#refreshing = undefined
    }
  }
}

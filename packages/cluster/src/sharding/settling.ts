// A shard moves on when every node has found it where it is. A node that knows of an earlier owner sends by that one, which passes on what comes; were
// the shard to move once more meanwhile, what is sent next could overtake it, for whoever passes on would take another way. So an owner asks all others first: each
// answers when it knows of this owner, and when nothing of its own is on an older way any more.

import type { Session } from '../values/session.ts'

export interface SettlingHost {
  /** In which epoch each shard is here. */
  epochs(): ReadonlyMap<number, number>
  others(): readonly Session[]
  /** Looks at the registry for members that nobody has told of. */
  refresh(): Promise<void>
  /** Whether all of these have settled, within a lease. */
  ask(sessions: readonly Session[], shard: number, epoch: number): Promise<boolean>
}

export class Settling {
  readonly #host: SettlingHost
  /** Epochs since whose beginning members were looked for: whoever comes later knows no earlier owner. */
  #seen: ReadonlyMap<number, number> = new Map()
  readonly #settled = new Map<number, number>()
  #refreshing: Promise<void> | undefined

  constructor(host: SettlingHost) {
    this.#host = host
  }

  /** Whether a shard may move on from here. */
  async isSettled(shard: number): Promise<boolean> {
    const epoch = this.#host.epochs().get(shard)
    if (epoch === undefined || this.#settled.get(shard) === epoch) return true
    while (this.#seen.get(shard) !== epoch && this.#host.epochs().get(shard) === epoch) await (this.#refreshing ??= this.#refresh())
    if (!(await this.#host.ask(this.#host.others(), shard, epoch))) return false
    this.#settled.set(shard, epoch)
    return true
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

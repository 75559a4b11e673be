// Whether this node reaches its journal. It reads a number from it at an interval, while it may have shards of a persistent kind: actors that write would
// notice as well, but a node without work would not, and must not be given any. If there is no answer for long, its shards go to nodes that have one.

import type { SystemCore } from '@troupe/core/internal'
import type { ClusterNode } from '../node/cluster-node.ts'
import { Tenancy } from './tenancy.ts'

export interface JournalWatchHost {
  readonly core: SystemCore
  /** Milliseconds between two questions. */
  readonly interval: number
  /** After which its shards are handed over; undefined for never. */
  readonly timeout: number | undefined
  /** Asks the journal for something small. */
  ask(): Promise<unknown>
  onChange(reach: Reach): void
}

/** How the journal is reached: `away` from the first question without an answer, `lost` after the timeout. */
export type Reach = 'reached' | 'away' | 'lost'

const maxPending = 4
/** Milliseconds that an answer may take: a journal that is slow is reached. */
const slowest = 5_000

export class JournalWatch {
  readonly #host: JournalWatchHost
  /** When the first question had no answer, since one had. */
  #awaySince: number | undefined
  #reach: Reach = 'reached'
  /** Questions that are not answered yet, and when the last one was asked. */
  #pending = 0
  #askedAt = 0
  #isOver = false
  #cancel: (() => void) | undefined

  constructor(host: JournalWatchHost) {
    this.#host = host
  }

  get reach(): Reach {
    return this.#reach
  }
  /** Whether the last question had no answer. */
  get isAway(): boolean {
    return this.#reach !== 'reached'
  }

  /** Begins to ask; once is enough. */
  open(): void {
    if (this.#cancel === undefined) this.#look()
  }
  close(): void {
    this.#cancel?.()
    this.#cancel = () => {}
    this.#isOver = true
  }

  #look(): void {
    const { core, interval } = this.#host
    this.#cancel = core.runtime.timer(interval, () => this.#look())
    const now = core.runtime.now()
    if (this.#pending > 0 && now - this.#askedAt >= slowest) this.#heard(false)
    // A slow journal is asked once at a time, and one that hangs is not given question after question.
    if (this.#pending > 0 && (now - this.#askedAt < slowest || this.#pending >= maxPending)) return
    this.#askedAt = now
    this.#pending++
    const settled = (answered: boolean): void => {
      this.#pending--
      if (!this.#isOver) this.#heard(answered)
    }
    // An answer that comes late is one all the same.
    this.#host.ask().then(
      () => settled(true),
      () => settled(false),
    )
  }

  #heard(answered: boolean): void {
    const { core, timeout } = this.#host
    const now = core.runtime.now()
    this.#awaySince = answered ? undefined : (this.#awaySince ?? now)
    const since = this.#awaySince
    const reach = since === undefined ? 'reached' : timeout !== undefined && now - since >= timeout ? 'lost' : 'away'
    if (reach === this.#reach) return
    this.#reach = reach
    this.#host.onChange(reach)
  }
}

const texts: Readonly<Record<Reach, string>> = {
  reached: 'the journal is reached again',
  away: 'the journal cannot be reached; this node takes no more shards of persistent kinds',
  lost: 'the journal was not reached for long; shards of persistent kinds are handed over',
}

/** Watches the journal of a node, whose shards of persistent kinds are handed over after `timeout`. */
export function watchJournal(node: ClusterNode, timeout: number | undefined): JournalWatch {
  const { core, lease, name } = node
  return new JournalWatch({
    core,
    interval: lease / 6,
    timeout,
    // Of a scope that no kind has: any answer will do.
    ask: () => Tenancy.of(core.view, '')?.epochOf(0) ?? Promise.resolve(),
    onChange: (reach) => {
      core.logger.warn({ cluster: name }, texts[reach])
      for (const region of node.regions.values()) region.journalIs(reach)
    },
  })
}

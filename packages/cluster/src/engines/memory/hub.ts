// The middle of a cluster that lives in one process: the store, who is connected, and the ways between them, which may be cut, delayed
// and lossy for simulation. A node meets it through its MemoryRegistry and its MemoryWire only.
//
//   node a ── way ── store          node a ── way ── node b
//
// Whatever reaches a node is run by that node's own timing, so that a node which is paused hears nothing until it goes on.

import type { Change, Hint } from '../../ports/registry.ts'
import type { Timing } from '../../ports/timing.ts'
import type { Session } from '../../values/session.ts'
import { sessionText } from '../../values/session.ts'
import { isUnder, Store } from './store.ts'
import { calm, type Faults, travel } from './weather.ts'

interface Watcher {
  readonly node: string
  readonly prefix: string
  readonly timing: Timing
  readonly onHint: (hint: Hint) => void
}

interface Receiver {
  readonly timing: Timing
  readonly onFrame: (from: Session, bytes: Uint8Array) => void
}

export class MemoryHub {
  readonly store: Store
  readonly timing: Timing
  /** Between nodes. */
  wireFaults: Faults = calm
  /** Between nodes and the store. */
  registryFaults: Faults = calm
  /** How long a node waits for the store to answer. */
  patience = 2_000
  /** The most bytes that a frame may have; NATS takes as much by default. */
  maxFrame = 1_048_576
  readonly #watchers = new Set<Watcher>()
  readonly #receivers = new Map<string, Receiver>()
  readonly #cuts = new Set<string>()
  readonly #alone = new Set<string>()
  #out = false

  constructor(timing: Timing) {
    this.timing = timing
    this.store = new Store(timing, (change) => this.#tell(change))
  }

  /** Whether anybody is connected or watches. */
  get idle(): boolean {
    return this.#watchers.size === 0 && this.#receivers.size === 0
  }

  /** No node reaches the store, and none another, until it is over: the engine is away. Keys run out meanwhile. */
  outage(away: boolean): void {
    if (this.#out && !away) this.#missed(() => true)
    this.#out = away
  }

  /** Cuts one node off from the store and from all others, or lets it back. */
  isolate(node: string, alone: boolean): void {
    if (alone) this.#alone.add(node)
    else if (this.#alone.delete(node)) this.#missed((other) => other === node)
  }

  /** A node was killed: nothing is told to it any more. */
  gone(node: string): void {
    for (const watcher of this.#watchers) if (watcher.node === node) this.#watchers.delete(watcher)
    for (const key of this.#receivers.keys()) if (key.startsWith(`${node}#`)) this.#receivers.delete(key)
  }

  /** Cuts the way between two nodes in both directions, or mends it; both reach the store. */
  cut(a: string, b: string, away: boolean): void {
    const key = a < b ? `${a} ${b}` : `${b} ${a}`
    if (away) this.#cuts.add(key)
    else this.#cuts.delete(key)
  }

  reachesStore(node: string): boolean {
    return !this.#out && !this.#alone.has(node)
  }

  reaches(from: string, to: string): boolean {
    const key = from < to ? `${from} ${to}` : `${to} ${from}`
    return this.reachesStore(from) && this.reachesStore(to) && !this.#cuts.has(key)
  }

  /** Runs `arrive` when a packet to or from the store is there; a cut takes it away on its way. */
  toStore(node: string, arrive: () => void): void {
    if (!this.reachesStore(node)) return
    for (const ms of travel(this.registryFaults, () => this.timing.random()))
      this.#after(ms, () => {
        if (this.reachesStore(node)) arrive()
      })
  }

  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  receive(self: Session, receiver: Receiver): () => void {
    const key = sessionText(self)
    this.#receivers.set(key, receiver)
    return () => void this.#receivers.delete(key)
  }

  frame(from: Session, to: Session, bytes: Uint8Array): boolean {
    if (!this.reachesStore(from.node)) return false
    if (!this.reaches(from.node, to.node)) return true
    for (const ms of travel(this.wireFaults, () => this.timing.random()))
      this.#after(ms, () => {
        if (!this.reaches(from.node, to.node)) return
        const receiver = this.#receivers.get(sessionText(to))
        receiver?.timing.wake(() => {
          // It may have closed while it was paused.
          if (this.#receivers.get(sessionText(to)) === receiver) receiver.onFrame(from, bytes)
        })
      })
    return true
  }

  #tell(change: Change): void {
    for (const watcher of this.#watchers) if (isUnder(watcher.prefix, change.key)) this.toStore(watcher.node, () => this.#hint(watcher, change))
  }

  /** Those who were away are told that they missed something. */
  #missed(whom: (node: string) => boolean): void {
    for (const watcher of this.#watchers) if (whom(watcher.node)) this.#hint(watcher, 'anything')
  }

  #hint(watcher: Watcher, hint: Hint): void {
    watcher.timing.wake(() => {
      if (this.#watchers.has(watcher)) watcher.onHint(hint)
    })
  }

  #after(ms: number, task: () => void): void {
    if (ms === 0) this.timing.wake(task)
    else this.timing.timer(ms, task)
  }
}

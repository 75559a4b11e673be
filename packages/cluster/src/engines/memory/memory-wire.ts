// Frames between the nodes of a MemoryHub.

import type { Timing } from '../../ports/timing.ts'
import type { Wire } from '../../ports/wire.ts'
import type { Session } from '../../values/session.ts'
import type { MemoryHub } from './hub.ts'

export class MemoryWire implements Wire {
  readonly #hub: MemoryHub
  readonly #node: string
  readonly #timing: Timing
  #self: Session | undefined
  #stop: (() => void) | undefined

  constructor(hub: MemoryHub, node: string, timing: Timing) {
    this.#hub = hub
    this.#node = node
    this.#timing = timing
  }

  get maxFrame(): number {
    return this.#hub.maxFrame
  }

  get connected(): boolean {
    return this.#self !== undefined && this.#hub.reachesStore(this.#node)
  }

  async open(self: Session, onFrame: (from: Session, bytes: Uint8Array) => void): Promise<void> {
    this.#self = self
    this.#stop = this.#hub.receive(self, { timing: this.#timing, onFrame })
  }

  send(to: Session, bytes: Uint8Array): boolean {
    if (this.#self === undefined || bytes.length > this.maxFrame) return false
    // Copied: on a real wire both sides have their own.
    return this.#hub.frame(this.#self, to, bytes.slice())
  }

  async close(): Promise<void> {
    this.#self = undefined
    this.#stop?.()
  }
}

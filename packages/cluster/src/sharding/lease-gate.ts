// Whether sharded actors of this node may begin handlers: as long as its lease is held. Those that were kept from it are suspended, so that they
// do not ask again and again, and go on when the lease is back.

import type { Cell, SystemCore } from '@troupe/core/internal'
import type { LeaseGate } from './leased-mailbox.ts'

const reason = 'the lease of this node has run out'
/** How often it is looked at whether the lease is back. */
const lookEvery = 100

export class NodeGate implements LeaseGate {
  readonly #core: SystemCore
  readonly #isHeld: () => boolean
  readonly #kept = new Set<Cell>()
  #tasks: (() => void)[] = []
  #looking = false
  #over = false

  constructor(core: SystemCore, isHeld: () => boolean) {
    this.#core = core
    this.#isHeld = isHeld
  }

  get held(): boolean {
    return this.#isHeld()
  }
  /** Actors that wait for the lease. */
  get waiting(): number {
    return this.#kept.size
  }

  kept(cell: Cell): void {
    if (this.#kept.has(cell)) return
    this.#kept.add(cell)
    cell.command({ verb: 'suspend', reason })
    this.#look()
  }

  whenHeld(task: () => void): void {
    this.#tasks.push(task)
    this.#look()
  }

  close(): void {
    this.#over = true
    this.#kept.clear()
    this.#tasks = []
  }

  #look(): void {
    if (this.#looking) return
    this.#looking = true
    this.#core.runtime.timer(lookEvery, () => {
      this.#looking = false
      if (this.#over) return
      if (!this.#isHeld()) return this.#look()
      for (const cell of this.#kept) cell.command({ verb: 'resume' })
      this.#kept.clear()
      const tasks = this.#tasks
      this.#tasks = []
      for (const task of tasks) task()
    })
  }
}

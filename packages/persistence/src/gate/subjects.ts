// Whose data living actors have in memory. Who is erased by this system, or turns out to have been by another one, is forgotten: actors that
// hold it begin anew, without it. Others tell nobody, so that the journal is asked now and then, only while somebody is held.

import type { Journal } from '../journal/port.ts'
import type { Gated } from './gated.ts'
import { believed, type Keyring } from './keyring.ts'

/** What this asks of whoever has the journal. */
interface SubjectsHost {
  readonly closing: boolean
  readonly keyring: Keyring
  readable(): Promise<Journal>
  after(ms: number, task: () => void): () => void
  breathe(): Promise<void>
}

/** How many keys are asked for at a time. */
const page = 500

export class Subjects {
  readonly #host: SubjectsHost
  /** Actors that may hold somebody. */
  readonly #holders = new Set<Gated>()
  #planned = false

  constructor(host: SubjectsHost) {
    this.#host = host
  }

  /** An actor has somebody's data in memory. */
  held(actor: Gated): void {
    this.#holders.add(actor)
    this.#plan()
  }

  /** The key of a subject is gone: who has its data in memory begins anew, without it. */
  erased(subject: string): void {
    this.#host.keyring.erased(subject)
    for (const actor of this.#holders)
      if (!actor.ended && actor.subjects.has(subject)) actor.cell.command({ verb: 'restart', cause: undefined, delay: 0 })
  }

  #plan(): void {
    if (this.#planned || this.#host.closing) return
    this.#planned = true
    this.#host.after(believed, () => {
      if (this.#host.closing) return
      void this.#look()
        // Away: the next look finds out.
        .catch(() => undefined)
        .then(() => {
          this.#planned = false
          if (this.#holders.size > 0) this.#plan()
        })
    })
  }
  async #look(): Promise<void> {
    const all = new Set<string>()
    for (const actor of this.#holders) {
      if (actor.ended) this.#holders.delete(actor)
      else for (const subject of actor.subjects) all.add(subject)
    }
    const asked = [...all]
    for (let i = 0; i < asked.length; i += page) {
      const journal = await this.#host.readable()
      for (const { subject, is } of await journal.keyless(asked.slice(i, i + page))) if (is === 'erased') this.erased(subject)
      await this.#host.breathe()
    }
  }
}

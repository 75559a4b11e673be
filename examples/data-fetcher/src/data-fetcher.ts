// Asks a slow and unreliable service for users and keeps what it got. Reentrant, so that a slow user does not hold up
// those in the cache; whoever asks for a user that is already on its way waits for that request.

import { Actor, retry } from '@troupe/core'

export interface User {
  readonly id: number
  readonly name: string
}

/** Loads one user; ends when the signal is aborted. */
export type LoadUser = (id: number, signal: AbortSignal) => Promise<User>

export class DataFetcher extends Actor {
  readonly #load: LoadUser
  readonly #users = new Map<number, Promise<User>>()

  constructor(load: LoadUser) {
    super()
    this.#load = load
  }

  async fetchUser(id: number): Promise<User> {
    let user = this.#users.get(id)
    if (user === undefined) {
      user = this.#request(id)
      this.#users.set(id, user)
      // A failure is not kept: the next question tries again.
      user.catch(() => this.#users.delete(id))
    }
    return user
  }
  forget(id: number): void {
    this.#users.delete(id)
  }
  cached(): number {
    return this.#users.size
  }

  /** Three attempts of a second each, which end with this incarnation. */
  #request(id: number): Promise<User> {
    const { signal, system } = this.ctx
    return retry((_attempt, own) => this.#load(id, own), { attempts: 3, timeout: 1_000, signal, clock: system.clock })
  }
}

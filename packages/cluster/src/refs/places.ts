// The numbers that this node has for sessions: its own is 1, others get the next when they are first heard of, and none is used twice. Of
// sessions that have ended nothing is kept: whatever names one of them names nobody.

import { sameSession, type Session, sessionText } from '../values/session.ts'

/** Stands for every session that has ended. */
export const goneBy = 0
/** This node's own. */
export const here = 1

export class Places {
  readonly self: Session
  readonly #numbers = new Map<string, number>()
  readonly #sessions = new Map<number, Session>()
  #next = here + 1

  constructor(self: Session) {
    this.self = self
  }

  /** The number of a session, a new one if need be; whether it lives is for the caller to know. */
  add(session: Session): number {
    if (sameSession(session, this.self)) return here
    const key = sessionText(session)
    let number = this.#numbers.get(key)
    if (number !== undefined) return number
    number = this.#next++
    this.#numbers.set(key, number)
    this.#sessions.set(number, session)
    return number
  }

  number(session: Session): number | undefined {
    return sameSession(session, this.self) ? here : this.#numbers.get(sessionText(session))
  }

  session(number: number): Session | undefined {
    return number === here ? this.self : this.#sessions.get(number)
  }

  isGone(number: number): boolean {
    return number !== here && !this.#sessions.has(number)
  }

  /** The others, in the order in which they were heard of. */
  get others(): ReadonlyMap<number, Session> {
    return this.#sessions
  }

  end(session: Session): void {
    const number = this.#numbers.get(sessionText(session))
    if (number === undefined) return
    this.#numbers.delete(sessionText(session))
    this.#sessions.delete(number)
  }
}

// The inbox that every node has under the same number, so that nobody need look for it: mail is what nodes tell each other for sharded actors, for
// the receptionist and for topics. Mail to one node arrives in order. What has not left when its node is lost comes back to whoever sent it.

import { firstUid, makeRemoteRef, ProxyCell, taken } from '@troupe/border'
import type { Meta, SystemCore } from '@troupe/core/internal'
import type { NodeBorder } from '../refs/node-border.ts'
import { PassingCell } from '../refs/passing-cell.ts'
import { readSessionText, sameSession, type Session, sessionText } from '../values/session.ts'

/** The number of the inbox on every node. */
const inbox = 1

/** What kind of mail it is, and the rest, which is for whoever takes it to check. */
export type Mail = readonly [kind: string, ...rest: unknown[]]

/** What became of mail whose sender waits for an answer. */
export interface Answer {
  /** False where nothing came in time. A session that has ended has answered, with nothing. */
  readonly answered: boolean
  readonly value: unknown
}

export interface MailTaker {
  /** Takes mail that came; it is whoever takes it that says what became of a message in it. */
  came(mail: Mail, meta: Meta): void
  /** Takes mail that could not be sent, for its node is gone. */
  returned?(mail: Mail, meta: Meta): void
}

export class Post {
  readonly #core: SystemCore
  readonly #border: NodeBorder
  readonly #takers = new Map<string, MailTaker>()
  readonly #proxies = new Map<string, ProxyCell>()
  readonly #returns: PassingCell
  /** Who is waited for, and what is done when it has answered, or never will. */
  readonly #pings = new Map<number, { readonly to: Session; readonly done: (answered: boolean, value?: unknown) => void }>()
  #token = 0

  constructor(core: SystemCore, border: NodeBorder) {
    this.#core = core
    this.#border = border
    const cell = new PassingCell(core, 'cluster', (message, meta) => this.#came(message, meta))
    border.exports.reserve(cell, inbox)
    border.exchange.residents.export(cell)
    this.#returns = new PassingCell(core, 'returned', (message, meta) => this.#returned(message as Mail, meta))
    this.answer('ping', () => {})
    this.on('pong', {
      came: ([, token, value]) => {
        this.#core.ledger.handled++
        this.#pings.get(token as number)?.done(true, value)
      },
    })
  }

  /** Says who takes mail of a kind. */
  on(kind: string, taker: MailTaker): void {
    this.#takers.set(kind, taker)
  }

  /** Says what is done about mail of a kind whose sender waits until it was: see `answers`. What comes to false is not answered. */
  answer(kind: string, act: (...rest: readonly unknown[]) => void | Promise<unknown>): void {
    this.on(kind, {
      came: ([, from, token, ...rest]) => {
        this.#core.ledger.handled++
        const session = typeof from === 'string' ? readSessionText(from) : undefined
        if (session === undefined) return
        const done = act(...rest)
        const reply = (value?: unknown): void => void this.send(session, value === undefined ? ['pong', token] : ['pong', token, value])
        if (done === undefined) reply()
        else
          void done.then(
            (did) => void (did === false || reply(did)),
            () => reply(),
          )
      },
    })
  }

  /** Sends mail to a node; false where its session has ended. */
  send(to: Session, mail: Mail): boolean {
    const proxy = this.#proxy(to)
    proxy?.send(mail, undefined)
    return proxy !== undefined
  }

  /** Passes on a message, in mail, that was counted as sent before; returns the bytes it takes, 0 if it was refused, undefined where the session has ended. */
  pass(to: Session, mail: Mail, meta: Meta): number | undefined {
    return this.#proxy(to)?.pass(mail, meta)
  }
  /** True if mail to a node leaves at once. */
  isOpen(to: Session): boolean {
    return this.#proxy(to)?.wire.isOpen === true
  }

  /** Resolves when these nodes have taken all that was sent to them before, or `ms` have passed. */
  flushed(sessions: readonly Session[], ms: number): Promise<boolean> {
    return this.asked(sessions, 'ping', [], ms)
  }

  /** Resolves when these nodes have done what the mail says, or have ended: with true; with false where `ms` have passed. */
  async asked(sessions: readonly Session[], kind: string, rest: readonly unknown[], ms: number): Promise<boolean> {
    return (await this.answers(sessions, kind, rest, ms)).every(({ answered }) => answered)
  }

  /** Resolves with what each of these nodes says to the mail, within `ms`. */
  answers(sessions: readonly Session[], kind: string, rest: readonly unknown[], ms: number): Promise<readonly Answer[]> {
    const self = sessionText(this.#border.places.self)
    return Promise.all(
      sessions.map(
        (session) =>
          new Promise<Answer>((resolve) => {
            const token = ++this.#token
            const done = (answered: boolean, value?: unknown): void => {
              cancel()
              this.#pings.delete(token)
              resolve({ answered, value })
            }
            const cancel = this.#core.runtime.timer(ms, () => done(false))
            this.#pings.set(token, { to: session, done })
            if (!this.send(session, [kind, self, token, ...rest])) done(true)
          }),
      ),
    )
  }

  ended(session: Session): void {
    for (const { to, done } of this.#pings.values()) if (sameSession(to, session)) done(true)
    this.#proxies.delete(sessionText(session))
  }

  #proxy(to: Session): ProxyCell | undefined {
    const key = sessionText(to)
    let proxy = this.#proxies.get(key)
    if (proxy !== undefined) return proxy.phase === 'terminated' ? undefined : proxy
    const { exchange } = this.#border
    const place = this.#border.met(to)
    if (exchange.isLost(place)) return undefined
    const ref = makeRemoteRef(this.#core.nextUid(), `//${to.node}/cluster`, undefined)
    proxy = new ProxyCell(ref, exchange, place, firstUid(place) + inbox, { redirect: this.#returns.ref as never })
    exchange.whereabouts.adopt(proxy)
    this.#proxies.set(key, proxy)
    return proxy
  }

  #came(message: unknown, marked: Meta): void {
    // In the mailbox of an actor it is that mailbox's policy that bounds it.
    const meta = taken(marked)
    const kind: unknown = Array.isArray(message) ? message[0] : undefined
    const taker = typeof kind === 'string' ? this.#takers.get(kind) : undefined
    if (taker === undefined) this.#core.bury(message, meta, undefined, 'not-accepted')
    else taker.came(message as Mail, meta)
  }

  #returned(mail: Mail, meta: Meta): void {
    const taker = this.#takers.get(mail[0])
    if (taker?.returned === undefined) this.#core.drop(mail, meta, 'drain')
    else taker.returned(mail, meta)
  }
}

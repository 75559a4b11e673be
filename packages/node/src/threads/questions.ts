// Questions that cross the border. On the asker's side the question stays what it is, with a number; on the other side
// it has a mirror, a question of that thread whose answer goes back over the wire. Either side may end first: the other
// is told, so that an expired question is skipped and a dead one rejected at once.

import { Cancelled } from 'troupe'
import { type Cell, Envelope, PendingAsk } from 'troupe/internal'
import { type Channel, record } from './channel.ts'
import type { Exchange } from './exchange.ts'
import { NotTransferable } from './errors.ts'

interface Gone {
  readonly ask: PendingAsk
  readonly channel: Channel
}

export class Questions {
  readonly #exchange: Exchange
  /** Asked here, under way or being answered there. */
  readonly #gone = new Map<number, Gone>()
  /** Asked elsewhere, being answered here. */
  readonly #mirrors = new Map<Channel, Map<number, PendingAsk>>()
  readonly #chains = new WeakMap<PendingAsk, readonly string[]>()
  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  get pending(): number {
    return this.#gone.size
  }

  /** A question goes over; returns its number. */
  leaving(ask: PendingAsk, channel: Channel): number {
    const id = this.#exchange.addresses.idOf(ask)
    const known = this.#gone.get(id)
    this.#gone.set(id, { ask, channel })
    if (known !== undefined) return id
    const { resolve, reject } = ask
    const settled = (): Channel | undefined => {
      const way = this.#gone.get(id)?.channel
      this.#gone.delete(id)
      this.#exchange.addresses.forget(id)
      return way
    }
    ask.resolve = (answer) => {
      settled()
      resolve?.(answer)
    }
    ask.reject = (cause) => {
      // Whoever is to answer need not.
      settled()?.control({ op: 'ask.cancelled', id })
      reject?.(cause)
    }
    return id
  }

  /** Who asked whom on the way to this question, by path; for the detection of cycles. */
  chainOf(ask: PendingAsk): readonly string[] {
    const asker = ask.edge?.asker
    if (asker === undefined) return []
    const answering = asker.meta instanceof Envelope ? asker.meta.asked() : undefined
    const before = answering === undefined ? undefined : this.#chains.get(answering)
    return [...(before ?? []), asker.cell.ref.path]
  }

  /** A question has come: its stand-in here, for an actor of this thread. */
  mirror(channel: Channel, id: number, target: Cell, remaining: number, headers: PendingAsk['headers'], chain: readonly string[]): PendingAsk {
    const { host } = target.dispatcher
    const mirrors = this.#mirrorsOf(channel)
    const resolve = (answer: unknown): void => {
      mirrors.delete(id)
      try {
        channel.valued((w) => {
          w.byte(record.answer)
          w.whole(id)
        }, answer)
      } catch (cause) {
        this.#refuse(channel, id, cause)
        host.logger.error({ actor: mirror.target.ref.path, cause }, 'an answer could not go to the thread that asked')
      }
    }
    const reject = (cause: unknown): void => {
      mirrors.delete(id)
      this.#refuse(channel, id, cause)
    }
    const mirror: PendingAsk = new PendingAsk(target, headers, Math.round(remaining), resolve, reject)
    mirrors.set(id, mirror)
    mirror.link()
    host.timers.set(mirror, host.runtime.now() + remaining)
    this.#chains.set(mirror, chain)
    const { path } = target.ref
    if (chain.includes(path)) {
      const cycle = [...chain.slice(chain.indexOf(path)), path].join(' → ')
      host.logger.warn({ actor: path, cycle }, `a question came back to ${path}, which waits for its answer: ${cycle}. It will end by its timeout.`)
    }
    return mirror
  }

  mirrorOf(channel: Channel, id: number): PendingAsk | undefined {
    return this.#mirrors.get(channel)?.get(id)
  }
  #mirrorsOf(channel: Channel): Map<number, PendingAsk> {
    let mirrors = this.#mirrors.get(channel)
    if (mirrors === undefined) this.#mirrors.set(channel, (mirrors = new Map()))
    return mirrors
  }

  #refuse(channel: Channel, id: number, cause: unknown): void {
    const write = (value: unknown): void =>
      void channel.valued((w) => {
        w.byte(record.refusal)
        w.whole(id)
      }, value)
    if (channel.state === 'closed') return
    try {
      write(cause)
    } catch (trouble) {
      write(trouble instanceof NotTransferable ? new Error(`A cause that cannot go to another thread: ${trouble.what}`) : trouble)
    }
  }

  /** The answer has come. It was counted where it was given. */
  answered(id: number, answer: unknown): void {
    const ask = this.#gone.get(id)?.ask
    if (ask === undefined || ask.settled) return
    const { ledger } = ask.target.dispatcher
    this.#gone.delete(id)
    ask.tell(answer)
    ledger.sent--
    ledger.handled--
  }
  refused(id: number, cause: unknown): void {
    const gone = this.#gone.get(id)
    if (gone === undefined) return
    this.#gone.delete(id)
    gone.ask.fail(cause)
  }
  cancelled(channel: Channel, id: number): void {
    const mirror = this.#mirrors.get(channel)?.get(id)
    if (mirror === undefined) return
    mirror.reject = () => void this.#mirrors.get(channel)?.delete(id)
    mirror.fail(new Cancelled('The question'))
  }

  /** A thread is lost: what it was asked gets no answer, and nobody waits for what it asked. */
  lost(channel: Channel, cause: unknown): void {
    for (const [id, gone] of this.#gone) {
      if (gone.channel !== channel) continue
      this.#gone.delete(id)
      gone.ask.fail(cause)
    }
    const mirrors = this.#mirrors.get(channel)
    this.#mirrors.delete(channel)
    for (const mirror of mirrors?.values() ?? []) {
      mirror.reject = () => {}
      mirror.fail(cause)
    }
  }
}

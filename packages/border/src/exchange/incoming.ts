// What comes in by a way: each record is read, checked, and given to whom it is for. Whatever cannot be read, is in no list or
// is not of its shape throws, and then the way it came by is not read any further.

import type { AnyRef } from '@troupe/core'
import { fuse, type Meta, PendingAsk, poison, poisonPill, Told } from '@troupe/core/internal'
import { Arrivals } from '../way/arrivals.ts'
import { type Crossing, record } from '../way/crossing.ts'
import type { Reader } from '../codec/reader.ts'
import { checkControl, type ControlOf, type Op } from '../way/control.ts'
import { BadRecord } from '../errors.ts'
import type { Exchange } from './exchange.ts'
import { metaKind } from '../way/link.ts'
import type { QuestionMark } from '../questions/questions.ts'

type Handler<O extends Op> = (content: ControlOf<O>, crossing: Crossing) => void

export class Incoming {
  readonly #exchange: Exchange
  readonly #handlers = new Map<Op, Handler<Op>>()
  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  /** Says who takes the records of a name. One that nobody takes is as bad as one that does not exist. */
  on<O extends Op>(op: O, handler: Handler<O>): void {
    this.#handlers.set(op, handler as unknown as Handler<Op>)
  }

  readonly take = (crossing: Crossing, kind: number, reader: Reader): void => {
    // Counted from the first byte, as the sender does: what is given back must be what was taken.
    const start = reader.position - 1
    switch (kind) {
      case record.message: {
        const arrivals = this.#arrivalsOf(crossing, reader)
        const message = reader.value()
        return arrivals.take(message, undefined, reader.position - start + crossing.weight)
      }
      case record.envelope:
        return this.#takeEnvelope(this.#arrivalsOf(crossing, reader), reader, start)
      case record.credit: {
        const link = crossing.link(reader.whole())
        const messages = reader.whole()
        const bytes = reader.whole()
        link?.grant(messages, bytes)
        return
      }
      case record.answer: {
        const id = reader.whole()
        return this.#exchange.questions.answerCame(id, reader.value())
      }
      case record.refusal: {
        const id = reader.whole()
        return this.#exchange.questions.refusalCame(id, reader.value())
      }
      case record.control: {
        const content = crossing.controlIn(checkControl(reader.value()))
        const handler = this.#handlers.get(content.op)
        if (handler === undefined) throw new BadRecord(`record "${content.op}" is not for this thread`)
        return handler(content, crossing)
      }
      case record.link: {
        const id = reader.whole()
        const uid = crossing.numberIn(reader.double())
        crossing.linkCame(new Arrivals(crossing, id, uid, reader.whole(), this.#exchange.residents.cell(uid)))
        this.#exchange.whereabouts.linkedBy(uid, crossing)
        return
      }
      case record.unlink:
        return crossing.linkWent(reader.whole())
      case record.address: {
        const id = reader.whole()
        return this.#takeForAddress(crossing, id, reader.value())
      }
      default:
        throw new BadRecord(`there is no record of kind ${kind}`)
    }
  }

  /** The link that a message comes by, and by now who it is for: a question belongs to its actor from the first. */
  #arrivalsOf(crossing: Crossing, reader: Reader): Arrivals {
    const id = reader.whole()
    const arrivals = crossing.arrivalsBy(id)
    if (arrivals === undefined) throw new BadRecord(`a message came for link ${id}, which was never opened`)
    if (arrivals.cell === undefined && arrivals.early === undefined) this.#exchange.whereabouts.lookFor(arrivals)
    return arrivals
  }
  #takeEnvelope(arrivals: Arrivals, reader: Reader, start: number): void {
    const kind = reader.byte()
    let meta: Meta
    let mark: QuestionMark | undefined
    if (kind === metaKind.sender) meta = reader.value() as AnyRef
    else if (kind === metaKind.envelope) meta = new Told(reader.value() as AnyRef, reader.value() as never, reader.value() as number)
    else if (kind === metaKind.poison) meta = poison
    else if (kind === metaKind.ask) {
      const { questions, core } = this.#exchange
      mark = { origin: arrivals.crossing.placeIn(reader.whole()), id: reader.whole() }
      const remaining = reader.double()
      meta = questions.arrived(mark, arrivals.cell ?? core.guardian, arrivals.uid, remaining, reader.value() as never)
    } else throw new BadRecord(`there is no envelope of kind ${kind}`)
    const message = reader.value()
    // Somebody may follow it to where it came from: its headers say so.
    const followed = arrivals.cell === undefined ? undefined : fuse.sampler?.arrived?.(arrivals.cell, message, meta)
    arrivals.take(kind === metaKind.poison ? poisonPill : message, followed ?? meta, reader.position - start + arrivals.crossing.weight)
    if (mark !== undefined && meta instanceof PendingAsk) this.#exchange.deadlocks.came(meta, mark.origin, mark.id)
  }
  #takeForAddress(crossing: Crossing, id: number, message: unknown): void {
    const { addresses, core } = this.#exchange
    crossing.received++
    const address = addresses.get(id)
    if (address === undefined) return core.bury(message, undefined, undefined, 'late-reply')
    // It counts itself as sent, and was counted where it was sent.
    core.ledger.sent--
    address.tell(message)
  }
}

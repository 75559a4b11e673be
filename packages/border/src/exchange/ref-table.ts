// Refs on the wire: who is who on both ends. An actor is named by its uid, which holds in all threads; an answer
// address or adapter by a number that its own thread knows it by.

import type { AnyRef, Phase } from '@troupe/core'
import { Adapter, HandleRef, LocalRef, PendingAsk } from '@troupe/core/internal'
import type { Crossing } from '../way/crossing.ts'
import type { Reader } from '../codec/reader.ts'
import { tag } from '../codec/tags.ts'
import type { Writer } from '../codec/writer.ts'
import { AddressRef } from '../values/address-ref.ts'
import { Definition } from '../values/definition.ts'
import type { Exchange } from './exchange.ts'
import { HostedCell } from '../lives/hosted.ts'
import { LastingCell } from '../way/lives.ts'
import { ProxyCell } from '../way/remote-ref.ts'
import { isActorRef } from '../values/is-ref.ts'
import { phases } from '../values/phases.ts'
import { StubCell } from '../lives/stub.ts'

const kind = { defined: 0, known: 1, address: 2, once: 3, definition: 4, other: 5, lasting: 6 } as const
const unknown = -1

export class RefTable {
  readonly #exchange: Exchange
  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  /** Writes a ref; false if the value is none. What is written apart from the way is not remembered by it. */
  write(crossing: Crossing, writer: Writer, value: object, remembers: boolean): boolean {
    if (isActorRef(value)) {
      writer.byte(tag.ref)
      const text = this.#exchange.otherRefs?.write(value.cell)
      if (text !== undefined) {
        writer.byte(kind.other)
        writer.text(text)
        return true
      }
      // Before the ref itself, so that its watchers are noticed from the start.
      if (value.cell instanceof LastingCell || (this.#exchange.isProxy(value.cell) && value.cell.lives !== undefined)) writer.byte(kind.lasting)
      const slot = remembers ? crossing.slots.slotOf(value.uid) : undefined
      if (slot !== undefined) {
        writer.byte(kind.known)
        writer.whole(slot)
      } else if (remembers) this.#define(crossing, writer, value)
      else {
        writer.byte(kind.once)
        this.#describe(crossing, writer, value)
      }
      return true
    }
    if (Definition.is(value)) {
      this.#point(crossing, writer, value)
      return true
    }
    const { addresses, epoch, questions } = this.#exchange
    if (AddressRef.is(value)) {
      if (value.isOf(this.#exchange)) return writeAddress(writer, crossing.placeOut(value.thread), value.id, value.path)
      return writeAddress(writer, crossing.placeOut(epoch), addresses.idOf(value), value.path)
    }
    // A question of another thread is answered there, wherever it goes from here.
    if (questions.isMirror(value)) return writeAddress(writer, crossing.placeOut(value.origin), value.id, value.path)
    if (!(value instanceof PendingAsk || value instanceof Adapter)) return false
    return writeAddress(writer, crossing.placeOut(epoch), addresses.idOf(value), value.path)
  }

  #define(crossing: Crossing, writer: Writer, ref: LocalRef): void {
    const slot = crossing.slots.define(ref.uid)
    writer.regret(() => crossing.slots.undefine(ref.uid, slot))
    writer.byte(kind.defined)
    writer.whole(slot)
    this.#describe(crossing, writer, ref)
  }
  #describe(crossing: Crossing, writer: Writer, ref: LocalRef): void {
    const at = this.#locationOf(ref, crossing)
    this.#exchange.whereabouts.held.described(ref.cell, crossing, writer)
    writer.double(crossing.numberOut(this.#exchange.numberOf(ref.cell)))
    // 0: not known now. Its home is asked then; a detour by it would be overtaken.
    writer.whole(at === unknown ? 0 : crossing.placeOut(at) + 1)
    writer.byte(phases.indexOf(ref.cell.phaseSeen))
    writer.text(crossing.names === undefined || this.#exchange.isProxy(ref.cell) ? ref.path : crossing.names.pathOut(ref.path))
    // The methods of a class actor go along, so that its handle is one there as well; 0: it is none.
    const methods = methodsOf(ref)
    writer.whole(methods === undefined ? 0 : methods.length + 1)
    if (methods !== undefined) for (const name of methods) writer.text(name)
  }
  /** Says which definition is meant; the first time it is posted beside the bytes. */
  #point(crossing: Crossing, writer: Writer, definition: Definition): void {
    let id = crossing.definitions.numberOf(definition)
    if (id === undefined) {
      id = crossing.definitions.add(definition)
      writer.regret(() => crossing.definitions.forget(definition))
      writer.freight.origins.push({ id, url: definition.url, name: definition.name })
    }
    writer.byte(tag.ref)
    writer.byte(kind.definition)
    writer.whole(id)
  }

  read(crossing: Crossing, reader: Reader): unknown {
    return this.#read(crossing, reader, reader.byte())
  }
  #read(crossing: Crossing, reader: Reader, which: number): unknown {
    switch (which) {
      case kind.lasting: {
        const inner = reader.byte()
        const ref = inner === kind.lasting ? undefined : this.#read(crossing, reader, inner)
        if (!(ref instanceof LocalRef)) throw reader.bad('a ref that cannot outlive its actor')
        if (!this.#exchange.isProxy(ref.cell)) return ref
        ref.cell.lasts()
        if (inner !== kind.known) this.#exchange.whereabouts.held.read(ref.cell)
        return ref
      }
      case kind.known: {
        const ref = crossing.slots.at(reader.whole())
        if (ref === undefined) throw reader.bad('a ref that was never defined')
        return ref
      }
      case kind.defined: {
        const slot = reader.whole()
        if (!crossing.slots.came(slot, () => this.#described(crossing, reader))) throw reader.bad('a ref that cannot be defined')
        return crossing.slots.at(slot)
      }
      case kind.other: {
        const { otherRefs } = this.#exchange
        if (otherRefs === undefined) throw reader.bad('a ref of a kind that is not known here')
        return otherRefs.read(reader.text())
      }
      case kind.once:
        return this.#described(crossing, reader)
      case kind.definition: {
        const definition = crossing.definitions.get(reader.whole())
        if (definition === undefined) throw reader.bad('code that nobody has defined')
        return definition
      }
      case kind.address: {
        const thread = crossing.placeIn(reader.whole())
        const id = reader.whole()
        return this.#address(thread, id, reader.text())
      }
      default:
        throw reader.bad('an unknown kind of ref')
    }
  }
  #described(crossing: Crossing, reader: Reader): AnyRef {
    const told = reader.double()
    const where = reader.whole() - 1
    const phase = phases[reader.byte()] ?? 'running'
    const path = reader.text()
    const count = reader.count(1)
    if (!Number.isSafeInteger(told) || told < 0) throw reader.bad('a ref of no actor')
    const uid = crossing.numberIn(told)
    const at = where < 0 ? unknown : crossing.placeIn(where)
    const methods = count === 0 ? undefined : Array.from({ length: count - 1 }, () => reader.text())
    return this.actor(uid, at, path, methods, phase, crossing.peer)
  }

  /** Where messages for this actor go, as far as is known; makes an actor of this thread reachable from others. */
  #locationOf(ref: LocalRef, crossing: Crossing): number {
    const { epoch, residents, whereabouts } = this.#exchange
    const { cell } = ref
    if (this.#exchange.isProxy(cell)) return cell.at ?? unknown
    if (cell instanceof HostedCell) return epoch
    if (cell.phase === 'terminated') residents.remember(cell)
    else {
      // It lives on a thread of this node: its end is known by what stands here for it.
      if (cell instanceof ProxyCell && !residents.isExported(this.#exchange.numberOf(cell))) whereabouts.diesWith(cell)
      residents.export(cell)
      if (crossing.peer === 0) whereabouts.show(ref.uid)
    }
    return cell instanceof StubCell ? (cell.at ?? unknown) : epoch
  }

  /** The one ref of this thread for an actor of any. */
  actor(uid: number, at: number, path: string, methods: readonly string[] | undefined, phase: Phase, from: number): AnyRef {
    const { exchange } = { exchange: this.#exchange }
    return exchange.residents.ref(uid) ?? exchange.whereabouts.remote(uid, at, path, methods, phase, from)
  }

  #address(thread: number, id: number, path: string): unknown {
    const { exchange } = { exchange: this.#exchange }
    if (thread === exchange.epoch) return exchange.addresses.get(id) ?? new AddressRef(exchange, thread, id, path)
    return exchange.questions.mirrorOf(thread, id) ?? new AddressRef(exchange, thread, id, path)
  }
}

/** The methods of a class actor; undefined for any other. */
function methodsOf(ref: LocalRef): readonly string[] | undefined {
  return ref instanceof HandleRef ? ref.protocol.names : undefined
}

function writeAddress(writer: Writer, thread: number, id: number, path: string): true {
  writer.byte(tag.ref)
  writer.byte(kind.address)
  writer.whole(thread)
  writer.whole(id)
  writer.text(path)
  return true
}

// Refs on the wire: who is who on both ends. An actor is named by its uid, which holds in all threads; an answer
// address or adapter by a number that its own thread knows it by.

import type { AnyRef, Phase } from '@troupe/core'
import { Adapter, HandleRef, type LocalRef, PendingAsk } from '@troupe/core/internal'
import type { Channel } from '../way/channel.ts'
import type { Reader } from '../codec/reader.ts'
import { tag } from '../codec/tags.ts'
import type { Writer } from '../codec/writer.ts'
import { AddressRef } from '../values/address-ref.ts'
import { Definition } from '../values/definition.ts'
import type { Exchange } from './exchange.ts'
import { HostedCell } from '../lives/hosted.ts'
import { isActorRef } from '../values/is-ref.ts'
import { Mirror } from '../questions/mirror.ts'
import { phases } from '../values/phases.ts'
import { ProxyCell } from '../way/remote-ref.ts'
import { StubCell } from '../lives/stub.ts'

const kind = { defined: 0, known: 1, address: 2, once: 3, definition: 4 } as const
const slots = 1024
const unknown = -1

export class RefTable {
  readonly #exchange: Exchange
  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  /** Writes a ref; false if the value is none. What is written apart from the way is not remembered by it. */
  write(channel: Channel, writer: Writer, value: object, remembers: boolean): boolean {
    if (isActorRef(value)) {
      writer.byte(tag.ref)
      const slot = remembers ? channel.refSlots.get(value.uid) : undefined
      if (slot !== undefined) {
        writer.byte(kind.known)
        writer.whole(slot)
      } else if (remembers) this.#define(channel, writer, value)
      else {
        writer.byte(kind.once)
        this.#describe(channel, writer, value)
      }
      return true
    }
    if (Definition.is(value)) {
      this.#point(channel, writer, value)
      return true
    }
    if (AddressRef.is(value)) return writeAddress(writer, value.thread, value.id, value.path)
    // A question of another thread is answered there, wherever it goes from here.
    if (value instanceof Mirror) return writeAddress(writer, value.origin, value.id, value.path)
    if (!(value instanceof PendingAsk || value instanceof Adapter)) return false
    return writeAddress(writer, this.#exchange.epoch, this.#exchange.addresses.idOf(value), value.path)
  }

  #define(channel: Channel, writer: Writer, ref: LocalRef): void {
    const slot = channel.nextSlot
    channel.nextSlot = (slot + 1) % slots
    const before = channel.slotUids[slot]
    if (before !== undefined) channel.refSlots.delete(before)
    channel.slotUids[slot] = ref.uid
    channel.refSlots.set(ref.uid, slot)
    writer.regret(() => {
      channel.refSlots.delete(ref.uid)
      if (channel.slotUids[slot] === ref.uid) channel.slotUids[slot] = -1
    })
    writer.byte(kind.defined)
    writer.whole(slot)
    this.#describe(channel, writer, ref)
  }
  #describe(channel: Channel, writer: Writer, ref: LocalRef): void {
    writer.double(ref.uid)
    // 0: not known now. Its home is asked then; a detour by it would be overtaken.
    writer.whole(this.#locationOf(ref, channel) + 1)
    writer.byte(phases.indexOf(ref.cell.phaseSeen))
    writer.text(ref.path)
    // The methods of a class actor go along, so that its handle is one there as well; 0: it is none.
    const methods = methodsOf(ref)
    writer.whole(methods === undefined ? 0 : methods.length + 1)
    if (methods !== undefined) for (const name of methods) writer.text(name)
  }
  /** Says which definition is meant; the first time it is posted beside the bytes. */
  #point(channel: Channel, writer: Writer, definition: Definition): void {
    let id = channel.definitions.numberOf(definition)
    if (id === undefined) {
      id = channel.definitions.add(definition)
      writer.regret(() => channel.definitions.forget(definition))
      writer.freight.origins.push({ id, url: definition.url, name: definition.name })
    }
    writer.byte(tag.ref)
    writer.byte(kind.definition)
    writer.whole(id)
  }

  read(channel: Channel, reader: Reader): unknown {
    switch (reader.byte()) {
      case kind.known: {
        const ref = channel.slotRefs[reader.whole()]
        if (ref === undefined) throw reader.bad('a ref that was never defined')
        return ref
      }
      case kind.defined: {
        const slot = reader.whole()
        if (slot >= slots) throw reader.bad('a ref that cannot be defined')
        return (channel.slotRefs[slot] = this.#described(channel, reader))
      }
      case kind.once:
        return this.#described(channel, reader)
      case kind.definition: {
        const definition = channel.definitions.get(reader.whole())
        if (definition === undefined) throw reader.bad('code that nobody has defined')
        return definition
      }
      case kind.address: {
        const thread = reader.whole()
        const id = reader.whole()
        return this.#address(thread, id, reader.text())
      }
      default:
        throw reader.bad('an unknown kind of ref')
    }
  }
  #described(channel: Channel, reader: Reader): AnyRef {
    const uid = reader.double()
    const at = reader.whole() - 1
    const phase = phases[reader.byte()] ?? 'running'
    const path = reader.text()
    const count = reader.count(1)
    if (!Number.isSafeInteger(uid) || uid < 0) throw reader.bad('a ref of no actor')
    const methods = count === 0 ? undefined : Array.from({ length: count - 1 }, () => reader.text())
    return this.actor(uid, at, path, methods, phase, channel.peer)
  }

  /** Where messages for this actor go, as far as is known; makes an actor of this thread reachable from others. */
  #locationOf(ref: LocalRef, channel: Channel): number {
    const { epoch, residents, whereabouts } = this.#exchange
    const { cell } = ref
    if (cell instanceof ProxyCell) return cell.at ?? unknown
    if (cell instanceof HostedCell) return epoch
    if (cell.phase === 'terminated') residents.remember(cell)
    else {
      residents.export(cell)
      if (channel.peer === 0) whereabouts.show(ref.uid)
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

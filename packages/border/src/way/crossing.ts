// One thread's end of the way to one other: records are written into a buffer here, go over as frames when the
// turn is over, and are read there in the order in which they were sent. That a record is written whole or not at all is the
// record writer's concern; what goes beside the bytes, that of the freight port.

import { weightOf } from '../codec/freight.ts'
import { refusal, safeString } from '../codec/trouble.ts'
import type { Writer } from '../codec/writer.ts'
import { type RefReader, Reader } from '../codec/reader.ts'
import type { Arrivals } from './arrivals.ts'
import { type Control, renamed } from './control.ts'
import { Definitions } from '../values/definition.ts'
import { FreightPort } from './freight-port.ts'
import type { Link } from './link.ts'
import type { ByteStream, Line, LineEnd } from './line.ts'
import { type Names, numberIn, numberOut } from './names.ts'
import { record, RecordWriter } from './record-writer.ts'
import type { RefTable } from '../exchange/ref-table.ts'
import { snapshot } from '../values/snapshot.ts'
import { RefSlots } from './ref-slots.ts'
import { hasTransfers, takeTransfer } from '../values/transfer.ts'

export { record }

/** Bytes after which a buffer goes over at once, while the sender goes on. */
const eager = 16 * 1024

/** One end of the way between two places. */
export class Crossing {
  readonly peer: number
  /** Undefined where both ends have the same numbers. */
  readonly names: Names | undefined
  readonly writer: Writer
  readonly reader: Reader
  /** Messages that went this way and came this way, for the ledger. */
  sent = 0
  received = 0
  readonly slots: RefSlots = new RefSlots()
  /** Ways to actors over there, and from there to actors here, by the numbers that both ends know. */
  readonly #links = new Map<number, Link>()
  /** The latest link to each actor, open or with messages under way. */
  readonly #latest = new Map<number, Link>()
  #nextLink = 0
  readonly #arrivals = new Map<number, Arrivals>()
  state: 'connecting' | 'open' | 'closed' = 'connecting'
  #line: Line | undefined
  #out: ByteStream | undefined
  #in: ByteStream | undefined
  readonly definitions: Definitions = new Definitions()
  readonly #freight = new FreightPort(this.definitions)
  readonly #refs: RefTable
  readonly #records: RecordWriter
  /** Where the frame ends that is being read; 0 between frames. */
  #frameEnd = 0
  /** How much of the buffer has gone over. */
  #gone = 0
  /** What is written did not fit when it last was to go. */
  #lacksRoom = false
  readonly #later: (crossing: Crossing) => void
  #scheduled = false
  #wanted = false
  /** Called when there is room again for what wanted it. */
  onRoom: () => void = () => {}

  constructor(peer: number, refs: RefTable, later: (crossing: Crossing) => void, names?: Names) {
    this.peer = peer
    this.names = names
    this.#refs = refs
    this.#later = later
    this.#records = new RecordWriter(this.#freight, (writer, value, remembers) => refs.write(this, writer, value, remembers))
    this.writer = this.#records.writer
    this.reader = new Reader(this.#refReader)
  }
  /** Bytes that went beside those of the record being read. */
  weight = 0
  get #refReader(): RefReader {
    return {
      readRef: (reader) => this.#refs.read(this, reader),
      readFreight: () => {
        const leaves = this.#freight.take()
        this.weight += weightOf(leaves)
        return leaves
      },
    }
  }

  open({ line, side }: LineEnd, onWake: () => void): void {
    this.#line = line
    this.#out = line.out
    this.#in = line.in
    this.#freight.open(side)
    line.open(onWake)
    this.#records.largest = line.largest ?? this.#out.size / 2
    // A line that says what fits has nothing beside it: what fits goes with the bytes.
    if (line.largest !== undefined) this.#records.writer.heavy = line.largest
    this.state = 'open'
    this.#schedule()
  }

  close(): void {
    this.state = 'closed'
    this.#line?.close()
    this.#freight.close()
  }

  /** Whether another message may be written: what is under way is bounded. */
  get hasRoom(): boolean {
    return this.state === 'open' && this.writer.position - this.#gone < this.#out!.size
  }
  /** Says that something waits for room here: then `onRoom` is called. Returns that there is none. */
  wantRoom(): false {
    this.#wanted = true
    return false
  }
  get hasIncoming(): boolean {
    return this.state === 'open' && (this.#frameEnd > 0 || this.#in!.used > 0)
  }
  /** Bytes that are written here and have not gone, that have gone and were not read there, and that came and were not read here. */
  get standing(): { readonly unsent: number; readonly unread: number; readonly incoming: number } {
    return { unsent: this.writer.position - this.#gone, unread: this.#out?.used ?? 0, incoming: this.#in?.used ?? 0 }
  }

  // What places and actors are called here and on the way.

  placeOut(place: number): number {
    return this.names === undefined ? place : this.names.placeOut(place)
  }
  placeIn(told: number): number {
    return this.names === undefined ? told : this.names.placeIn(told)
  }
  numberOut(number: number): number {
    return numberOut(this.names, number)
  }
  numberIn(told: number): number {
    return numberIn(this.names, told)
  }
  /** A control record that came, with the numbers of this place. */
  controlIn(content: Control): Control {
    if (this.names === undefined) return content
    return renamed(
      content,
      (place) => this.placeIn(place),
      (number) => this.numberIn(number),
    )
  }
  #controlOut(content: Control): Control {
    if (this.names === undefined) return content
    return renamed(
      content,
      (place) => this.placeOut(place),
      (number) => this.numberOut(number),
    )
  }

  // Links: ways of one actor's messages, which share this one.

  /** Takes a link that is made here; returns its number. */
  linked(link: Link): number {
    const id = this.#nextLink++
    this.#links.set(id, link)
    this.#latest.set(link.uid, link)
    return id
  }
  /** A link is closed, and all its credit is back. */
  unlinked(link: Link): void {
    this.#links.delete(link.id)
    if (this.#latest.get(link.uid) === link) this.#latest.delete(link.uid)
  }
  /** The latest link to an actor. */
  linkTo(uid: number): Link | undefined {
    return this.#latest.get(uid)
  }
  link(id: number): Link | undefined {
    return this.#links.get(id)
  }
  get links(): readonly Link[] {
    return [...this.#links.values()]
  }
  /** The peer has made a link to an actor here, or closed it. */
  linkCame(arrivals: Arrivals): void {
    this.#arrivals.set(arrivals.id, arrivals)
  }
  linkWent(id: number): void {
    this.#arrivals.get(id)?.end()
    this.#arrivals.delete(id)
  }
  /** The number of links that the peer has to actors here. */
  get incomingLinks(): number {
    return this.#arrivals.size
  }
  arrivalsBy(id: number): Arrivals | undefined {
    return this.#arrivals.get(id)
  }

  /** Writes a record that needs no value of the user's. */
  plain(write: (writer: Writer) => void): void {
    if (this.state !== 'closed') this.#record(write)
  }

  /** Writes a control record; what cannot go over in one of its fields is told by its text. */
  control(given: Control): void {
    if (this.state === 'closed') return
    const content = this.#controlOut(given)
    const write =
      (told: object) =>
      (writer: Writer): void => {
        writer.byte(record.control)
        writer.lenient = true
        writer.value(told)
      }
    try {
      this.#record(write(content))
    } catch {
      // Something in it fails to be read at all.
      this.#record(write(Object.fromEntries(Object.entries(content).map(([name, value]) => [name, orText(value)]))))
    }
  }

  /** Writes a control record that must arrive as it is. Throws `NotTransferable`, and then nothing was written. */
  order(content: Control, subject: string): void {
    if (this.state === 'closed') return
    try {
      this.#record((writer) => {
        writer.byte(record.control)
        writer.value(content)
      })
    } catch (cause) {
      throw refusal(cause, [], subject)
    }
  }

  /** Writes a message to a link; returns its size. Throws `NotTransferable`, and then nothing was written. */
  message(link: number, value: unknown): number {
    if (this.writer.busy || hasTransfers()) {
      return this.valued((w) => {
        w.byte(record.message)
        w.whole(link)
      }, value)
    }
    try {
      return this.#records.message(link, value)
    } finally {
      this.#wrote()
    }
  }

  /** Writes a record that ends with a value of the user's; otherwise as `message`. */
  valued(head: (writer: Writer) => void, value: unknown): number {
    const transfer = takeTransfer(value)
    try {
      return this.#record((writer) => {
        head(writer)
        writer.transfer = transfer
        writer.value(value)
      })
    } catch (cause) {
      throw refusal(cause)
    }
  }

  #record(write: (writer: Writer) => void): number {
    try {
      return this.#records.write(write)
    } finally {
      // Also of a record that failed: others may have been told meanwhile.
      this.#wrote()
    }
  }
  #wrote(): void {
    if (this.writer.position - this.#gone > eager) this.flush()
    this.#schedule()
  }
  #schedule(): void {
    if (this.#scheduled || this.state !== 'open' || this.writer.position === this.#gone) return
    this.#scheduled = true
    this.#later(this)
  }

  /** Lets go over what is written, as far as there is room, and wakes the peer if it sleeps. Whether anything went. */
  flush(): boolean {
    const { writer } = this
    // Half a record does not go.
    if (this.state !== 'open' || writer.busy || writer.position === this.#gone) return false
    const out = this.#out!
    let went = out.write(writer.buffer, this.#gone, writer.position)
    this.#gone += went
    this.#lacksRoom = this.#gone < writer.position
    if (this.#lacksRoom) {
      out.waitForRoom()
      // The reader may have made room between the two, and then nobody would tell us.
      const more = out.write(writer.buffer, this.#gone, writer.position)
      this.#gone += more
      went += more
    }
    if (this.#gone === writer.position) {
      this.#gone = 0
      this.#lacksRoom = false
      writer.empty()
    }
    this.ring()
    return went > 0
  }
  /** Lets go what there was no room for before. Whether anything went: then the peer has made room, and may have rung somebody who was awake. */
  retry(): boolean {
    return this.#lacksRoom && this.flush()
  }
  flushed(): void {
    this.#scheduled = false
    this.flush()
  }
  /** Wakes the peer if it sleeps. */
  ring(): void {
    this.#line!.ring()
  }

  /** Wakes the peer even if it was rung for: by a thread, maybe, that is gone and took the wake with it. */
  nudge(): void {
    if (this.state === 'open') this.#line!.nudge()
  }

  /** Reads the records that have come, up to a number of bytes, and calls back for each record. Returns how many bytes came. */
  drain(most: number, onRecord: OnRecord): number {
    if (this.state !== 'open') return 0
    const { reader } = this
    const incoming = this.#in!
    let bytes = 0
    while (bytes < most) {
      if (this.#frameEnd === 0) {
        const frame = incoming.next()
        if (frame === undefined) break
        this.#frameEnd = incoming.frameLength
        reader.begin(frame, this.#frameEnd)
      }
      const start = reader.position
      const until = Math.min(this.#frameEnd, start + most - bytes)
      while (reader.position < until) this.#read(reader, onRecord)
      bytes += reader.position - start
      if (reader.position >= this.#frameEnd) this.#frameEnd = 0
    }
    if (incoming.takeWait()) this.ring()
    if (this.#gone > 0 || this.writer.position > 0) this.flush()
    if (this.#wanted && this.hasRoom) {
      this.#wanted = false
      this.onRoom()
    }
    return bytes
  }
  #read(reader: Reader, onRecord: OnRecord): void {
    const kind = reader.byte()
    this.weight = 0
    this.#freight.begin()
    if (kind === record.large) return reader.within(this.#freight.takeRecord(), () => onRecord(this, reader.byte(), reader))
    if (kind !== record.apart) return onRecord(this, kind, reader)
    const length = reader.count(1)
    const start = reader.skip(length)
    // It knows nothing of what was defined on the way, and nothing that it defines is known.
    const own = new Reader(this.#refReader)
    own.begin(reader.buffer.subarray(start, start + length))
    onRecord(this, own.byte(), own)
  }
}

type OnRecord = (crossing: Crossing, kind: number, reader: Reader) => void

function orText(value: unknown): unknown {
  try {
    return snapshot(value)
  } catch {
    return safeString(value)
  }
}

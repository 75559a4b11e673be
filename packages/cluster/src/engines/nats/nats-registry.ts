// The registry on a JetStream bucket. Writes are publishes with the last sequence they expect and with their own time to live, because
// `kv.update` of the client carries none; reads ask the leader of the stream, because any other copy may be behind.

import { JetStreamApiError, type JetStreamClient, type JetStreamManager, jetstream, type StoredMsg } from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import { headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node'
import type { Entry, Hint, Registry, Revision, Watch, WriteOptions } from '../../ports/registry.ts'
import type { Timing } from '../../ports/timing.ts'
import { RegistryConflict, RegistryUnavailable } from '../../values/errors.ts'
import { lastMessages } from './nats-batch.ts'
import { keySubject, streamOf } from './nats-layout.ts'
import { NatsWatch } from './nats-watch.ts'

/** Wrong last sequence, with and without the right one in its text. */
const conflicts = new Set([10_071, 10_164])
/** There is no such stream. */
const noStream = 10_059
/** How many keys one request of a list asks for at most, and with how many characters: the server takes 1,024 subjects and 16 KB. */
const maxKeys = 512
const maxRequest = 8_192
/** How many keys are asked for at once where each has a request of its own. */
const atOnce = 128
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export class NatsRegistry implements Registry {
  readonly #connection: NatsConnection
  readonly #client: JetStreamClient
  readonly #manager: JetStreamManager
  readonly #kv: KV
  readonly #cluster: string
  readonly #inbox: string
  readonly #timeout: number
  readonly #timing: Timing
  readonly #connected: () => boolean
  readonly #onTrouble: (text: string, cause: unknown) => void
  readonly #remake: () => Promise<unknown>
  readonly #watches = new Set<NatsWatch>()
  #remaking = false

  constructor(
    connection: NatsConnection,
    bucket: { readonly kv: KV; readonly manager: JetStreamManager },
    options: {
      readonly cluster: string
      /** The prefix of inboxes of the client. */
      readonly inbox: string
      readonly timeout: number
      readonly timing: Timing
      readonly connected: () => boolean
      readonly onTrouble: (text: string, cause: unknown) => void
      /** Makes the bucket anew. */
      readonly remake: () => Promise<unknown>
    },
  ) {
    this.#connection = connection
    this.#client = jetstream(connection, { timeout: options.timeout })
    this.#manager = bucket.manager
    this.#kv = bucket.kv
    this.#cluster = options.cluster
    this.#inbox = options.inbox
    this.#timeout = options.timeout
    this.#timing = options.timing
    this.#connected = options.connected
    this.#onTrouble = options.onTrouble
    this.#remake = options.remake
  }

  async create(key: string, value: string, options: WriteOptions = {}): Promise<Revision> {
    try {
      return await this.#write(key, value, 0, options)
    } catch (cause) {
      if (!(cause instanceof RegistryConflict)) throw cause
      // What stands there may be no more than a note that the key was removed.
      const last = await this.#last(key)
      if (last === undefined || isMarker(last)) return this.#write(key, value, last?.seq ?? 0, options)
      throw new RegistryConflict(key, `it is there, at revision ${last.seq}`)
    }
  }

  async update(key: string, value: string, expected: Revision, options: WriteOptions = {}): Promise<Revision> {
    // The sequence of a note of removal was never given out as a revision, except by a watch.
    return this.#write(key, value, expected, options)
  }

  async remove(key: string, expected: Revision): Promise<void> {
    const note = headers()
    note.set('KV-Operation', 'DEL')
    await this.#publish(`remove ${key}`, key, '', expected, { ttl: 60_000 }, note)
  }

  async read(key: string): Promise<Entry | undefined> {
    const last = await this.#last(key)
    return last === undefined || isMarker(last) ? undefined : { key, value: decoder.decode(last.data), revision: last.seq }
  }

  async list(prefix: string): Promise<Entry[]> {
    const subject = keySubject(this.#cluster, '')
    const found = await this.#ask(`list ${prefix}`, () =>
      this.#manager.streams.info(streamOf(this.#cluster), { subjects_filter: keySubject(this.#cluster, `${prefix}.>`) }),
    )
    const keys = Object.keys(found.state.subjects ?? {})
      .map((name) => name.slice(subject.length))
      .sort()
    return (await Promise.all(this.#chunks(keys).map((some) => this.#readAll(some, found.state.last_seq)))).flat()
  }

  /** Keys in groups that fit one request. */
  #chunks(keys: readonly string[]): string[][] {
    const chunks: string[][] = []
    let size = Infinity
    for (const key of keys) {
      size += keySubject(this.#cluster, key).length + 3
      if (size > maxRequest || chunks.at(-1)!.length >= maxKeys) {
        chunks.push([])
        size = 0
      }
      chunks.at(-1)!.push(key)
    }
    return chunks
  }

  /** Reads keys that were there when the leader was at a sequence. */
  async #readAll(keys: readonly string[], since: number): Promise<Entry[]> {
    const subjects = keys.map((key) => keySubject(this.#cluster, key))
    const request = { stream: streamOf(this.#cluster), subjects, inbox: this.#inbox, timeout: this.#timeout, timing: this.#timing }
    const { found, upTo } = await this.#ask(`read ${keys.length} keys`, () => lastMessages(this.#connection, request))
    // What answered may be a copy that is behind, or does not say how far it is: the leader is not.
    if (upTo === undefined || upTo < since) return this.#readEach(keys)
    return keys.flatMap((key, i) => {
      const last = found.get(subjects[i]!)
      return last === undefined || isMarker(last) ? [] : [{ key, value: decoder.decode(last.data), revision: last.seq }]
    })
  }
  async #readEach(keys: readonly string[]): Promise<Entry[]> {
    const entries: Entry[] = []
    for (let i = 0; i < keys.length; i += atOnce)
      for (const entry of await Promise.all(keys.slice(i, i + atOnce).map((key) => this.read(key)))) if (entry !== undefined) entries.push(entry)
    return entries
  }

  /**
   * The last write under the prefix, and how many keys the whole bucket has: what is written later has a greater sequence, and one that is gone without a
   * note, because an operator purged it, is one key less. Counting the keys of the prefix would name them all.
   */
  async fingerprint(prefix: string): Promise<string> {
    const stream = streamOf(this.#cluster)
    const [last, { state }] = await this.#ask(`look at ${prefix}`, () =>
      Promise.all([
        this.#manager.streams.getMessage(stream, { last_by_subj: keySubject(this.#cluster, `${prefix}.>`) }),
        this.#manager.streams.info(stream),
      ]),
    )
    return `${last?.seq ?? 0}/${state.messages}`
  }

  watch(prefix: string, onHint: (hint: Hint) => void): Watch {
    const watch = new NatsWatch(this.#kv, prefix, this.#timing, onHint, this.#onTrouble)
    this.#watches.add(watch)
    return {
      stop: () => {
        this.#watches.delete(watch)
        watch.stop()
      },
    }
  }

  /** The client has reconnected: watches may have missed something, and some never come back by themselves. */
  reconnected(): void {
    for (const watch of this.#watches) watch.renew()
  }

  close(): void {
    for (const watch of this.#watches) watch.stop()
    this.#watches.clear()
  }

  #write(key: string, value: string, expected: Revision, options: WriteOptions): Promise<Revision> {
    return this.#publish(`write ${key}`, key, value, expected, options)
  }

  async #publish(what: string, key: string, value: string, expected: Revision, { ttl }: WriteOptions, note?: MsgHdrs): Promise<Revision> {
    try {
      const ack = await this.#ask(what, () =>
        this.#client.publish(keySubject(this.#cluster, key), encoder.encode(value), {
          expect: { lastSubjectSequence: expected },
          timeout: this.#timeout,
          ...(note === undefined ? {} : { headers: note }),
          // The server counts whole seconds and cuts off what is more; a lease must never end early.
          ...(ttl === undefined ? {} : { ttl: `${Math.max(1, Math.ceil(ttl / 1_000))}s` }),
        }),
      )
      return ack.seq
    } catch (cause) {
      const refused = cause instanceof RegistryUnavailable ? cause.cause : cause
      if (refused instanceof JetStreamApiError && conflicts.has(refused.code))
        throw new RegistryConflict(key, expected === 0 ? 'it is there' : `it is not at revision ${expected}`)
      throw cause
    }
  }

  /** The last message of a key, from the leader; undefined where there is none. */
  async #last(key: string): Promise<StoredMsg | undefined> {
    const found = await this.#ask(`read ${key}`, () =>
      this.#manager.streams.getMessage(streamOf(this.#cluster), { last_by_subj: keySubject(this.#cluster, key) }),
    )
    return found ?? undefined
  }

  /**
   * The server has come back with an empty store, or somebody removed the stream: without one nobody could ever renew anything, nor hear that its
   * session is over, which it is when a bucket without its keys is there.
   */
  async #madeAnew(cause: unknown): Promise<void> {
    if (this.#remaking) return
    this.#remaking = true
    this.#onTrouble(`NATS has lost what it kept of ${this.#cluster}: sessions end, and whoever joins begins anew`, cause)
    try {
      await this.#remake()
      this.reconnected()
    } catch (trouble) {
      this.#onTrouble(`The stream of ${this.#cluster} could not be made anew`, trouble)
    } finally {
      this.#remaking = false
    }
  }

  async #ask<T>(what: string, ask: () => Promise<T>): Promise<T> {
    // The client would keep it and send it whenever it is connected again.
    if (!this.#connected()) throw new RegistryUnavailable(what, 'not connected to NATS')
    try {
      return await ask()
    } catch (cause) {
      if (cause instanceof JetStreamApiError && cause.code === noStream) void this.#madeAnew(cause)
      throw new RegistryUnavailable(what, cause instanceof Error ? cause.message : String(cause), cause)
    }
  }
}

/** A note that a key was removed, or ran out. */
function isMarker({ header }: Pick<StoredMsg, 'header'>): boolean {
  return header !== undefined && (header.get('KV-Operation') !== '' || header.get('Nats-Marker-Reason') !== '')
}

// The keys of subjects, and what is sealed with them: AES-256-GCM, bound to the place where it is kept. A key is made by the first event
// that needs it and is kept by the journal; once it is erased, what was sealed with it is gone, wherever copies of it are. Nothing of
// this is touched by actors whose events have no subject.

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { Journal } from '../journal/port.ts'
import { JournalDamaged, SubjectErased } from '../values/errors.ts'
import type { StoredEvent } from '../values/stored.ts'

/** What a keyring asks of whoever has the journal. */
export interface KeyringHost {
  readonly name: string
  readable(): Promise<Journal>
  /** Monotonic milliseconds: a clock that is put back must not make a key believed for longer. */
  ticks(): number
}

/** An event as it can be read; one whose subject was erased has no data. */
export type OpenedEvent<E extends StoredEvent = StoredEvent> = E & { readonly erased?: true }

type Secret = Uint8Array | 'erased'

/** For how long a key is believed to be there: another system may erase it. Living actors are looked at as often: together it is a minute at most. */
export const believed = 30_000
/** How many are remembered. */
const most = 10_000

const front = '{"$":"sealed"'
interface Envelope {
  /** Subjects all of whose keys are needed; undefined where the event says whose. */
  readonly s?: readonly string[]
  readonly v: string
}

/** Whether a text is an envelope; the codec makes no other text that begins so. */
export function isSealed(text: string): boolean {
  return text.startsWith(front)
}

export class Keyring {
  readonly #host: KeyringHost
  readonly #known = new Map<string, { readonly secret: Secret; readonly until: number }>()
  readonly #loading = new Map<string, Promise<Secret>>()

  constructor(host: KeyringHost) {
    this.#host = host
  }

  /** What is known of a subject without asking. */
  peek(subject: string): Secret | undefined {
    const known = this.#known.get(subject)
    return known === undefined || (known.secret !== 'erased' && known.until < this.#host.ticks()) ? undefined : known.secret
  }
  #note(subject: string, found: Secret): Secret {
    // It may have been erased since it was read.
    const secret = this.#known.get(subject)?.secret === 'erased' ? 'erased' : found
    this.#known.delete(subject)
    this.#known.set(subject, { secret, until: this.#host.ticks() + believed })
    if (this.#known.size > most) this.#known.delete(this.#known.keys().next().value!)
    return secret
  }
  /** Its key is gone. */
  erased(subject: string): void {
    this.#note(subject, 'erased')
  }

  /** The key of a subject for what is written now: there, or made. */
  load(subject: string): Promise<Secret> {
    const known = this.peek(subject)
    if (known !== undefined) return Promise.resolve(known)
    let loading = this.#loading.get(subject)
    if (loading === undefined) this.#loading.set(subject, (loading = this.#load(subject).finally(() => this.#loading.delete(subject))))
    return loading
  }
  async #load(subject: string): Promise<Secret> {
    const journal = await this.#host.readable()
    let found = await journal.key(subject)
    if (found.is === 'none') found = await journal.addKey(subject, randomBytes(32))
    // A journal that says so after it took a key is not to be trusted with any.
    if (found.is === 'none') throw new JournalDamaged(this.#host.name, `the key of ${subject}`, 'it was not kept')
    return this.#note(subject, found.is === 'erased' ? 'erased' : found.key)
  }
  /** The key of a subject for what was written with it. Fails with `JournalDamaged` where there was none. */
  async #find(subject: string): Promise<Secret> {
    const known = this.peek(subject)
    if (known !== undefined) return known
    const found = await (await this.#host.readable()).key(subject)
    if (found.is === 'none')
      throw new JournalDamaged(
        this.#host.name,
        `the key of ${JSON.stringify(subject)}`,
        'it is missing, and was not erased: keys are kept apart from what they seal; restore it, or erase the subject',
      )
    return this.#note(subject, found.is === 'erased' ? 'erased' : found.key)
  }

  /** Seals with the key of a subject, which must be known. Fails with `SubjectErased`. */
  seal(secret: Secret, subject: string, text: string, place: string): string {
    if (secret === 'erased') throw new SubjectErased(subject)
    return `${front},"v":"${encipher(secret, text, place)}"}`
  }
  /** Seals so that the keys of all subjects are needed to read it; undefined where one of them was erased. */
  async sealForAll(subjects: readonly string[], text: string, place: string): Promise<string | undefined> {
    const secret = await this.#together(subjects, (subject) => this.load(subject))
    return secret === undefined ? undefined : `${front},"s":${JSON.stringify(subjects)},"v":"${encipher(secret, text, place)}"}`
  }
  /** What `sealForAll` sealed, and for whom; undefined where one of them was erased. */
  async openForAll(sealed: string, place: string): Promise<{ readonly subjects: readonly string[]; readonly text: string } | undefined> {
    const { s: subjects = [], v } = JSON.parse(sealed) as Envelope
    const secret = await this.#together(subjects, (subject) => this.#find(subject))
    return secret === undefined ? undefined : { subjects, text: this.#decipher(secret, v, place) }
  }
  async #together(subjects: readonly string[], find: (subject: string) => Promise<Secret>): Promise<Uint8Array | undefined> {
    const hash = createHash('sha256')
    for (const subject of subjects) {
      const secret = await find(subject)
      if (secret === 'erased') return undefined
      hash.update(secret)
    }
    return hash.digest()
  }

  /** What was sealed with the key of one subject; undefined where that was erased. Fails with `JournalDamaged`. */
  async open(subject: string, sealed: string, place: string): Promise<string | undefined> {
    const secret = await this.#find(subject)
    return secret === 'erased' ? undefined : this.#decipher(secret, (JSON.parse(sealed) as Envelope).v, place)
  }
  /** Consecutive events as they can be read; the same ones where none has a subject. */
  async openEvents(id: string, first: number, events: readonly StoredEvent[]): Promise<readonly OpenedEvent[]> {
    if (!events.some(({ subject }) => subject !== undefined)) return events
    const opened: OpenedEvent[] = []
    for (const [i, event] of events.entries()) opened.push(await this.openEvent(id, first + i, event))
    return opened
  }
  async openEvent<E extends StoredEvent>(id: string, seq: number, event: E): Promise<OpenedEvent<E>> {
    if (event.subject === undefined || !isSealed(event.data)) return event
    const data = await this.open(event.subject, event.data, placeOf(id, seq))
    return data === undefined ? { ...event, data: '', erased: true } : { ...event, data }
  }

  #decipher(secret: Uint8Array, sealed: string, place: string): string {
    try {
      const bytes = Buffer.from(sealed, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, 12))
      decipher.setAAD(Buffer.from(place))
      decipher.setAuthTag(bytes.subarray(12, 28))
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString()
    } catch (cause) {
      throw new JournalDamaged(this.#host.name, place, 'what is sealed there cannot be opened with its key', cause)
    }
  }
}

/** What an event is bound to. */
export function placeOf(id: string, seq: number): string {
  return `${id} event ${seq}`
}

function encipher(secret: Uint8Array, text: string, place: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', secret, iv)
  cipher.setAAD(Buffer.from(place))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')
}

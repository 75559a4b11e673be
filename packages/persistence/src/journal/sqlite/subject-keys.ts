// The keys of subjects, in a file beside the journal and not in it: a copy of the journal has none of them, and an erased key does not stay in a
// free page. Every process appends to it, which the system does whole and in one order: the first key of a subject holds. Keys that are given
// together are one write and one flush. Erasing appends a line that says so, and then overwrites the key where it is.

import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { JournalDamaged, JournalUnavailable } from '../../values/errors.ts'
import type { Keyless, SubjectKey } from '../port.ts'
import { type SubjectHash, SubjectKeyIndex } from './subject-key-index.ts'
import { keyIn, type KeyLine, readLine, type KeyRecord, writeRecord } from './subject-key-record.ts'

/** How much is read and written at a time. */
const [readAtOnce, writtenAtOnce] = [262_144, 5000]

/** The folder of the keys of a journal. */
export function keysPath(file: string): string {
  return `${file}-keys`
}

/** What the index says besides where a line is. */
const [kept, erased, damaged] = [1, 2, 3]
const kinds = 4

interface Waiting extends KeyRecord {
  readonly resolve: (given: Uint8Array | undefined) => void
  readonly reject: (cause: unknown) => void
}

export class SubjectKeys {
  readonly #name: string
  readonly #folder: string
  readonly #path: string
  readonly #index = new SubjectKeyIndex()
  /** How far the file has been read, and which it was. */
  #end = 0
  #inode = 0
  /** Where something is that may be the key of anybody. */
  #unreadable: number | undefined
  /** Keys of erased subjects that are still there. */
  #undestroyed: number[] = []
  #looking: Promise<void> | undefined
  #nextLook: Promise<void> | undefined
  #waiting: Waiting[] = []
  #isWriting = false
  /** The keys that subjects were given since this process began to write what it writes now: those need not be read again. */
  #given: Map<string, Uint8Array> | undefined

  constructor(name: string, folder: string) {
    this.#name = name
    this.#folder = folder
    this.#path = join(folder, 'keys')
  }

  async find(subject: string): Promise<SubjectKey> {
    await this.#look()
    const [kind, at] = this.#known(subject)
    if (kind === undefined) {
      if (this.#unreadable === undefined) return { is: 'none' }
      throw this.#damaged(`there is a record at byte ${this.#unreadable} that cannot be read, and may be the key of this subject`)
    }
    if (kind === erased) return { is: 'erased' }
    const line = kind === damaged ? undefined : readLine(await this.#lineAt(at))
    if (typeof line !== 'object' || line.is !== 'record' || line.subject !== subject || line.key === undefined) {
      // Another process may be erasing it.
      await this.#look()
      if (this.#known(subject)[0] === erased) return { is: 'erased' }
      throw this.#damaged('it is not a key')
    }
    return { is: 'key', key: line.key }
  }

  /** Which of these have none. */
  async keyless(subjects: readonly string[]): Promise<readonly Keyless[]> {
    await this.#look()
    return subjects.flatMap((subject): Keyless | readonly [] => {
      const [kind] = this.#known(subject)
      return kind === undefined ? { subject, is: 'none' } : kind === erased ? { subject, is: 'erased' } : []
    })
  }

  async add(subject: string, key: Uint8Array): Promise<SubjectKey> {
    const given = await this.#write({ subject, key })
    return given === undefined ? this.find(subject) : { is: 'key', key: given }
  }
  async erase(subject: string): Promise<void> {
    await this.#write({ subject, key: undefined })
  }

  /** Resolves when the file says it, or something else of that subject that holds. All that wait are written together. */
  #write(record: KeyRecord): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...record, resolve, reject })
      if (!this.#isWriting) void this.#writeAll()
    })
  }
  async #writeAll(): Promise<void> {
    this.#isWriting = true
    // Those that come in the same turn, too.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, writtenAtOnce)
      try {
        await this.#look()
        this.#given = new Map()
        await this.#append(some.filter(({ subject, key }) => this.#isNews(subject, key)))
        await this.#look()
        for (const { subject, resolve } of some) resolve(this.#given.get(subject))
      } catch (cause) {
        for (const { reject } of some) reject(cause)
      }
      this.#given = undefined
    }
    this.#isWriting = false
  }
  #isNews(subject: string, key: Uint8Array | undefined): boolean {
    const [kind] = this.#known(subject)
    if (kind === undefined && this.#unreadable !== undefined && key !== undefined) return false
    return kind === undefined || (key === undefined && kind !== erased)
  }
  async #append(records: readonly KeyRecord[]): Promise<void> {
    if (records.length === 0) return
    // Of several keys of one subject the first would hold; the others would only lie around.
    const given = new Set<string>()
    const news = records.filter(({ subject, key }) => key === undefined || (!given.has(subject) && given.add(subject)))
    // Begins a line: somebody may have ended in the middle of one.
    const bytes = Buffer.from(`\n${news.map(({ subject, key }) => writeRecord(subject, key)).join('')}`)
    await this.#using(async () => {
      if ((await mkdir(this.#folder, { recursive: true, mode: 0o700 })) !== undefined) await sync(dirname(this.#folder))
      const file = await open(this.#path, 'a', 0o600)
      try {
        const { bytesWritten } = await file.write(bytes)
        if (bytesWritten < bytes.length) throw new Error(`only ${bytesWritten} of ${bytes.length} bytes were written`)
        await file.sync()
      } finally {
        await file.close()
      }
      if (this.#end === 0) await sync(this.#folder)
    })
  }

  /** Reads what was appended since the last time; one that has begun already does not count. */
  #look(): Promise<void> {
    if (this.#looking === undefined) return this.#begin()
    const next = (): Promise<void> => {
      this.#nextLook = undefined
      return this.#looking ?? this.#begin()
    }
    return (this.#nextLook ??= this.#looking.then(next, next))
  }
  #begin(): Promise<void> {
    const looking = this.#using(() => this.#readOn()).finally(() => {
      if (this.#looking === looking) this.#looking = undefined
    })
    return (this.#looking = looking)
  }
  async #readOn(): Promise<void> {
    const { ino, size } = await stat(this.#path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT') return { ino: 0, size: 0 }
      throw cause
    })
    if (ino !== this.#inode || size < this.#end) this.#forget()
    this.#inode = ino
    if (size <= this.#end) return
    const file = await open(this.#path, 'r')
    try {
      for await (const [text, at] of lines(file, this.#end, size)) {
        this.#take(readLine(text), at)
        this.#end = at + Buffer.byteLength(text) + 1
      }
    } finally {
      await file.close()
    }
    if (this.#undestroyed.length > 0) await this.#destroy(this.#undestroyed.splice(0))
  }
  #take(line: KeyLine, at: number): void {
    if (line === 'nothing') return
    if (line === 'unreadable') {
      this.#unreadable ??= at
      return
    }
    const { subject } = line
    const hash = hashOf(subject)
    const [kind, before] = unpacked(this.#index.get(hash))
    const isErased = line.is === 'record' && line.key === undefined
    // Erased is for ever; of keys the first one holds.
    if (kind === erased || (kind === kept && !isErased)) return
    if (isErased && kind === kept) this.#undestroyed.push(before)
    if (line.is === 'record' && line.key !== undefined) this.#given?.set(subject, line.key)
    else this.#given?.delete(subject)
    this.#index.set(hash, at * kinds + (isErased ? erased : line.is === 'record' ? kept : damaged))
  }
  /** Overwrites keys where they are, if the file system does. */
  async #destroy(places: readonly number[]): Promise<void> {
    const file = await open(this.#path, 'r+')
    try {
      for (const at of places) {
        const found = keyIn(await lineAt(file, at))
        if (found !== undefined) await file.write(Buffer.alloc(found.length, 'x'), 0, found.length, at + found.from)
      }
      await file.sync()
    } catch (cause) {
      this.#undestroyed.push(...places)
      throw cause
    } finally {
      await file.close()
    }
  }

  #known(subject: string): readonly [kind: number | undefined, at: number] {
    return unpacked(this.#index.get(hashOf(subject)))
  }
  #forget(): void {
    this.#index.clear()
    this.#end = 0
    this.#unreadable = undefined
    this.#undestroyed = []
  }
  async #lineAt(at: number): Promise<string> {
    return this.#using(async () => {
      const file = await open(this.#path, 'r')
      try {
        return await lineAt(file, at)
      } finally {
        await file.close()
      }
    })
  }
  async #using<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      throw new JournalUnavailable(
        this.#name,
        `${this.#path} cannot be used (${(cause as Error).message}); let this process read and write it`,
        cause,
      )
    }
  }
  #damaged(problem: string): JournalDamaged {
    return new JournalDamaged(this.#name, this.#path, problem)
  }

  /** Where records are that should be keys and are not. */
  async *damaged(): AsyncIterable<string> {
    for await (const [line, isCurrent] of this.#lines())
      if (line === 'unreadable' || (line !== 'nothing' && line.is === 'damaged' && isCurrent)) yield this.#path
  }
  /** Every key, and every subject whose key was erased. Fails with `JournalDamaged`. */
  async *all(): AsyncIterable<KeyRecord> {
    for await (const [line, isCurrent] of this.#lines()) {
      if (line === 'unreadable' || (line !== 'nothing' && line.is === 'damaged' && isCurrent)) throw this.#damaged('it is not a key')
      if (line !== 'nothing' && isCurrent) yield line as KeyRecord
    }
  }
  /** All lines, each with whether it is what holds of its subject. */
  async *#lines(): AsyncIterable<readonly [line: KeyLine, isCurrent: boolean]> {
    await this.#look()
    if (this.#end === 0) return
    const file = await open(this.#path, 'r')
    try {
      for await (const [text, at] of lines(file, 0, this.#end)) {
        const line = readLine(text)
        yield [line, typeof line === 'object' && this.#known(line.subject)[1] === at]
      }
    } finally {
      await file.close()
    }
  }
  async isEmpty(): Promise<boolean> {
    await this.#look()
    return this.#index.size === 0 && this.#unreadable === undefined
  }
  async clear(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
    this.#forget()
  }
}

function unpacked(value: number | undefined): readonly [kind: number | undefined, at: number] {
  return value === undefined ? [undefined, 0] : [value % kinds, Math.floor(value / kinds)]
}
function hashOf(subject: string): SubjectHash {
  const sum = createHash('sha256').update(subject).digest()
  return new Uint32Array(sum.buffer.slice(sum.byteOffset, sum.byteOffset + 16))
}

/** Whole lines of a file from one byte to another, and where they begin. */
async function* lines(
  file: FileHandle,
  from: number,
  until: number,
  atOnce: number = readAtOnce,
): AsyncGenerator<readonly [text: string, at: number]> {
  let at = from
  let rest = Buffer.alloc(0)
  for (let read = from; read < until;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(atOnce, until - read)), 0, undefined, read)
    if (bytesRead === 0) return
    read += bytesRead
    rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)])
    let begin = 0
    for (let end = rest.indexOf(10, begin); end >= 0; end = rest.indexOf(10, begin)) {
      yield [rest.toString('utf8', begin, end), at + begin]
      begin = end + 1
    }
    rest = rest.subarray(begin)
    at += begin
  }
}
async function lineAt(file: FileHandle, at: number): Promise<string> {
  for await (const [text] of lines(file, at, Infinity, 512)) return text
  return ''
}

/** A file that was just made is durable only when its folder is. */
async function sync(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const file = await open(folder, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

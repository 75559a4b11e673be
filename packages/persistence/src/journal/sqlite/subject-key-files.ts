// The keys of subjects, one small file each, in a directory beside the journal and not in it: a copy of the journal has none of them, and an
// erased key does not stay in a free page. The first process that links a key has given it; an erased one leaves a file that says so.

import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, link, mkdir, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { JournalDamaged, JournalUnavailable } from '../../values/errors.ts'
import type { Keyless, SubjectKey } from '../port.ts'

/** Key, subject, and a checksum of both. */
const fileText = /^troupe key (erased|(?:[0-9a-f]{2})*)\n(.+)\n([0-9a-f]{16})\n$/

/** Where the keys of a file are. */
export function keysPath(file: string): string {
  return `${file}-keys`
}

export class SubjectKeyFiles {
  readonly #name: string
  readonly #folder: string

  constructor(name: string, folder: string) {
    this.#name = name
    this.#folder = folder
  }

  /** By a hash of the subject, in one of 256 directories: any text can be a subject, and file names do not reveal it. */
  #path(subject: string): string {
    const sum = createHash('sha256').update(subject).digest('hex')
    return join(this.#folder, sum.slice(0, 2), sum.slice(2))
  }

  async find(subject: string): Promise<SubjectKey> {
    const path = this.#path(subject)
    let text: string
    try {
      text = await readFile(path, 'utf8')
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return { is: 'none' }
      throw this.#unavailable(path, cause)
    }
    const kept = parse(text)
    if (kept === undefined) throw new JournalDamaged(this.#name, path, 'it is not a key')
    return kept.key === undefined ? { is: 'erased' } : { is: 'key', key: kept.key }
  }

  /** Which of these have none. By size: a file that says `erased` is shorter than any key, and reading each takes several times as long. */
  async keyless(subjects: readonly string[]): Promise<readonly Keyless[]> {
    const found = await Promise.all(
      subjects.map(async (subject): Promise<Keyless | undefined> => {
        const path = this.#path(subject)
        try {
          const { size } = await stat(path)
          return size > Buffer.byteLength(write(subject, 'erased')) ? undefined : { subject, is: 'erased' }
        } catch (cause) {
          if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return { subject, is: 'none' }
          throw this.#unavailable(path, cause)
        }
      }),
    )
    return found.filter((one) => one !== undefined)
  }

  add(subject: string, key: Uint8Array): Promise<SubjectKey> {
    return this.#put(subject, write(subject, Buffer.from(key).toString('hex')), async (made, path) => {
      try {
        await link(made, path)
      } catch (cause) {
        // Another process was first, and its key holds.
        if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
      } finally {
        await unlink(made)
      }
    })
  }

  async erase(subject: string): Promise<void> {
    await this.#put(subject, write(subject, 'erased'), async (made, path) => {
      const old = await open(path, 'r+').catch(() => undefined)
      await rename(made, path)
      if (old !== undefined) await overwrite(old)
    })
  }

  /** Writes a new file, flushed, which `place` puts where it belongs; that is durable when this resolves. */
  async #put(subject: string, text: string, place: (made: string, path: string) => Promise<void>): Promise<SubjectKey> {
    const path = this.#path(subject)
    const folder = dirname(path)
    try {
      if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined)
        for (const above of [dirname(this.#folder), this.#folder]) await sync(above)
      const made = join(folder, `${randomUUID()}.new`)
      const file = await open(made, 'wx', 0o600)
      try {
        await file.writeFile(text)
        await file.sync()
      } finally {
        await file.close()
      }
      await place(made, path)
      await sync(folder)
    } catch (cause) {
      throw this.#unavailable(path, cause)
    }
    return this.find(subject)
  }

  #unavailable(path: string, cause: unknown): JournalUnavailable {
    return new JournalUnavailable(this.#name, `${path} cannot be used (${(cause as Error).message}); let this process read and write it`, cause)
  }

  /** Files that should be keys and are not. */
  async *damaged(): AsyncIterable<string> {
    for await (const path of this.#paths()) if (parse(await readFile(path, 'utf8')) === undefined) yield path
  }
  /** Every key, and every subject whose key was erased. Fails with `JournalDamaged`. */
  async *all(): AsyncIterable<StoredKey> {
    for await (const path of this.#paths()) {
      const kept = parse(await readFile(path, 'utf8'))
      if (kept === undefined) throw new JournalDamaged(this.#name, path, 'it is not a key')
      yield kept
    }
  }
  async isEmpty(): Promise<boolean> {
    for await (const _ of this.#paths()) return false
    return true
  }
  async clear(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }
  async *#paths(): AsyncIterable<string> {
    for (const folder of await listed(this.#folder))
      for (const name of await listed(join(this.#folder, folder))) if (!name.endsWith('.new')) yield join(this.#folder, folder, name)
  }
}

/** The key of a subject; undefined if it was erased. */
interface StoredKey {
  readonly subject: string
  readonly key: Uint8Array | undefined
}

function write(subject: string, key: string): string {
  const text = JSON.stringify(subject)
  return `troupe key ${key}\n${text}\n${sumOf(key, text)}\n`
}
function parse(text: string): StoredKey | undefined {
  const found = fileText.exec(text)
  if (found === null || sumOf(found[1]!, found[2]!) !== found[3]) return undefined
  return { subject: JSON.parse(found[2]!) as string, key: found[1] === 'erased' ? undefined : new Uint8Array(Buffer.from(found[1]!, 'hex')) }
}
function sumOf(key: string, subject: string): string {
  return createHash('sha256').update(`${key} ${subject}`).digest('hex').slice(0, 16)
}

/** Removes its bytes, if the file system overwrites in place. */
async function overwrite(file: FileHandle): Promise<void> {
  try {
    await file.write(Buffer.alloc(128), 0, 128, 0)
    await file.sync()
  } finally {
    await file.close()
  }
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

async function listed(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch {
    return []
  }
}

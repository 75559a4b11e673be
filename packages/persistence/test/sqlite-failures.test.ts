// What a SQLite journal does about directories, files, disks and threads that are not as they should be. What might end a process is tried in
// another one, which uses the built package: run `npm run build` first; `npm test` does.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadSqlite, type SqliteDriver } from '@troupe/sqlite'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Journal, type Outcome, sqliteJournal } from '@troupe/persistence'
import { enterFile } from '../src/journal/sqlite/sqlite-file.ts'
import { examineFile } from '../src/journal/sqlite/sqlite-open.ts'
import { networkFileSystem } from '../src/journal/sqlite/sqlite-file-system.ts'
import { environment, event, owner, run } from './contract/stage.ts'

const child = fileURLToPath(new URL('./journal-child.mjs', import.meta.url))
interface Line {
  readonly [said: string]: unknown
}

let sqlite: SqliteDriver
let folder: string
let directory: string
let file: string
beforeAll(async () => {
  sqlite = await loadSqlite()
})
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-sqlite-'))
  directory = join(folder, 'data')
  file = join(directory, 'journal.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const lines = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)

function inChild(task: object, ...front: string[]): { lines: Line[]; status: number | null; signal: string | null } {
  const [program, ...args] = [...front, process.execPath, child, JSON.stringify({ directory, ...task })]
  const { stdout, status, signal } = spawnSync(program, args, { encoding: 'utf8', timeout: 150_000 })
  return { lines: lines(stdout), status, signal }
}

const opening = (path = file): Promise<Journal> => sqliteJournal(path).open(environment)
const append = async (journal: Journal, seq: number, epoch = 1): Promise<Outcome> =>
  (await journal.append([run('cart/1', seq, 0, { events: [event(seq)], epoch })]))[0]!
/** A journal with some events, closed. */
function filled(count = 20): void {
  expect(inChild({ mode: 'own', count }).lines.at(-1)).toEqual({ done: directory })
}
/** Runs statements on a file that no journal has open. */
function tool(sql: string, path = file): void {
  const connection = sqlite.open(path)
  connection.exec(sql)
  connection.close()
}
const pause = new Int32Array(new SharedArrayBuffer(4))
const refusal = (code: string, text: RegExp): object => ({ code, message: expect.stringMatching(text) as string })

describe('sqliteJournal() refuses', () => {
  test('a directory that cannot be made', async () => {
    writeFileSync(join(folder, 'file'), '')
    await expect(opening(join(folder, 'file', 'data', 'x.db'))).rejects.toMatchObject(
      refusal('journal-unavailable', /directory .*data cannot be made or entered \((ENOTDIR|EEXIST)\); make one/),
    )
  })

  // In a process of its own: one that tries for ever to make such a directory can only be killed.
  test.skipIf(process.platform !== 'linux')('a directory that can never be made, instead of trying for ever', () => {
    const [said] = inChild({ mode: 'read', directory: '/proc/no-such/journal' }).lines
    expect(said).toMatchObject({ failed: refusal('journal-unavailable', /\(ENOENT\)/) })
  })

  // Root may write everywhere, so that it takes another user.
  test.skipIf(process.platform === 'win32')('a directory, or a file, that it may not write', () => {
    filled(1)
    chmodSync(folder, 0o755)
    chmodSync(file, 0o444)
    chmodSync(directory, 0o777)
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const task = JSON.stringify({ mode: 'read', directory })
    const tried = (): Line => lines(execFileSync(process.execPath, [child, task], { encoding: 'utf8', ...user }))[0]!
    expect(tried()).toMatchObject({ failed: refusal('journal-unavailable', /journal\.db cannot be read and written \(EACCES\); let this process/) })
    chmodSync(directory, 0o555)
    expect(tried()).toMatchObject({ failed: refusal('journal-unavailable', /data cannot be read and written \(EACCES\)/) })
  })

  test('a file that is something else', async () => {
    mkdirSync(directory)
    writeFileSync(file, 'once upon a time '.repeat(2000))
    await expect(opening()).rejects.toMatchObject(refusal('journal-refused', /journal\.db is not a SQLite file/))
  })

  test('a directory', async () => {
    mkdirSync(file, { recursive: true })
    await expect(opening()).rejects.toMatchObject(refusal('journal-refused', /journal\.db is a directory; name a file in it, such as .*journal\.db/))
  })

  test('a file that is empty: none is taken for a new journal', async () => {
    filled()
    truncateSync(file, 0)
    await expect(opening()).rejects.toMatchObject(refusal('journal-damaged', /journal\.db: it is empty/))
    expect(statSync(file).size).toBe(0)
  })

  test('a file that is shorter than a page, which it leaves as it is', async () => {
    filled(1)
    truncateSync(file, 300)
    await expect(opening()).rejects.toMatchObject(refusal('journal-damaged', /journal\.db: it is cut to 300 bytes/))
    expect(statSync(file).size).toBe(300)
    for (const text of ['x', 'once upon a time']) {
      writeFileSync(file, text)
      await expect(opening()).rejects.toMatchObject(refusal('journal-refused', /journal\.db is not a SQLite file; name another file/))
      expect(readFileSync(file, 'utf8')).toBe(text)
    }
  })

  test.skipIf(process.platform === 'win32')('what is no file, such as a device', async () => {
    await expect(opening('/dev/null')).rejects.toMatchObject(refusal('journal-refused', /\/dev\/null is not a regular file/))
  })

  test.skipIf(process.platform === 'win32')('links that lead in a circle', async () => {
    mkdirSync(directory)
    symlinkSync(file, join(directory, 'other.db'))
    symlinkSync(join(directory, 'other.db'), file)
    await expect(opening()).rejects.toMatchObject(refusal('journal-unavailable', /cannot be followed \(ELOOP\)/))
  })

  test('a SQLite file of another application, which it leaves as it is', async () => {
    mkdirSync(directory)
    tool(`create table mine (text); insert into mine values ('precious')`)
    await expect(opening()).rejects.toMatchObject(refusal('journal-refused', /SQLite file of another application/))
    const connection = sqlite.open(file)
    expect(connection.select(['text'], 'from mine')).toEqual([{ text: 'precious' }])
    connection.close()
  })

  test('a journal of a newer version', async () => {
    filled(1)
    tool('pragma user_version = 7')
    await expect(opening()).rejects.toMatchObject(
      refusal('journal-refused', /has version 7 of the tables, and this version of Troupe uses 2; export it/),
    )
  })

  test('a file whose tables were changed', async () => {
    filled(1)
    tool('drop index runs_by_entity_type')
    await expect(opening()).rejects.toMatchObject(refusal('journal-damaged', /runs_by_entity_type is missing/))
  })

  test('a file that was cut', async () => {
    filled()
    truncateSync(file, Math.floor(statSync(file).size / 2))
    await expect(opening()).rejects.toMatchObject({ code: 'journal-damaged' })
  })

  test('what is left of a file that is missing', async () => {
    mkdirSync(directory)
    writeFileSync(`${file}-wal`, 'x')
    await expect(opening()).rejects.toMatchObject(refusal('journal-damaged', /it is missing, and .*-wal is there/))
  })

  test('a network file system', () => {
    const mounts = [
      '22 1 8:1 / / rw - ext4 /dev/sda1 rw',
      '30 22 0:42 / /home rw,relatime shared:2 - nfs4 server:/home rw',
      '31 30 8:2 / /home/local rw - xfs /dev/sdb1 rw',
      String.raw`32 22 0:43 / /mnt/my\040share rw - cifs //server/share rw`,
      '33 22 0:44 / /mnt/c rw - 9p drvfs rw',
    ].join('\n')
    const on = (path: string): string | undefined => networkFileSystem(path, () => mounts)
    expect(['/srv/data', '/home/local/data', '/homework', '/'].map(on)).toEqual([undefined, undefined, undefined, undefined])
    expect(['/home', '/home/anna', '/mnt/my share/x', '/mnt/c/data'].map(on)).toEqual(['nfs4', 'nfs4', 'cifs', '9p'])
  })

  test('a file in memory, which would not survive', () => {
    expect(() => sqliteJournal(':memory:')).toThrow(expect.objectContaining({ code: 'invalid-option' }))
  })

  test('a URI, which only SQLite understands, and a path with a null character', () => {
    expect(() => sqliteJournal(`file:${file}?mode=ro`)).toThrow(expect.objectContaining(refusal('invalid-option', /use a path, such as/)))
    expect(() => sqliteJournal(`${file}\0`)).toThrow(expect.objectContaining(refusal('invalid-option', /without null characters/)))
  })
})

test.skipIf(process.platform === 'win32')(
  'a link to a file that does not exist makes that file, and leads to the same journal as its path',
  async () => {
    mkdirSync(directory)
    const target = join(folder, 'elsewhere', 'real.db')
    symlinkSync(join('..', 'elsewhere', 'real.db'), join(directory, 'first.db'))
    symlinkSync('first.db', file)
    const journal = await opening()
    await journal.raise('default', 1)
    expect(await append(journal, 1)).toEqual({ is: 'stored' })
    const same = await opening(target)
    expect(await append(same, 2)).toEqual({ is: 'stored' })
    await same.close()
    await journal.close()
    expect(readdirSync(directory).toSorted()).toEqual(['first.db', 'journal.db'])
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual(['real.db'])
  },
)

test('a journal that is closed is one file', () => {
  filled()
  expect(readdirSync(directory)).toEqual(['journal.db'])
})

test.skipIf(process.platform === 'win32')('a journal that is removed, or replaced, while it is open takes nothing more', async () => {
  const journal = await opening()
  await journal.raise('default', 1)
  expect(await append(journal, 1)).toEqual({ is: 'stored' })
  rmSync(directory, { recursive: true })
  const gone = { is: 'failed', cause: refusal('journal-unavailable', /is gone: it was removed or replaced/) }
  expect(await append(journal, 2)).toMatchObject(gone)
  mkdirSync(directory)
  writeFileSync(file, '')
  expect(await append(journal, 2)).toMatchObject(gone)
  await journal.close()
})

const limited = process.platform === 'linux'
test.skipIf(!limited)('a full disk fails the write, says so, and loses nothing', () => {
  // A file that may not grow fails as a full disk does: the last write is a short one.
  const said = inChild({ mode: 'fill' }, 'sh', '-c', 'trap \'\' XFSZ; ulimit -f 4000; exec "$@"', 'sh').lines
  const [full, after, again] = said as [Line, Line, Line]
  expect(full['stored']).toBeGreaterThan(3)
  expect(full['outcome']).toMatchObject({
    is: expect.stringMatching(/^(failed|unknown)$/) as string,
    ...refusal('journal-unavailable', /journal\.db cannot be used \(.*; its disk has \d+ bytes left\)/),
  })
  expect(after).toMatchObject({ damages: [] })
  expect(after['head']).toBe(full['stored'])
  expect((again['again'] as { is: string }).is).toMatch(/^(failed|unknown)$/)
  // With room again everything that was acknowledged is there, and it goes on.
  const [owns, next] = inChild({ mode: 'own', epoch: 2, count: 1 }).lines
  expect(owns).toEqual({ owns: 2, from: full['stored'] })
  expect(next).toEqual({ acknowledged: (full['stored'] as number) + 1 })
})

const tracer = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0
if (limited && !tracer) process.stderr.write('\nSKIPPED: a disk that cannot be flushed: strace, which stands in for it, is missing or not allowed.\n')
test.skipIf(!tracer)('a flush that fails leaves the outcome unknown, and nothing is seen that was not flushed', () => {
  const inject = ['strace', '-f', '-o', '/dev/null', '-e', 'trace=fdatasync,fsync', '-e', 'inject=fdatasync,fsync:error=EIO:when=25+']
  const [full, after] = inChild({ mode: 'fill' }, ...inject).lines as [Line, Line]
  expect(full['outcome']).toMatchObject({ is: 'unknown', code: 'journal-unavailable' })
  expect(after).toMatchObject({ head: full['stored'], damages: [] })
})

test('J2: a process that ends in the middle of a write ends by its own code, and what was acknowledged is there', async () => {
  // At once, and at several moments of a write that takes long: the driver of Node 20 would abort in the middle of a statement.
  const moments = [60, 110, 180].map((after, i) => ({ count: i + 3, bytes: 40_000_000, after }))
  for (const { count, ...more } of [{ count: 1 }, { count: 2 }, ...moments]) {
    const place = join(folder, `exit-${count}`)
    const { lines: said, signal, status } = inChild({ mode: 'exit', directory: place, count, ...more })
    expect([signal, status, said[0]]).toEqual([null, count === 1 ? 1 : 3, { acknowledged: 1 }])
    const journal = await opening(join(place, 'journal.db'))
    expect((await journal.heads(['cart/1']))[0]!.seq).toBeGreaterThanOrEqual(1)
    expect((await journal.verify()).damages).toEqual([])
    await journal.close()
  }
})

test('J2: a process that ends while it opens a journal ends by its own code, and leaves one that can be opened', async () => {
  for (const after of [0, 5, 10, 15, 20, 30, 40, 60]) {
    const place = join(folder, `early-${after}`)
    const { signal, status } = inChild({ mode: 'exit-early', directory: place, after })
    expect([signal, status]).toEqual([null, 3])
    const journal = await opening(join(place, 'journal.db'))
    await journal.close()
  }
})

test.each(['before it began a write', 'after it began a write'])(
  'a thread that ends %s loses nothing, and the journal goes on with another',
  async (when) => {
    const journal = await opening()
    await journal.raise('default', 1)
    expect(await append(journal, 1)).toEqual({ is: 'stored' })
    const shared = await enterFile('test', file, 'full')
    let outcome: Outcome
    if (when === 'before it began a write') {
      const killed = shared.killWorker()
      const under = append(journal, 2)
      await killed
      outcome = await under
      // Nobody can tell from here that it had not begun.
      expect(outcome).toMatchObject({ is: 'unknown', cause: refusal('journal-unavailable', /the thread that writes .*journal\.db has ended/) })
      expect((await journal.heads(['cart/1']))[0]!.seq).toBe(1)
    } else {
      const under = append(journal, 2)
      // Until it is stored, without a turn of the loop: the answer is on its way when the thread ends.
      while (shared.read(() => shared.sql('select seq from heads where id = ?').get('cart/1')!['seq']) !== 2) Atomics.wait(pause, 0, 0, 1)
      await shared.killWorker()
      outcome = await under
      expect(['unknown', 'stored']).toContain(outcome.is)
    }
    // As the writer does: nothing of it can arrive after this.
    await journal.raise('default', 2)
    const stored = when === 'before it began a write' ? 1 : 2
    expect((await journal.heads(['cart/1']))[0]!.seq).toBe(stored)
    expect(await append(journal, stored + 1, 2)).toEqual({ is: 'stored' })
    expect((await journal.verify()).damages).toEqual([])
    await shared.leave()
    await journal.close()
  },
)

test('a file that is opened while another process takes over a scope is not taken for a damaged one', async () => {
  const journal = await opening()
  const driver = await loadSqlite()
  const onlooker = driver.open(file)
  const scopes = (): unknown => onlooker.select(['count(*)'], 'from epochs')[0]!['count(*)']
  let raised: Promise<unknown> | undefined
  const between: SqliteDriver = {
    ...driver,
    open: (path) => {
      const connection = driver.open(path)
      const select = connection.select.bind(connection)
      connection.select = (columns, rest) => {
        const found = select(columns, rest)
        if (!rest.includes('journal_state') || raised !== undefined) return found
        // Stored before the next question, without a turn of the loop.
        const before = scopes()
        raised = journal.raise('another', 1)
        while (scopes() === before) Atomics.wait(pause, 0, 0, 1)
        return found
      }
      return connection
    },
  }
  expect(examineFile(between, file, 'full').unclean).toBe(false)
  expect(raised).toBeDefined()
  await raised
  onlooker.close()
  await journal.close()
})

test('owners follow one another through a chain of processes: one writes at a time, and no number is lost or given twice', async () => {
  const acknowledged: number[] = []
  const starts: number[] = []
  const start = (epoch: number): { owns: Promise<void>; some: Promise<void>; ended: Promise<void> } => {
    const task = { mode: 'own', directory, epoch, ...(epoch === 4 ? { count: 20 } : {}) }
    const writer = spawn(process.execPath, [child, JSON.stringify(task)])
    let [own, write] = [(): void => undefined, (): void => undefined]
    const owns = new Promise<void>((resolve) => (own = resolve))
    const some = new Promise<void>((resolve) => (write = resolve))
    let [rest, written] = ['', 0]
    writer.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n')
      rest = parts.pop()!
      for (const line of lines(parts.join('\n'))) {
        if ('owns' in line) own()
        if ('owns' in line) starts.push(line['from'] as number)
        if ('acknowledged' in line) acknowledged.push(line['acknowledged'] as number)
        if ('acknowledged' in line && ++written === 10) write()
        if ('is' in line) expect(line['is']).toBe('fenced')
      }
    })
    return { owns, some, ended: new Promise((resolve) => writer.once('close', () => resolve())) }
  }
  const ends: Promise<void>[] = []
  for (let epoch = 1; epoch <= 4; epoch++) {
    const { owns, some, ended } = start(epoch)
    ends.push(ended)
    await owns
    await some
  }
  await Promise.all(ends)
  const sorted = acknowledged.toSorted((a, b) => a - b)
  expect(new Set(sorted).size).toBe(sorted.length)
  const journal = await opening()
  const [head] = await journal.heads(['cart/1'])
  expect(starts).toEqual(starts.toSorted((a, b) => a - b))
  expect(sorted).toEqual(Array.from({ length: head!.seq }, (_, i) => i + 1))
  expect((await journal.verify()).damages).toEqual([])
  await journal.close()
})

test('a reader that is still looking ends when its journal is closed, and one that begins afterwards is refused', async () => {
  const journal = await opening()
  await journal.raise('default', 1)
  for (const seq of [1, 2, 3]) expect(await append(journal, seq)).toEqual({ is: 'stored' })
  const reader = journal.events({ batch: 1 })[Symbol.asyncIterator]()
  expect(await reader.next()).toMatchObject({ value: [{ seq: 1 }] })
  // There is more to read, but not in this turn of the loop.
  const found = reader.next()
  await journal.close()
  expect(await found).toEqual({ done: true, value: undefined })
  await expect(journal.events({ batch: 1 })[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'journal-unavailable' })
})

test('several processes write at once, each for its own scope, and a reader beside them misses nothing and sees nothing twice', async () => {
  const [writers, count] = [3, 40]
  const journal = await opening()
  const seen = new Map<string, number>()
  const end = new AbortController()
  const reading = (async () => {
    for await (const batch of journal.events({ batch: 10, signal: end.signal }))
      for (const { id, seq } of batch) {
        expect(seq).toBe((seen.get(id) ?? 0) + 1)
        seen.set(id, seq)
        if (seen.size === writers && [...seen.values()].every((last) => last === count)) end.abort()
      }
  })()
  const ran = await Promise.all(
    Array.from({ length: writers }, async (_, i) => {
      const task = JSON.stringify({ mode: 'own', directory, count, id: `cart/${i}`, scope: `shard-${i}` })
      const writer = spawn(process.execPath, [child, task])
      let out = ''
      writer.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk))
      await new Promise((resolve) => writer.once('close', resolve))
      return lines(out)
    }),
  )
  for (const said of ran) {
    expect(said.at(-1)).toEqual({ done: directory })
    expect(said.flatMap((line) => line['acknowledged'] ?? [])).toEqual(Array.from({ length: count }, (_, i) => i + 1))
  }
  await reading
  expect((await journal.verify()).damages).toEqual([])
  await journal.close()
})

describe('the log', () => {
  test('stays small while a reader is stopped, and the file shrinks after events were deleted', async () => {
    const journal = await opening()
    await journal.raise('default', 1)
    const data = JSON.stringify({ text: 'x'.repeat(100_000) })
    const write = async (id: string, from: number, count: number): Promise<void> => {
      for (let seq = from; seq < from + count; seq++) {
        const events = Array.from({ length: 10 }, (_, i) => event((seq - 1) * 10 + i + 1, { data }))
        expect((await journal.append([run(id, (seq - 1) * 10 + 1, 0, { events })]))[0]!.is).toBe('stored')
      }
    }
    await write('cart/1', 1, 3)
    // Readers that nobody reads on: none keeps a transaction open.
    const readers = [journal.events({ batch: 1 }), journal.replay([{ id: 'cart/1', after: 0 }], 1)].map((reader) => reader[Symbol.asyncIterator]())
    for (const reader of readers) expect((await reader.next()).done).toBe(false)
    await write('cart/1', 4, 57)
    expect(statSync(`${file}-wal`).size).toBeLessThan(40_000_000)
    const { bytes } = await journal.stats()
    expect(bytes).toBeGreaterThan(50_000_000)
    expect(await journal.deleteEvents('cart/1', 590, owner)).toEqual({ is: 'stored' })
    // The worker gives pages back when it has nothing else to do.
    await expect.poll(async () => (await journal.stats()).bytes, { timeout: 30_000 }).toBeLessThan(10_000_000)
    for (const reader of readers) await reader.return?.()
    expect((await journal.verify()).damages).toEqual([])
    await journal.close()
    expect(statSync(file).size).toBeLessThan(10_000_000)
  })

  test.skipIf(!limited)('grows while a process is stopped in a read, which is named, and is short again when that continues', async () => {
    const told: string[] = []
    const logger = { ...environment.logger, warn: (_: unknown, text?: string) => void told.push(text ?? '') }
    const journal = await sqliteJournal(file).open({ ...environment, logger })
    await journal.raise('default', 1)
    const data = JSON.stringify({ text: 'x'.repeat(100_000) })
    let seq = 0
    const write = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++, seq += 10) {
        const events = Array.from({ length: 10 }, (_, n) => event(seq + n + 1, { data }))
        expect((await journal.append([run('cart/1', seq + 1, 0, { events })]))[0]!.is).toBe('stored')
      }
    }
    await write(1)
    const reader = spawn(process.execPath, [child, JSON.stringify({ mode: 'stand-still', directory })])
    const ended = new Promise((resolve) => reader.once('close', resolve))
    await new Promise((resolve) => reader.stdout.once('data', resolve))
    await expect.poll(() => readFileSync(`/proc/${reader.pid}/stat`, 'latin1'), { timeout: 30_000 }).toMatch(/\) T/)
    await write(80)
    const warning = new RegExp(
      `journal\\.db-wal has \\d+ MB and cannot be shortened while it is read: process ${reader.pid} is stopped; let it continue, or end it$`,
    )
    await vi.waitFor(() => expect(journal.warning).toMatch(warning), { timeout: 30_000 })
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(64 * 1024 * 1024)
    expect(told).toEqual([expect.stringMatching(warning)])
    reader.kill('SIGCONT')
    await ended
    // Without a further write.
    await vi.waitFor(() => expect(journal.warning).toBeUndefined(), { timeout: 30_000 })
    expect(statSync(`${file}-wal`).size).toBeLessThan(64 * 1024 * 1024)
    await write(1)
    expect((await journal.verify()).damages).toEqual([])
    await journal.close()
  })

  /** Copies the files of a journal that a killed process left. */
  async function killed(): Promise<number> {
    const writer = spawn(process.execPath, [child, JSON.stringify({ mode: 'own', directory })])
    let last = 0
    await new Promise<void>((resolve) => {
      let rest = ''
      writer.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        const parts = (rest + chunk).split('\n')
        rest = parts.pop()!
        for (const line of lines(parts.join('\n'))) if ('acknowledged' in line) last = line['acknowledged'] as number
        if (last > 20) writer.kill('SIGKILL')
      })
      writer.once('close', () => resolve())
    })
    return last
  }

  test('of a killed process is used, and the file is checked before the first write', async () => {
    const last = await killed()
    expect(existsSync(`${file}-wal`)).toBe(true)
    const journal = await opening()
    await journal.raise('default', 2)
    expect((await journal.heads(['cart/1']))[0]!.seq).toBeGreaterThanOrEqual(last)
    await journal.close()
  })

  test('that is missing is noticed, by the number of the last commit, or because the copy was made while it was open', async () => {
    await killed()
    const copy = join(folder, 'copy.db')
    copyFileSync(file, copy)
    await expect(opening(copy)).rejects.toMatchObject(
      refusal('journal-refused', /was copied while it was open, without .*copy\.db-wal: the last commits are missing.*"delete from sessions"/),
    )
    tool('delete from sessions', copy)
    const accepted = await opening(copy)
    await accepted.close()
    rmSync(`${file}-wal`)
    await expect(opening()).rejects.toMatchObject(
      refusal('journal-damaged', /were acknowledged: .*-wal is missing\. If you restored a backup, remove .*-commits/),
    )
    rmSync(`${file}-commits`)
  })

  test('that was cut at a commit is noticed, and kept', async () => {
    await killed()
    truncateSync(`${file}-wal`, 32 + 3 * 4120)
    await expect(opening()).rejects.toMatchObject(refusal('journal-damaged', /the log was cut or damaged, and is kept as .*-wal\.damaged/))
    expect(existsSync(`${file}-wal.damaged`)).toBe(true)
  })
})

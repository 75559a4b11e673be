// What an LMDB journal does about directories, files and disks that are not as they should be. What might end a process is tried in
// another one, which uses the built package: run `npm run build` first; `npm test` does.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { open as openLmdb } from 'lmdb'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Journal, lmdb, type Outcome } from '@troupe/persistence'
import { makeRecord, open as openRecord, readText, realKey, seal, textKey } from '../src/journal/lmdb/bytes.ts'
import { readRun, writeRun } from '../src/journal/lmdb/run-text.ts'
import { environment, event, run } from './contract/stage.ts'

const child = fileURLToPath(new URL('./journal-child.mjs', import.meta.url))
interface Line {
  readonly [said: string]: unknown
}

let folder: string
let directory: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-lmdb-'))
  directory = join(folder, 'data')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const lines = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)

function inChild(task: object, ...front: string[]): { lines: Line[]; status: number | null; signal: string | null } {
  const [program, ...args] = [...front, process.execPath, child, JSON.stringify(task)]
  const { stdout, status, signal } = spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 })
  return { lines: lines(stdout), status, signal }
}

async function filled(events = 60): Promise<string> {
  const journal = await lmdb(directory).open(environment)
  await journal.raise('default', 1)
  for (let seq = 1; seq <= events; seq++) {
    const data = JSON.stringify({ n: seq, text: '' })
    await journal.append([run('cart/1', seq, 0, { events: [event(seq, { data, tags: ['all'] })] })])
  }
  await journal.close()
  return join(directory, 'journal.mdb')
}

const opening = (place = directory): Promise<Journal> => lmdb(place).open(environment)

test('looking for a snapshot, however often, leaves no reader behind: LMDB has places for 126', async () => {
  const journal = await lmdb(directory).open(environment)
  await journal.raise('default', 1)
  await journal.append([run('cart/1', 1, 0, { events: [event(1)] })])
  await journal.saveSnapshot({ id: 'cart/1', seq: 1, version: 1, data: '1', time: 1, scope: 'default', epoch: 1 })
  for (let seq = 2; seq <= 140; seq++) {
    await journal.append([run('cart/1', seq, 0, { events: [event(seq)] })])
    expect((await journal.snapshotBefore('cart/1', seq))?.seq).toBe(1)
  }
  await journal.close()
})

describe('lmdb() refuses', () => {
  test('a directory that cannot be made', async () => {
    writeFileSync(join(folder, 'file'), '')
    await expect(opening(join(folder, 'file', 'data'))).rejects.toMatchObject({
      code: 'journal-unavailable',
      message: expect.stringMatching(/directory .*file.data cannot be made or entered \((ENOTDIR|EEXIST)\); make one/) as string,
    })
  })

  // In a process of its own: one that waits for ever for such a folder can only be killed.
  test.skipIf(process.platform !== 'linux')('a directory where none can ever be made, instead of trying for ever', () => {
    const orders = JSON.stringify({ mode: 'read', directory: '/proc/no-such/journal' })
    const said = lines(execFileSync(process.execPath, [child, orders], { encoding: 'utf8', timeout: 50_000 }))
    expect(said[0]).toMatchObject({ failed: { code: 'journal-unavailable', message: expect.stringContaining('(ENOENT)') as string } })
  })

  // Root may write everywhere, so that it takes another user.
  test.skipIf(process.platform === 'win32')('a directory that it may not write', () => {
    mkdirSync(directory)
    chmodSync(folder, 0o755)
    chmodSync(directory, 0o555)
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const said = lines(execFileSync(process.execPath, [child, JSON.stringify({ mode: 'read', directory })], { encoding: 'utf8', ...user }))
    expect(said[0]).toMatchObject({ failed: { code: 'journal-unavailable', message: expect.stringContaining('cannot be opened') as string } })
  })

  test('a file that is something else', async () => {
    mkdirSync(directory)
    writeFileSync(join(directory, 'journal.mdb'), 'once upon a time '.repeat(2000))
    await expect(opening()).rejects.toMatchObject({ code: 'journal-refused', message: expect.stringContaining('is not a journal') as string })
  })

  test('a file that is empty: none is taken for a new journal, nor left half made', async () => {
    const file = await filled()
    truncateSync(file, 0)
    await expect(opening()).rejects.toMatchObject({ code: 'journal-damaged', where: file, message: expect.stringContaining('it is empty') as string })
    expect(readFileSync(file).length).toBe(0)
    const made = join(folder, 'made')
    const journals = await Promise.all([1, 2, 3].map(() => lmdb(made).open(environment)))
    expect(new Set(journals.map(({ identity }) => identity)).size).toBe(1)
    for (const journal of journals) await journal.close()
    expect(readdirSync(made).sort()).toEqual(['journal.mdb', 'journal.mdb-lock'])
  })

  test('an LMDB file of another program, which it leaves as it is', async () => {
    mkdirSync(directory)
    const theirs = openLmdb<string, string>({ path: join(directory, 'journal.mdb'), noSubdir: true, overlappingSync: false })
    await theirs.put('mine', 'precious')
    await theirs.close()
    await expect(opening()).rejects.toMatchObject({ code: 'journal-refused', message: expect.stringContaining('of another program') as string })
    const again = openLmdb<string, string>({ path: join(directory, 'journal.mdb'), noSubdir: true, overlappingSync: false })
    expect(again.get('mine')).toBe('precious')
    await again.close()
  })

  test('a journal of another version', async () => {
    await filled(1)
    const root = openLmdb({ path: join(directory, 'journal.mdb'), noSubdir: true, overlappingSync: false })
    const meta = root.openDB<Buffer, Buffer>({ name: 'meta', encoding: 'binary', keyEncoding: 'binary' })
    const key = Buffer.from('format')
    await meta.put(key, seal(0, key, makeRecord({ format: 'troupe journal 2', identity: 'x' })))
    await root.close()
    await expect(opening()).rejects.toMatchObject({
      code: 'journal-refused',
      message: expect.stringMatching(/has the format "troupe journal 2", and this version of Troupe reads "troupe journal 1"/) as string,
    })
  })

  test('a file that was cut, wherever', async () => {
    const file = await filled()
    const size = readFileSync(file).length
    const places = [0.1, 0.4, 0.7, 0.95].map((part, i) => {
      const place = join(folder, `cut-${i}`)
      cpSync(directory, place, { recursive: true })
      truncateSync(join(place, 'journal.mdb'), Math.floor(size * part))
      return place
    })
    const { lines: said, status } = inChild({ mode: 'read', directory: places })
    expect(status).toBe(0)
    const failures = said.filter((line) => 'failed' in line)
    expect(failures).toHaveLength(places.length)
    for (const { failed } of failures) expect((failed as { code: string }).code).toMatch(/^journal-(damaged|refused)$/)
    expect((failures.at(-1)!['failed'] as { message: string }).message).toMatch(/journal\.mdb: it has \d+ bytes where \d+ were written/)
  })
})

test.skipIf(process.platform === 'win32')(
  'a journal that is removed, or replaced, while it is open takes nothing more: it would go with the process',
  async () => {
    const journal = await lmdb(directory).open(environment)
    await journal.raise('default', 1)
    const write = (seq: number): Promise<readonly Outcome[]> => journal.append([run('cart/1', seq, 0, { events: [event(seq)] })])
    expect(await write(1)).toEqual([{ is: 'stored' }])
    rmSync(directory, { recursive: true })
    const gone = { is: 'failed', cause: { code: 'journal-unavailable', message: expect.stringContaining('is gone') as string } }
    expect(await write(2)).toMatchObject([gone])
    mkdirSync(directory)
    writeFileSync(join(directory, 'journal.mdb'), '')
    expect(await write(2)).toMatchObject([gone])
    await journal.close()
  },
)

test('bits that flip in a file are told with the record they are in, or harm nothing; nothing else is ever read', async () => {
  const file = await filled()
  const good = readFileSync(file)
  const places = fc.sample(fc.tuple(fc.nat(good.length - 1), fc.nat(7)), { numRuns: 40, seed: 11 }).map(([at, bit], i) => {
    const place = join(folder, `flip-${i}`)
    mkdirSync(place)
    const bytes = Buffer.from(good)
    bytes[at]! ^= 1 << bit
    writeFileSync(join(place, 'journal.mdb'), bytes)
    return place
  })
  const { lines: said, status, signal } = inChild({ mode: 'read', directory: places })
  expect({ status, signal }).toEqual({ status: 0, signal: null })
  expect(said.filter((line) => 'done' in line)).toHaveLength(places.length)
  for (const line of said) if ('same' in line) expect(line['same']).toBe(true)
  const damages = said.flatMap((line) => [line['damage'], line['failed']]).filter((cause) => cause !== undefined) as {
    code: string
    message: string
  }[]
  expect(damages.length).toBeGreaterThan(3)
  for (const { code, message } of damages) {
    expect(code).toMatch(/^journal-(damaged|refused|unavailable)$/)
    expect(message).toContain('journal.mdb')
  }
})

test('a damaged record is refused wherever it is met, and verify lists it; other ids are not affected', async () => {
  const journal = await opening()
  await journal.raise('default', 1)
  const marked = event(1, { data: '"needle in a haystack"' })
  await journal.append([run('cart/1', 1, 0, { events: [marked] }), run('cart/2', 1, 3)])
  await journal.append([run('cart/1', 2, 2)])
  await journal.close()
  const file = join(directory, 'journal.mdb')
  const bytes = readFileSync(file)
  for (let at = bytes.indexOf('needle'); at >= 0; at = bytes.indexOf('needle', at + 1)) bytes[at] = 'N'.charCodeAt(0)
  writeFileSync(file, bytes)
  const again = await opening()
  const parts = []
  for await (const part of again.replay(
    ['cart/1', 'cart/2'].map((id) => ({ id, after: 0 })),
    10,
  ))
    parts.push(part)
  expect(parts).toMatchObject([
    { id: 'cart/1', damage: { code: 'journal-damaged', where: `${file}, runs of cart/1#1` } },
    { id: 'cart/2', first: 1 },
  ])
  const finding = again.events({ kind: 'cart', batch: 10, once: true })[Symbol.asyncIterator]()
  await expect(finding.next()).rejects.toMatchObject({ code: 'journal-damaged', message: expect.stringContaining('runs of cart/1#1') as string })
  expect((await again.verify()).damages).toMatchObject([
    { where: `${file}, runs of cart/1#1`, id: 'cart/1', seq: 1, problem: 'its sum does not match' },
  ])
  // What comes after it can still be read.
  expect((await again.heads(['cart/1']))[0]!.seq).toBe(3)
  await again.close()
})

const limited = process.platform === 'linux'
test.skipIf(!limited)('a full disk fails the write, says so, and harms nothing', () => {
  // A file that may not grow fails as a full disk does: the last write is a short one.
  const said = inChild({ mode: 'fill', directory }, 'sh', '-c', 'trap \'\' XFSZ; ulimit -f 2000; exec "$@"', 'sh').lines
  const [full, after, again] = said as [Line, Line, Line]
  expect(full['stored']).toBeGreaterThan(3)
  expect(full['outcome']).toMatchObject({
    is: expect.stringMatching(/^(failed|unknown)$/) as string,
    code: 'journal-unavailable',
    message: expect.stringMatching(/journal\.mdb cannot be written \(.*; its disk has \d+ bytes left\)/) as string,
  })
  expect(after).toEqual({ head: full['stored'], damages: [] })
  expect((again['again'] as { is: string }).is).toMatch(/^(failed|unknown)$/)
  // With room again everything that was acknowledged is there, and it goes on.
  const [owns, next] = inChild({ mode: 'own', directory, epoch: 2, count: 1 }).lines
  expect(owns).toEqual({ owns: 2, from: full['stored'] })
  expect(next).toEqual({ acknowledged: (full['stored'] as number) + 1 })
})

const tracer = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0
if (limited && !tracer) process.stderr.write('\nSKIPPED: a disk that cannot be flushed: strace, which stands in for it, is missing or not allowed.\n')
test.skipIf(!tracer)('a flush that fails leaves the outcome unknown, and nothing is seen that was not flushed', () => {
  const inject = ['strace', '-f', '-o', '/dev/null', '-e', 'trace=fdatasync', '-e', 'inject=fdatasync:error=EIO:when=25+']
  const [full, after] = inChild({ mode: 'fill', directory }, ...inject).lines as [Line, Line]
  expect(full['outcome']).toMatchObject({ is: 'unknown', code: 'journal-unavailable' })
  expect(after).toEqual({ head: full['stored'], damages: [] })
})

test('a process that ends in the middle of a write ends, and what was acknowledged is there', async () => {
  for (const count of [1, 2]) {
    const place = join(folder, `exit-${count}`)
    const { lines: said, signal } = inChild({ mode: 'exit', directory: place, count })
    // At once, and not by its own code, which waits for LMDB's thread, and that for this one, two times of five.
    expect([signal, said[0]]).toEqual(['SIGKILL', { acknowledged: 1 }])
    const journal = await lmdb(place).open(environment)
    expect((await journal.heads(['cart/1']))[0]!.seq).toBeGreaterThanOrEqual(1)
    expect((await journal.verify()).damages).toEqual([])
    await journal.close()
  }
})

test('owners follow one another through a chain of processes: one writes at a time, and no number is lost or given twice', async () => {
  const acknowledged: number[] = []
  const starts: number[] = []
  const owner = (epoch: number): { owns: Promise<void>; some: Promise<void>; ended: Promise<void> } => {
    const writer = spawn(process.execPath, [child, JSON.stringify({ mode: 'own', directory, epoch, ...(epoch === 5 ? { count: 20 } : {}) })])
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
  for (let epoch = 1; epoch <= 5; epoch++) {
    const { owns, some, ended } = owner(epoch)
    ends.push(ended)
    await owns
    await some
  }
  await Promise.all(ends)
  const sorted = acknowledged.toSorted((a, b) => a - b)
  expect(new Set(sorted).size).toBe(sorted.length)
  const journal = await opening()
  const [head] = await journal.heads(['cart/1'])
  // All that was acknowledged is there; what was stored besides had no answer before its process was fenced.
  expect(head!.seq).toBeGreaterThanOrEqual(sorted.at(-1)!)
  expect(starts).toEqual(starts.toSorted((a, b) => a - b))
  expect(sorted).toEqual(Array.from({ length: head!.seq }, (_, i) => i + 1))
  expect((await journal.verify()).damages).toEqual([])
  await journal.close()
})

describe('keys and records', () => {
  const text = fc.string({ unit: 'binary-ascii', maxLength: 5 })
  test('texts of keys come back, and sort as they do', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(readText(textKey(a))).toEqual({ text: a, end: textKey(a).length })
        expect(Math.sign(textKey(a).compare(textKey(b)))).toBe(a < b ? -1 : a > b ? 1 : 0)
      }),
    )
  })
  test('numbers of keys sort as they do', () => {
    const number = fc.double({ noNaN: true })
    fc.assert(
      fc.property(number, number, (a, b) => {
        expect(Math.sign(realKey(a).compare(realKey(b)))).toBe(a < b ? -1 : a > b ? 1 : 0)
      }),
    )
  })
  test('a run comes back as it was, whatever its texts are, and only from its own key', () => {
    const any = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) })
    const events = fc.array(
      fc.record({
        type: any,
        version: fc.nat(),
        data: any,
        tags: fc.array(any, { maxLength: 2 }),
        subject: fc.option(any, { nil: undefined }),
        time: fc.nat(),
      }),
      { minLength: 1, maxLength: 4 },
    )
    fc.assert(
      fc.property(events, (some) => {
        const { head, text: data } = writeRun(some)
        const key = textKey('cart/1')
        const record = seal(3, key, makeRecord(head, data), 7, 2)
        const opened = openRecord(3, key, record)!
        expect(opened).toMatchObject({ group: 7, place: 2 })
        expect(readRun(opened.head, opened.text)).toEqual(some)
        expect(openRecord(3, textKey('cart/2'), record)).toBeUndefined()
        expect(openRecord(4, key, record)).toBeUndefined()
      }),
    )
  })
})

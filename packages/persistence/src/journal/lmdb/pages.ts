// The pages of an LMDB file, read as a file and not by LMDB: it takes for granted that they are whole, and ends the process, or reads on
// for ever, where one is not. Records have sums; this is about what leads to them: that every page is what it should be, and that each
// table has as many records as it says.
//
//   page  number (8) transaction (8) pad (2) flags (2) lower (2) upper (2), then places of nodes, then free room, then nodes
//   node  size or page (4) flags (2) length of the key (2) key, content
//   tree  pad (4) flags (2) depth (2) branch, leaf and overflow pages, entries, root (8 each)

import { closeSync, openSync, readSync } from 'node:fs'

/** A page that is not what it should be. */
export interface PageDamage {
  readonly page: number
  readonly problem: string
}

const header = 24
const [branch, leaf, overflow, meta] = [1, 2, 4, 8]
const [bigData, subTree] = [1, 2]
const treeLength = 48
const none = 0xffff_ffff_ffff

interface Tree {
  readonly name: string
  readonly depth: number
  readonly entries: number
  readonly root: number
}

/** Where a look at the file begins: what its newest meta page says. */
interface Start {
  readonly size: number
  readonly transaction: number
  readonly last: number
  readonly free: Tree
  readonly main: Tree
}

/** How many pages are read before the loop has its turn. */
const step = 500

/** One look at a file. */
class Pages {
  readonly file: number
  readonly start: Start
  readonly damages: PageDamage[] = []
  /** Tables by name. */
  readonly tables: Tree[] = []
  #read = 0
  readonly #seen = new Set<number>()

  constructor(file: number, start: Start) {
    this.file = file
    this.start = start
  }

  report(page: number, problem: string): undefined {
    if (this.damages.length < 1000) this.damages.push({ page, problem })
  }

  /** Whether it is time to let others have their turn. */
  get tired(): boolean {
    return ++this.#read % step === 0
  }

  /** A page whose header is what it should be. */
  page(number: number, flags: number): Buffer | undefined {
    const { size, last, transaction } = this.start
    if (number < 2 || number > last) return this.report(number, `there is no such page: the last one is ${last}`)
    if (this.#seen.has(number)) return this.report(number, 'it is used twice')
    this.#seen.add(number)
    const bytes = Buffer.allocUnsafe(size)
    if (readSync(this.file, bytes, 0, size, number * size) < size) return this.report(number, 'it is missing')
    if (readNumber(bytes, 0) !== number) return this.report(number, 'it is another page, or none')
    if (readNumber(bytes, 8) > transaction) return this.report(number, 'it is newer than the file')
    if (bytes.readUInt16LE(18) !== flags) return this.report(number, `it is of sort ${bytes.readUInt16LE(18)} where ${flags} was expected`)
    return bytes
  }

  /** The nodes of a page, each within it. */
  *nodes(number: number, bytes: Buffer): Generator<{ readonly at: number; readonly key: Buffer; readonly flags: number }> {
    const [lower, upper] = [bytes.readUInt16LE(20), bytes.readUInt16LE(22)]
    if (lower > upper || upper > bytes.length - header || lower % 2 !== 0) return this.report(number, 'its bounds are not possible')
    for (let i = 0; i < lower / 2; i++) {
      const at = header + bytes.readUInt16LE(header + 2 * i)
      if (at < header + upper || at + 8 > bytes.length) return this.report(number, `node ${i} is outside of it`)
      const end = at + 8 + bytes.readUInt16LE(at + 6)
      if (end > bytes.length) return this.report(number, `the key of node ${i} is cut`)
      yield { at, key: bytes.subarray(at + 8, end), flags: bytes.readUInt16LE(at + 4) }
    }
  }

  /** Walks all pages of a tree, and compares. */
  *whole(tree: Tree): Generator<void> {
    if (tree.root === none) {
      if (tree.entries > 0) this.report(0, `${tree.name} has no page, and says that it has ${tree.entries} records`)
      return
    }
    const sound = this.damages.length
    const count = yield* this.walk(tree, tree.root, 1)
    if (count !== tree.entries && this.damages.length === sound)
      this.report(tree.root, `${tree.name} has ${count} records from there on, and says that it has ${tree.entries}`)
  }

  /** Walks a tree from one page down; returns how many records it has. */
  *walk(tree: Tree, number: number, depth: number): Generator<void, number> {
    const bottom = depth === tree.depth
    const bytes = this.page(number, bottom ? leaf : branch)
    if (bytes === undefined) return 0
    if (this.tired) yield
    let count = 0
    let before: Buffer | undefined
    for (const { at, key, flags } of this.nodes(number, bytes)) {
      // Keys of free pages are numbers; the first key of a branch is never looked at, and has no length.
      if (tree.name !== 'free' && before !== undefined && before.length > 0 && before.compare(key) >= 0)
        this.report(number, 'its keys are not in order')
      before = key
      if (bottom) {
        count++
        this.#content(tree, number, bytes, at, key, flags)
      } else count += yield* this.walk(tree, readNumber(bytes, at), depth + 1)
    }
    return count
  }

  #content(tree: Tree, number: number, bytes: Buffer, at: number, key: Buffer, flags: number): void {
    const from = at + 8 + key.length
    const length = bytes.readUInt32LE(at)
    if (flags === bigData) {
      if (from + 24 > bytes.length) return this.report(number, 'where a long record is told is cut')
      const [first, pages] = [readNumber(bytes, from), readNumber(bytes, from + 16)]
      if (pages < Math.ceil((header + length) / this.start.size) || first + pages - 1 > this.start.last)
        return this.report(number, `a long record has ${pages} pages from ${first} on`)
      this.page(first, overflow)
      for (let i = 1; i < pages; i++) this.#seen.add(first + i)
      return
    }
    if (from + length > bytes.length) return this.report(number, 'a record is cut')
    if (flags === subTree && tree.name === 'main' && length === treeLength) this.tables.push(readTree(bytes, from, key.toString().replace(/\0$/, '')))
    else if (flags !== 0) this.report(number, `a record has flags ${flags}`)
  }
}

function readNumber(bytes: Buffer, at: number): number {
  return bytes.readUIntLE(at, 6)
}
function readTree(bytes: Buffer, at: number, name: string): Tree {
  return { name, depth: bytes.readUInt16LE(at + 6), entries: readNumber(bytes, at + 32), root: readNumber(bytes, at + 40) }
}

/** What the newer of both meta pages says, if both are what they should be: LMDB writes them in turn, and the first commit both. */
function readStart(file: number): Start | PageDamage {
  const found: Start[] = []
  for (let size = 4096, page = 0; page < 2; page++) {
    const bytes = Buffer.alloc(160)
    if (readSync(file, bytes, 0, bytes.length, page * size) < bytes.length) return { page, problem: 'it is missing' }
    const isMeta = readNumber(bytes, 0) === page && bytes.readUInt16LE(18) === meta && bytes.readUInt32LE(24) === 0xbeefc0de
    const said = bytes.readUInt32LE(48)
    if (!isMeta || said < 512 || said > 65_536 || (page > 0 && said !== size)) return { page, problem: 'it does not say what the file is' }
    size = said
    const [transaction, last] = [readNumber(bytes, 152), readNumber(bytes, 144)]
    found.push({ size, transaction, last, free: readTree(bytes, 48, 'free'), main: readTree(bytes, 96, 'main') })
  }
  const [one, other] = found as [Start, Start]
  return one.transaction > other.transaction ? one : other
}

/** Does something with the pages of a file as of its newest commit; where others commit meanwhile, and pages are used again, once more. */
function looking(path: string, work: (pages: Pages) => void): readonly PageDamage[] {
  const file = openSync(path, 'r')
  try {
    for (let tries = 0; ; tries++) {
      const start = readStart(file)
      const pages = 'problem' in start ? undefined : new Pages(file, start)
      if (pages !== undefined) work(pages)
      const damages = pages?.damages ?? [start as PageDamage]
      if (damages.length === 0 || tries === 20 || JSON.stringify(readStart(file)) === JSON.stringify(start)) return damages
    }
  } finally {
    closeSync(file)
  }
}

/** Looks at the first page of every table: few pages, read before LMDB does. */
export function checkRoots(path: string): PageDamage | undefined {
  const [first] = looking(path, (pages) => {
    const { main, transaction } = pages.start
    // Nobody has written to it yet.
    if (main.root === none) return
    // Every commit changes some table, and so this page; a copy by LMDB begins with 1. Else an older state would be taken for the newest.
    const root = new Pages(pages.file, pages.start).page(main.root, main.depth === 1 ? leaf : branch)
    if (root !== undefined && readNumber(root, 8) !== transaction && readNumber(root, 8) !== 1)
      pages.report(main.root, `it is of transaction ${readNumber(root, 8)}, and the file says ${transaction}`)
    for (const _ of pages.whole(main)) continue
    for (const { root: page, depth } of pages.tables) if (page !== none) pages.page(page, depth === 1 ? leaf : branch)
  })
  return first
}

/** Looks at every page that is in use. Whoever calls it keeps LMDB from using pages again meanwhile, by a transaction that reads. */
export async function checkPages(path: string, signal: AbortSignal | undefined): Promise<readonly PageDamage[]> {
  const file = openSync(path, 'r')
  try {
    const start = readStart(file)
    if ('problem' in start) return [start]
    const pages = new Pages(file, start)
    for (const tree of [start.free, start.main]) await walked(pages, tree, signal)
    // Those that were found on the way.
    for (const tree of pages.tables) await walked(pages, tree, signal)
    return pages.damages
  } finally {
    closeSync(file)
  }
}
async function walked(pages: Pages, tree: Tree, signal: AbortSignal | undefined): Promise<void> {
  for (const _ of pages.whole(tree)) {
    signal?.throwIfAborted()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

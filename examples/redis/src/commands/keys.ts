// Keys of any kind: whether they are there, until when, and which.

import { Deque } from '../deque.ts'
import type { Replies } from '../replies.ts'
import type { Store, Value } from '../store.ts'
import { type Command, command, fail, glob, integer } from './command.ts'

function kind(value: Value | undefined): string {
  if (value === undefined) return 'none'
  if (typeof value === 'string') return 'string'
  return value instanceof Deque ? 'list' : value instanceof Map ? 'hash' : 'set'
}

function expire(name: string, unit: number): Command {
  return command(name, 3, (store, args, out) => {
    const ms = integer(args[2]!) * unit
    if (!Number.isSafeInteger(ms)) fail(`ERR invalid expire time in '${name.toLowerCase()}' command`)
    if (store.get(args[1]!) === undefined) return out.integer(0)
    store.expire(args[1]!, store.now + ms)
    out.integer(1)
  })
}

function remaining(name: string, unit: number): Command {
  return command(name, 2, (store, args, out) => {
    if (store.get(args[1]!) === undefined) return out.integer(-2)
    const at = store.expiresAt(args[1]!)
    out.integer(at === undefined ? -1 : Math.ceil((at - store.now) / unit))
  })
}

/** One page of the keys. A cursor names an iterator that the store keeps, so that a page costs what it returns. */
function scan(store: Store, args: readonly string[], out: Replies): void {
  const cursor = Number(args[1])
  if (!Number.isSafeInteger(cursor) || cursor < 0) fail('ERR invalid cursor')
  let count = 10
  let matches = glob('*')
  let wanted: string | undefined
  for (let i = 2; i < args.length; i += 2) {
    const value = args[i + 1]
    if (value === undefined) fail()
    const word = args[i]!.toUpperCase()
    if (word === 'COUNT') count = integer(value)
    else if (word === 'MATCH') matches = glob(value)
    else if (word === 'TYPE') wanted = value.toLowerCase()
    else fail()
  }
  if (count < 1) fail()
  const left = store.scanFrom(cursor)
  const page: string[] = []
  let more = true
  for (let i = 0; i < count; i++) {
    const next = left.next()
    if (next.done === true) {
      more = false
      break
    }
    const value = store.get(next.value)
    if (value !== undefined && matches(next.value) && (wanted === undefined || kind(value) === wanted)) page.push(next.value)
  }
  out.array(2)
  out.bulk(more ? String(store.scanLater(left)) : '0')
  out.bulks(page, page.length)
}

export const keys: readonly Command[] = [
  command('DEL', -2, (store, args, out) => {
    let deleted = 0
    for (let i = 1; i < args.length; i++) if (store.delete(args[i]!)) deleted++
    out.integer(deleted)
  }),
  command('EXISTS', -2, (store, args, out) => {
    let there = 0
    for (let i = 1; i < args.length; i++) if (store.get(args[i]!) !== undefined) there++
    out.integer(there)
  }),
  command('TYPE', 2, (store, args, out) => out.simple(kind(store.get(args[1]!)))),
  expire('EXPIRE', 1000),
  expire('PEXPIRE', 1),
  remaining('TTL', 1000),
  remaining('PTTL', 1),
  command('PERSIST', 2, (store, args, out) => out.integer(store.get(args[1]!) !== undefined && store.persist(args[1]!) ? 1 : 0)),
  command('KEYS', 2, (store, args, out) => {
    const matches = glob(args[1]!)
    const found: string[] = []
    for (const key of store.keys()) if (matches(key) && store.get(key) !== undefined) found.push(key)
    out.bulks(found, found.length)
  }),
  command('SCAN', -2, scan),
  command('DBSIZE', 1, (store, _args, out) => out.integer(store.size)),
  command('FLUSHDB', -1, (store, _args, out) => {
    store.clear()
    out.ok()
  }),
]

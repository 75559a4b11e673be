// Lists, hashes and sets. A collection that runs empty is gone, as Redis has it.

import { Deque } from '../deque.ts'
import type { Store } from '../store.ts'
import { type Command, command, fail, integer, pairs } from './command.ts'

function push(name: string, put: (list: Deque, value: string) => void): Command {
  return command(name, -3, (store, args, out) => {
    const key = args[1]!
    let list = store.list(key)
    if (list === undefined) store.set(key, (list = new Deque()))
    for (let i = 2; i < args.length; i++) put(list, args[i]!)
    out.integer(list.length)
  })
}

function pop(name: string, end: 'front' | 'back'): Command {
  const take = (list: Deque): string | undefined => (end === 'front' ? list.popFront() : list.popBack())
  return command(name, -2, (store, args, out) => {
    if (args.length > 3) fail(`ERR wrong number of arguments for '${name.toLowerCase()}' command`)
    const key = args[1]!
    const many = args[2] === undefined ? undefined : integer(args[2])
    if (many !== undefined && many < 0) fail('ERR value is out of range, must be positive')
    const list = store.list(key)
    if (list === undefined) return many === undefined ? out.bulk(undefined) : out.nothing()
    if (many === undefined) out.bulk(take(list))
    else {
      const count = Math.min(many, list.length)
      const from = end === 'front' ? 0 : list.length - count
      let size = 16 * (count + 1)
      for (const value of list.range(from, from + count - 1)) size += value.length
      out.expect(size)
      out.array(count)
      for (let i = 0; i < count; i++) out.bulk(take(list))
    }
    if (list.length === 0) store.delete(key)
  })
}

/** Removes the words from `from` on with `remove`; gives how many there were. */
function removeAll(store: Store, args: readonly string[], holder: { readonly size: number } | undefined, remove: (word: string) => boolean): number {
  if (holder === undefined) return 0
  let removed = 0
  for (let i = 2; i < args.length; i++) if (remove(args[i]!)) removed++
  if (holder.size === 0) store.delete(args[1]!)
  return removed
}

export const collections: readonly Command[] = [
  push('LPUSH', (list, value) => list.pushFront(value)),
  push('RPUSH', (list, value) => list.pushBack(value)),
  pop('LPOP', 'front'),
  pop('RPOP', 'back'),
  command('LLEN', 2, (store, args, out) => out.integer(store.list(args[1]!)?.length ?? 0)),
  command('LRANGE', 4, (store, args, out) => {
    const list = store.list(args[1]!)
    const [first, last] = [integer(args[2]!), integer(args[3]!)]
    if (list === undefined) return out.array(0)
    const from = Math.max(0, first < 0 ? list.length + first : first)
    const to = Math.min(list.length - 1, last < 0 ? list.length + last : last)
    out.bulks(list.range(from, to), Math.max(0, to - from + 1))
  }),

  command('HSET', -4, (store, args, out) => {
    const key = args[1]!
    let hash = store.hash(key)
    const fields = [...pairs(args, 2, 'hset')]
    if (hash === undefined) store.set(key, (hash = new Map()))
    const before = hash.size
    for (const [field, value] of fields) hash.set(field, value)
    out.integer(hash.size - before)
  }),
  command('HGET', 3, (store, args, out) => out.bulk(store.hash(args[1]!)?.get(args[2]!))),
  command('HGETALL', 2, (store, args, out) => {
    const hash = store.hash(args[1]!)
    out.array((hash?.size ?? 0) * 2)
    for (const [field, value] of hash ?? []) {
      out.bulk(field)
      out.bulk(value)
    }
  }),
  command('HDEL', -3, (store, args, out) => {
    const hash = store.hash(args[1]!)
    out.integer(removeAll(store, args, hash, (field) => hash!.delete(field)))
  }),

  command('SADD', -3, (store, args, out) => {
    const key = args[1]!
    let members = store.members(key)
    if (members === undefined) store.set(key, (members = new Set()))
    const before = members.size
    for (let i = 2; i < args.length; i++) members.add(args[i]!)
    out.integer(members.size - before)
  }),
  command('SREM', -3, (store, args, out) => {
    const members = store.members(args[1]!)
    out.integer(removeAll(store, args, members, (member) => members!.delete(member)))
  }),
  command('SMEMBERS', 2, (store, args, out) => {
    const members = store.members(args[1]!)
    out.bulks(members ?? [], members?.size ?? 0)
  }),
  command('SISMEMBER', 3, (store, args, out) => out.integer(store.members(args[1]!)?.has(args[2]!) === true ? 1 : 0)),
  command('SCARD', 2, (store, args, out) => out.integer(store.members(args[1]!)?.size ?? 0)),
]

// Strings and counters.

import { notAnInteger } from '../replies.ts'
import { add, type Command, command, fail, integer, pairs } from './command.ts'

interface SetOptions {
  condition: 'NX' | 'XX' | undefined
  expiresIn: number | undefined
  keep: boolean
  get: boolean
}

function setOptions(args: readonly string[]): SetOptions {
  const options: SetOptions = { condition: undefined, expiresIn: undefined, keep: false, get: false }
  for (let i = 3; i < args.length; i++) {
    const word = args[i]!.toUpperCase()
    if (word === 'NX' || word === 'XX') {
      if (options.condition !== undefined && options.condition !== word) fail()
      options.condition = word
    } else if (word === 'KEEPTTL') options.keep = true
    else if (word === 'GET') options.get = true
    else if (word === 'EX' || word === 'PX') {
      const amount = args[++i]
      if (amount === undefined || options.expiresIn !== undefined) fail()
      options.expiresIn = integer(amount) * (word === 'EX' ? 1000 : 1)
      if (options.expiresIn <= 0 || !Number.isSafeInteger(options.expiresIn)) fail("ERR invalid expire time in 'set' command")
    } else fail()
  }
  if (options.keep && options.expiresIn !== undefined) fail()
  return options
}

function addTo(name: string, arity: number, by: (args: readonly string[]) => string): Command {
  return command(name, arity, (store, args, out) => {
    const key = args[1]!
    const sum = add(store.text(key) ?? '0', by(args))
    store.change(key, sum)
    out.text += `:${sum}\r\n`
  })
}

function negated(text: string): string {
  if (!/^-?\d+$/.test(text)) fail(notAnInteger)
  return text === '0' ? '0' : text.startsWith('-') ? text.slice(1) : `-${text}`
}

export const strings: readonly Command[] = [
  command('GET', 2, (store, args, out) => out.bulk(store.text(args[1]!))),
  command('SET', -3, (store, args, out) => {
    const key = args[1]!
    if (args.length === 3) {
      store.set(key, args[2]!)
      return out.ok()
    }
    const { condition, expiresIn, keep, get } = setOptions(args)
    const old = get ? store.text(key) : undefined
    const exists = store.get(key) !== undefined
    if ((condition === 'NX' && exists) || (condition === 'XX' && !exists)) return out.bulk(get ? old : undefined)
    if (keep) store.change(key, args[2]!)
    else store.set(key, args[2]!)
    if (expiresIn !== undefined) store.expire(key, store.now + expiresIn)
    if (get) out.bulk(old)
    else out.ok()
  }),
  command('MSET', -3, (store, args, out) => {
    for (const [key, value] of pairs(args, 1, 'mset')) store.set(key, value)
    out.ok()
  }),
  command('MGET', -2, (store, args, out) => {
    out.array(args.length - 1)
    for (let i = 1; i < args.length; i++) {
      const value = store.get(args[i]!)
      out.bulk(typeof value === 'string' ? value : undefined)
    }
  }),
  addTo('INCR', 2, () => '1'),
  addTo('DECR', 2, () => '-1'),
  addTo('INCRBY', 3, (args) => args[2]!),
  addTo('DECRBY', 3, (args) => negated(args[2]!)),
]

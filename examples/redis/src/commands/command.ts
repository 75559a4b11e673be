// What a command is: how many words it takes, and what it does to a store.

import { CommandError, notAnInteger, type Replies, syntaxError } from '../replies.ts'
import type { Store } from '../store.ts'

export interface Command {
  readonly name: string
  /** As Redis counts: the words including the name; negative means at least that many. */
  readonly arity: number
  readonly run: (store: Store, args: readonly string[], out: Replies) => void
  /** Looks at no key: whoever has the words can answer. */
  readonly stateless: boolean
}

export function command(name: string, arity: number, run: Command['run'], stateless = false): Command {
  return { name, arity, run, stateless }
}

/** A 64-bit integer within what JavaScript counts exactly. */
export function integer(text: string): number {
  const n = Number(text)
  if (!Number.isSafeInteger(n) || String(n) !== text) throw new CommandError(notAnInteger)
  return n
}

const least = -(2n ** 63n)
const most = 2n ** 63n - 1n

/** Adds as Redis does, in 64 bits: numbers as long as they are exact, big ones beyond. */
export function add(text: string, by: string): string {
  const n = Number(text)
  const m = Number(by)
  const sum = n + m
  if (Number.isSafeInteger(sum) && Number.isSafeInteger(n) && Number.isSafeInteger(m) && String(n) === text && String(m) === by) return String(sum)
  if (!/^-?(0|[1-9]\d{0,18})$/.test(text) || !/^-?(0|[1-9]\d{0,18})$/.test(by)) throw new CommandError(notAnInteger)
  const [a, b] = [BigInt(text), BigInt(by)]
  if (a < least || a > most || b < least || b > most) throw new CommandError(notAnInteger)
  const big = a + b
  if (big < least || big > most) throw new CommandError('ERR increment or decrement would overflow')
  return String(big)
}

/** Pairs of words from `from` on; an odd one is an error of the command. */
export function* pairs(args: readonly string[], from: number, name: string): Generator<readonly [string, string]> {
  if ((args.length - from) % 2 !== 0) throw new CommandError(`ERR wrong number of arguments for '${name}' command`)
  for (let i = from; i < args.length; i += 2) yield [args[i]!, args[i + 1]!]
}

/** A Redis glob as a function. Linear: one saved star, no recursion, so that no pattern can take exponential time. */
export function glob(pattern: string): (text: string) => boolean {
  if (pattern === '*') return () => true
  return (text) => {
    let p = 0
    let t = 0
    let star = -1
    let mark = 0
    while (t < text.length) {
      const c = pattern[p]
      const set = c === '[' ? readSet(pattern, p, text[t]!) : undefined
      if (c === '*') {
        star = p++
        mark = t
      } else if (c === '?' || (c === '\\' && pattern[p + 1] === text[t]) || (set?.matches ?? (c === text[t] && c !== '\\'))) {
        p = set?.next ?? (c === '\\' ? p + 2 : p + 1)
        t++
      } else if (star >= 0) {
        p = star + 1
        t = ++mark
      } else return false
    }
    while (pattern[p] === '*') p++
    return p >= pattern.length
  }
}

function readSet(pattern: string, at: number, c: string): { readonly matches: boolean; readonly next: number } {
  let i = at + 1
  const not = pattern[i] === '^'
  if (not) i++
  let found = false
  while (i < pattern.length && pattern[i] !== ']') {
    if (pattern[i] === '\\') i++
    const from = pattern[i] ?? ''
    if (pattern[i + 1] === '-' && i + 2 < pattern.length && pattern[i + 2] !== ']') {
      const to = pattern[i + 2]!
      if (c >= (from < to ? from : to) && c <= (from < to ? to : from)) found = true
      i += 3
    } else {
      if (from === c) found = true
      i++
    }
  }
  return { matches: found !== not, next: i + 1 }
}

export function fail(message: string = syntaxError): never {
  throw new CommandError(message)
}

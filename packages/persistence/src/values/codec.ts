// Values as text. What JSON keeps as it is, is plain JSON, so that people and databases can read it; what JSON would change without a
// word (dates, maps, big integers, bytes, NaN) is tagged, and what it would lose (functions, instances of classes) is refused, with its place.
//
//   { at: new Date(0) }  ⇄  {"at":{"$":"date","v":0}}

import { Buffer } from 'node:buffer'
import { EventTooLarge, NotStorable } from './errors.ts'

/** Deeper than any data, and less deep than the stack. */
const deepest = 500
/** What is said of the way to something that refers to itself: enough to see the circle. */
const longest = 200

type Tagged = { readonly $: string; readonly v: unknown }

/** Characters that the value that is being encoded may still have; a number, a key or a bracket counts as one. */
let left = Infinity

/** The value has more. */
class Exceeded extends Error {}

function spend(characters: number): void {
  left -= characters
  if (left < 0) throw new Exceeded()
}

/**
 * The text of a value. Fails with `NotStorable`, which says where the trouble is in `what` of `id`; put together only then, for every event comes by
 * here. A value of more bytes than `most` is refused with `EventTooLarge` before any of it is encoded: that could hold the loop for long.
 */
export function encode(value: unknown, what: string, id?: string, name?: string, most: number = Infinity): string {
  // A getter may encode something else meanwhile.
  const outer = left
  try {
    left = most
    const plain = isPlain(value, 0)
    left = most
    const text = JSON.stringify(plain ? value : tagged(value, placeIn(what, id, name), 0))
    // Characters of more than one byte, and escapes.
    if (text !== undefined && text.length * 3 > most && Buffer.byteLength(text) > most) throw new Exceeded()
    return text
  } catch (cause) {
    if (cause instanceof Exceeded) throw new EventTooLarge(placeIn(what, id, name), most)
    // Getters, proxies, and what is longer than any text may be.
    throw cause instanceof NotStorable
      ? cause
      : new NotStorable(placeIn(what, id, name), `it cannot be read as a whole (${cause instanceof Error ? cause.message : 'it threw'})`)
  } finally {
    left = outer
  }
}

function placeIn(what: string, id: string | undefined, name: string | undefined): string {
  return `${what}${name === undefined ? '' : ` ${name}`}${id === undefined ? '' : ` of ${id}`}`
}

/** The value of a text that `encode` made. A property that was undefined is absent. Fails with a `SyntaxError`. */
export function decode(text: string): unknown {
  const value: unknown = JSON.parse(text)
  // Where nothing is tagged there is nothing to look for.
  return text.includes('"$":') ? untagged(value) : value
}

function isObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
/** An array, also one of another realm, and not an instance of a class of arrays: its prototype has one that has none. */
function isArray(value: object): value is readonly unknown[] {
  if (!Array.isArray(value)) return false
  const prototype = Object.getPrototypeOf(value) as object | null
  return prototype === Array.prototype || (prototype !== null && Object.getPrototypeOf(Object.getPrototypeOf(prototype)) === null)
}
/** Of the class itself: what comes back is no instance of one that extends it. */
function isExactly<T extends object>(value: object, made: new (...args: never[]) => T): value is T {
  return value instanceof made && Object.getPrototypeOf(value) === made.prototype
}

/** Whether JSON gives back what it is given. */
function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      spend(value.length)
      return true
    case 'boolean':
      spend(1)
      return true
    case 'number':
      spend(1)
      return Number.isFinite(value) && (value !== 0 || 1 / value > 0)
    case 'object':
      if (value === null) return true
      if (depth > deepest) return false
      spend(2)
      if (Array.isArray(value)) {
        if (!isArray(value) || 'toJSON' in value) return false
        for (let i = 0; i < value.length; i++) if (!isPlain(value[i], depth + 1)) return false
        return true
      }
      if (!isObject(value)) return false
      for (const key in value) {
        const part = (value as Record<string, unknown>)[key]
        if (key === '$' || key === 'toJSON' || (part !== undefined && !isPlain(part, depth + 1))) return false
      }
      return true
    default:
      return false
  }
}

function tagged(value: unknown, where: string, depth: number): unknown {
  if (depth > deepest) throw new NotStorable(`${where.slice(0, longest)}…`, 'it is nested too deeply, or refers to itself')
  switch (typeof value) {
    case 'undefined':
      spend(1)
      return tag('undefined', 0)
    case 'bigint':
      spend(1)
      return tag('bigint', String(value))
    case 'string':
      spend(value.length)
      return value
    case 'number':
      return isPlain(value, 0) ? value : tag('number', Object.is(value, -0) ? '-0' : String(value))
    case 'function':
    case 'symbol':
      throw new NotStorable(where, `it is a ${typeof value}`)
    case 'object':
      return value === null ? null : taggedObject(value, where, depth)
    default:
      return value
  }
}

function tag($: string, v: unknown): Tagged {
  return { $, v }
}

function taggedObject(value: object, where: string, depth: number): unknown {
  spend(2)
  const part = (one: unknown, at: string): unknown => tagged(one, `${where}${at}`, depth + 1)
  if (isArray(value)) return Array.from(value, (one, i) => part(one, `[${i}]`))
  if (isExactly(value, Date)) return tag('date', Number.isNaN(value.getTime()) ? null : value.getTime())
  if (isExactly(value, Map))
    return tag(
      'map',
      [...value].map(([key, one], i) => [part(key, `.key(${i})`), part(one, `.get(${i})`)]),
    )
  if (isExactly(value, Set))
    return tag(
      'set',
      [...value].map((one, i) => part(one, `.at(${i})`)),
    )
  // A Buffer is how Node hands out bytes.
  if (isExactly(value, Uint8Array) || isExactly(value, Buffer)) {
    spend(value.byteLength)
    return tag('bytes', Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64'))
  }
  if (!isObject(value)) throw new NotStorable(where, `it is an instance of ${value.constructor?.name || 'a class'}`)
  const entries = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(([key, one]): [string, unknown] => [key, part(one, `.${key}`)])
  // An object that looks like a tag is tagged itself.
  return '$' in value || 'toJSON' in value ? tag('object', entries) : Object.fromEntries(entries)
}

function untagged(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(untagged)
  if (!Object.hasOwn(value, '$')) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, untagged(one)]))
  const { $, v } = value as Tagged
  switch ($) {
    case 'undefined':
      return undefined
    case 'bigint':
      return BigInt(v as string)
    case 'number':
      return Number(v)
    case 'date':
      return new Date(v === null ? Number.NaN : (v as number))
    case 'map':
      return new Map((v as [unknown, unknown][]).map(([key, one]) => [untagged(key), untagged(one)]))
    case 'set':
      return new Set((v as unknown[]).map(untagged))
    case 'bytes':
      return new Uint8Array(Buffer.from(v as string, 'base64'))
    case 'object':
      return Object.fromEntries((v as [string, unknown][]).map(([key, one]) => [key, untagged(one)]))
    default:
      throw new SyntaxError(`unknown tag ${JSON.stringify($)}`)
  }
}

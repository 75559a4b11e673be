// Makes values from recipes: for sending, or as the stand-in that structured clone is given for comparison.

import { type Field, keys, type Recipe } from './recipes.ts'

/** What a value is made with. */
export interface World {
  /** Whether it is made for comparison. */
  readonly standIn: boolean
  readonly refs: readonly unknown[]
  /** What a getter calls that tells. */
  tell(): void
}

/** What was found out about a value while it was made. */
export interface Notes {
  /** Structured clone refuses it, and what it shows may go over all the same. */
  shows: boolean
  /** Structured clone takes it, and leaves nothing of it: it may be refused. */
  bare: boolean
  /** It loses fields while it is read, and may be refused for it. */
  shrinks: boolean
  /** Too deep for structured clone. */
  deep: boolean
}

export const errorMark = '\u0001error'
export const refMark = '\u0001ref '

class Point {
  readonly own: number
  constructor(own: number) {
    this.own = own
  }
  method(): number {
    return this.own
  }
}
class List extends Array<unknown> {}
const words = Array.from({ length: 31 }, (_, i) => (i % 3 === 0 ? `word${i}` : i % 3 === 1 ? `a longer word, number ${i}` : `é${i}`))
type View = new (buffer: ArrayBuffer, offset?: number, length?: number) => ArrayBufferView
const views = [
  Uint8Array,
  Int8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
] as unknown as readonly (View & { readonly BYTES_PER_ELEMENT?: number })[]
const errors = [Error, TypeError, RangeError, SyntaxError, ReferenceError, URIError, EvalError] as const

/** Makes one value; its own objects can be referred to by number. */
export class Maker {
  readonly notes: Notes = { shows: false, bare: false, shrinks: false, deep: false }
  readonly #world: World
  readonly #made: object[] = []
  readonly #standIns: object[] = []
  #common: ArrayBuffer | undefined
  constructor(world: World) {
    this.#world = world
  }

  make(recipe: Recipe): unknown {
    switch (recipe[0]) {
      case 'number':
        return Number(recipe[1])
      case 'bigint':
        return BigInt(recipe[1])
      case 'text':
        return String.fromCharCode(...recipe[1])
      case 'word':
        return words[recipe[1]]
      case 'undefined':
        return undefined
      case 'null':
        return null
      case 'true':
      case 'false':
        return recipe[0] === 'true'
      case 'symbol':
        return Symbol('a symbol')
      case 'function':
        return () => 1
      case 'ref':
        return this.#ref(recipe[1] % this.#world.refs.length)
      case 'back':
        return this.#made.length === 0 ? 'nothing yet' : this.#made[recipe[1] % this.#made.length]
      case 'object':
        return this.#object(recipe[1], recipe[2])
      case 'array':
        return this.#array(recipe[1], recipe[2], recipe[3])
      case 'map': {
        const map = this.#noted(new Map<unknown, unknown>())
        for (const [key, item] of recipe[1]) map.set(this.make(key), this.make(item))
        return map
      }
      case 'set': {
        const set = this.#noted(new Set<unknown>())
        for (const item of recipe[1]) set.add(this.make(item))
        return set
      }
      case 'error':
        return this.#error(recipe)
      case 'view':
        return this.#view(recipe)
      default:
        return this.#special(recipe[0], (recipe as readonly [string, number])[1])
    }
  }

  #noted<T extends object>(made: T): T {
    this.#made.push(made)
    return made
  }
  #ref(n: number): unknown {
    return this.#world.standIn ? (this.#standIns[n] ??= Object(`${refMark}${n}`) as object) : this.#world.refs[n]
  }

  #object(how: string, fields: readonly Field[]): object {
    const target = (how === 'null' ? Object.create(null) : how === 'class' ? new Point(fields.length) : {}) as Record<string, unknown>
    if (how === 'symbols') Object.assign(target, { [Symbol('key')]: () => 1, [Symbol.toStringTag]: 'Odd' })
    const proxied = how === 'proxy' && !this.#world.standIn
    if (how === 'proxy') this.notes.shows = true
    const made = this.#noted(proxied ? new Proxy(target, {}) : target)
    for (const field of fields) this.#put(target, field)
    return made
  }
  #array(how: string, items: readonly (Recipe | null)[], extras: readonly Field[]): object {
    const target: unknown[] = how === 'class' ? new List() : []
    if (how === 'proxy') this.notes.shows = true
    const made = this.#noted(how === 'proxy' && !this.#world.standIn ? new Proxy(target, {}) : target)
    for (const [i, item] of items.entries()) {
      if (item === null) target.length = i + 1
      else target[i] = this.make(item)
    }
    for (const field of extras) if (field[0] !== 'length' && field[0] !== '4294967295') this.#put(target as never, field)
    return made
  }
  #put(target: Record<string, unknown>, [key, recipe, getter]: Field): void {
    const value = this.make(recipe)
    // Fields come once: one that is defined again changes its place in the order for nobody.
    const descriptor: PropertyDescriptor = { enumerable: true, configurable: true }
    if (getter === null) Object.defineProperty(target, key, { ...descriptor, value, writable: true })
    else Object.defineProperty(target, key, { ...descriptor, get: this.#getter(target, key, value, getter) })
  }
  #getter(target: Record<string, unknown>, key: string, value: unknown, what: string): () => unknown {
    let count = 0
    if (what === 'deletes') this.notes.shrinks = true
    const other = (): string | undefined => {
      const all = Object.keys(target)
      return all[(all.indexOf(key) + 1) % all.length]
    }
    return () => {
      count++
      if (what === 'counts') return count
      if (what === 'throws') throw new Error('this getter throws')
      if (what === 'tells') this.#world.tell()
      if (what === 'deletes' && other() !== undefined) delete target[other()!]
      if (what === 'adds') define(target, 'added', count)
      if (what === 'changes' && other() !== undefined && other() !== key) define(target, other()!, `changed ${count}`)
      if (what === 'grows' && Array.isArray(target)) target.push(count)
      return value
    }
  }

  #error([, kind, message, fields, cause]: readonly ['error', number, string, readonly Field[], Recipe | null]): object {
    if (!this.#world.standIn) {
      const error = this.#noted(kind < errors.length ? new errors[kind]!(message) : Object.assign(new Error(message), { name: 'OddError' }))
      for (const field of fields) this.#put(error as never, field)
      if (cause !== null) Object.defineProperty(error, 'cause', { value: this.make(cause), configurable: true, writable: true })
      return error
    }
    const carried: Record<string, unknown> = {}
    const standIn: Record<string, unknown> = this.#noted({ [errorMark]: kind < errors.length ? errors[kind]!.name : 'OddError', message, carried })
    for (const field of fields) this.#put(carried, field)
    // What cannot go is left out.
    for (const [key, held] of Object.entries(carried)) if (typeof held === 'function' || typeof held === 'symbol') delete carried[key]
    if (cause !== null) standIn['cause'] = this.make(cause)
    return standIn
  }

  #view([, kind, bytes, offset, common]: readonly ['view', number, readonly number[], number, boolean]): object {
    const View = views[kind]!
    const size = View.BYTES_PER_ELEMENT ?? 1
    if (common) {
      this.#common ??= new Uint8Array(Array.from({ length: 64 }, (_, i) => i)).buffer
      return this.#noted(new View(this.#common, offset * size, Math.min(bytes.length, Math.floor(64 / size) - offset)))
    }
    if (kind === 0 && offset === 1) return this.#noted(this.#world.standIn ? new Uint8Array(bytes) : Buffer.from(bytes))
    const buffer = new Uint8Array(bytes.concat(bytes)).buffer
    if (offset === 2 && kind === 1) return this.#noted(buffer)
    const room = Math.floor(buffer.byteLength / size)
    const from = Math.min(offset, room)
    return this.#noted(buffer.byteLength % size === 0 && from === 0 ? new View(buffer) : new View(buffer, from * size, room - from))
  }

  #special(kind: string, n: number): unknown {
    switch (kind) {
      case 'date':
        return this.#noted(new Date([0, NaN, 8.64e15, -1, 1e12, 5][n]!))
      case 'regexp':
        return this.#noted(
          [
            /a/,
            /b/gi,
            /\n\//u,
            new RegExp(''),
            /(?<n>x)/dy,
            Object.assign(/c/g, { lastIndex: 3 }),
            Object.defineProperty(/d/, 'flags', { value: 'g' }),
          ][n]!,
        )
      case 'boxed':
        return this.#noted([Object(1), Object('text'), Object(true), Object(5n), Object(-0)][n] as object)
      case 'shared':
        return this.#noted(new Uint8Array(new SharedArrayBuffer(4)).fill(7))
      case 'resizable':
        return this.#noted(new Uint8Array(new (ArrayBuffer as unknown as new (n: number, o: object) => ArrayBuffer)(4, { maxByteLength: 8 })).fill(3))
      case 'arguments':
        this.notes.shows = true
        return this.#noted(this.#world.standIn ? { 0: 1, 1: 'two' } : argumentsOf(1, 'two'))
      case 'wide': {
        const wide: Record<string, unknown> = this.#noted({})
        for (let i = 0; i < n; i++) wide[`${keys[i % keys.length]!}${i}`] = i
        return wide
      }
      case 'deep': {
        this.notes.deep = true
        let list: unknown = null
        for (let i = 0; i < n; i++) list = i % 3 === 0 ? { next: list, n: i } : i % 3 === 1 ? [i, list] : new Map([['next', list]])
        return list
      }
      case 'long':
        return ['x'.repeat(n), `é${'y'.repeat(n)}`, Array.from({ length: n / 100 }, (_, i) => ({ i, name: `n${i % 7}` }))]
      case 'heavy': {
        const bytes = new Uint8Array(n).map((_, i) => i)
        return [bytes, bytes.buffer, new Uint8Array(bytes.buffer, 5, 10), Buffer.from(bytes)]
      }
      default:
        return this.#platform(n)
    }
  }
  #platform(n: number): unknown {
    const thing = [
      () => new URL('http://x/y'),
      () => Promise.resolve(1),
      () => new WeakMap(),
      () => new Intl.NumberFormat('en'),
      () => [][Symbol.iterator](),
      () => new AbortController(),
      () => new WeakRef({}),
      () => Object.create(Date.prototype) as object,
      () => Object.setPrototypeOf(new Date(5), null) as object,
      () => new (class extends Map<unknown, unknown> {})([[1, 2]]),
    ][n]!()
    if (n === 0 || n === 5 || n === 7) this.notes.bare = true
    return this.#noted(thing)
  }
}

function argumentsOf(..._args: readonly unknown[]): object {
  return (
    function (this: void) {
      return arguments
    } as (...args: readonly unknown[]) => object
  )(..._args)
}
function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}

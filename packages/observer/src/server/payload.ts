// A message as text, for a page that was allowed to show it. It reads what is there and runs nothing: no getter, no `toJSON`, no trap of a
// proxy. What is deep, long or takes long is cut, and it is said where. What looks like a secret is not shown.

import { types } from 'node:util'

/** What stands in place of a value; whatever it returns is shown in its stead. Called for every field, with its name. */
export type Redact = (name: string, value: unknown) => unknown

const deepest = 4
const fieldsMost = 20
const longestText = 200
const longestAll = 2000
/** Milliseconds for one message. */
const longestTime = 2
const secret = /pass(word|wd|phrase)?$|secret|token|authori[sz]ation|cookie|api[-_]?key|credential|private[-_]?key/i
const hidden = '•••'

export function payloadText(value: unknown, redact: Redact | undefined, now: () => number = () => performance.now()): string {
  try {
    return new Reader(redact, now).text('', value, 0)
  } catch {
    return 'a value that cannot be read'
  }
}

class Reader {
  readonly #redact: Redact | undefined
  readonly #now: () => number
  readonly #until: number
  #left = longestAll

  constructor(redact: Redact | undefined, now: () => number) {
    this.#redact = redact
    this.#now = now
    this.#until = now() + longestTime
  }

  text(name: string, given: unknown, depth: number): string {
    if (secret.test(name)) return this.#spend(hidden)
    const value = this.#redact === undefined || name === '' ? given : this.#redact(name, given)
    if (typeof value === 'string') return this.#spend(JSON.stringify(value.length > longestText ? `${value.slice(0, longestText)}…` : value))
    if (typeof value === 'function') return this.#spend('a function')
    if (typeof value === 'symbol') return this.#spend('a symbol')
    if (typeof value === 'bigint') return this.#spend(`${value}n`.slice(0, longestText))
    if (typeof value !== 'object' || value === null) return this.#spend(String(value))
    if (types.isProxy(value)) return this.#spend('a proxy')
    if (this.#left <= 0 || this.#now() > this.#until) return '…'
    return this.#object(value, depth)
  }

  #object(value: object, depth: number): string {
    if (Array.isArray(value)) return this.#list(value, depth)
    if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return this.#spend('bytes')
    if (types.isMap(value) || types.isSet(value)) return this.#spend(types.isMap(value) ? 'a map' : 'a set')
    if (types.isDate(value)) return this.#spend(dateText(value))
    // A ref, an error, an object of a class: its name says more than its insides.
    const name = className(value)
    if (name !== undefined) return this.#spend(name)
    if (depth >= deepest) return this.#spend('{…}')
    const parts: string[] = []
    let shown = 0
    for (const key of Object.keys(value)) {
      if (shown++ >= fieldsMost || this.#left <= 0) {
        parts.push('…')
        break
      }
      const field = Object.getOwnPropertyDescriptor(value, key)
      const called = /^[\w$]+$/.test(key) ? key : JSON.stringify(key.slice(0, 50))
      parts.push(`${this.#spend(called)}: ${field !== undefined && 'value' in field ? this.text(key, field.value, depth + 1) : 'a getter'}`)
    }
    return `{${parts.join(', ')}}`
  }

  #list(value: readonly unknown[], depth: number): string {
    if (depth >= deepest) return this.#spend('[…]')
    const parts: string[] = []
    for (let i = 0; i < value.length && i < fieldsMost && this.#left > 0; i++) {
      const field = Object.getOwnPropertyDescriptor(value, i)
      parts.push(field === undefined ? '–' : 'value' in field ? this.text('', field.value, depth + 1) : 'a getter')
    }
    return `[${parts.join(', ')}${value.length > parts.length ? `, … ${value.length} in all` : ''}]`
  }

  #spend(text: string): string {
    this.#left -= text.length
    return text
  }
}

function dateText(value: Date): string {
  const time = Date.prototype.getTime.call(value)
  return Number.isNaN(time) ? 'no date' : new Date(time).toISOString()
}

/** The name of its class, as far as that can be read without running anything; undefined of a plain object. */
function className(value: object): string | undefined {
  const proto = Object.getPrototypeOf(value) as object | null
  if (proto === null || proto === Object.prototype) return undefined
  if (types.isProxy(proto)) return 'an object'
  const made = Object.getOwnPropertyDescriptor(proto, 'constructor')
  const name = typeof made?.value === 'function' && !types.isProxy(made.value) ? Object.getOwnPropertyDescriptor(made.value, 'name') : undefined
  if (types.isNativeError(value)) {
    const message = Object.getOwnPropertyDescriptor(value, 'message')
    return `Error ${typeof message?.value === 'string' ? JSON.stringify(message.value.slice(0, longestText)) : ''}`
  }
  return typeof name?.value === 'string' && name.value !== '' && name.value !== 'Object' ? name.value.slice(0, 60) : 'an object'
}

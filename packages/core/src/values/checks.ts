// The one way in which options are checked: a table says what each may be, and every option is read once, so that what
// was checked is what is used. What is misspelt, of the wrong kind or cannot be read is refused by name; nothing else
// throws here. Who uses an option decides what it means where it is left out.

import { InvalidOption, messageOf, readable, TroupeError } from './errors.ts'

/** Returns the value as it is to be used, or refuses it. */
export type Check = (option: string, value: unknown) => unknown

/** What each option may be: a check, or one with what it takes besides, and whether the option may not be left out. */
export type Table<T> = {
  readonly [K in keyof T]-?: Check | readonly [check: (option: string, value: unknown, more: never) => unknown, more: unknown, needed?: true]
}

/** The options as they are to be used, each read and checked once; `prefix` is where they stand in others. */
export function readOptions<T extends object>(whose: string, given: T, table: Table<T>, prefix = ''): T {
  const read: Record<string, unknown> = {}
  try {
    checkKnown(whose, given, table, prefix)
    for (const key in table) {
      const value = given[key]
      const spec = table[key]
      // Not taken apart: every actor that is spawned with options comes by here.
      if (typeof spec === 'function') {
        if (value !== undefined) read[key] = spec(prefix + key, value)
      } else if (value !== undefined || spec[2]) read[key] = spec[0](prefix + key, value, spec[1] as never)
    }
  } catch (cause) {
    throw unreadable(prefix.slice(0, -1) || 'options', given, cause)
  }
  return read as T
}

/** An option that has options of its own. */
export function checkPart<T extends object>(option: string, value: unknown, table: Table<T>): T {
  checkObject(option, value)
  return readOptions(option, value as T, table, `${option}.`)
}

/**
 * Refuses what is not an object, and the first option that `whose` does not know: misspelt, it would silently do nothing.
 * Makes nothing as long as all is well: `ask` does it for every question that has options.
 */
export function checkKnown(whose: string, given: unknown, table: object, prefix = ''): void {
  let key: string | undefined
  if (isObject(given)) {
    for (const name in given as object)
      if (!Object.hasOwn(table, name)) {
        key = name
        break
      }
    if (key === undefined) return
  }
  const known = Object.keys(table)
  const rest = `; it knows ${known.join(', ')}`
  if (key === undefined) throw new InvalidOption('options', given, `${whose} takes an object${rest}`)
  throw new InvalidOption(prefix + key, (given as Record<string, unknown>)[key], `${suggestion(key, known)}${whose} knows no such option${rest}`)
}

/** What was probably meant: two slips away at most, and half of it right, or nearly. */
function suggestion(key: string, known: readonly string[]): string {
  let nearest = 3
  let meant: string | undefined
  for (const other of known) {
    const slips = slipsBetween(key.toLowerCase(), other.toLowerCase())
    if (slips >= nearest || slips * 2 > other.length + 1) continue
    nearest = slips
    meant = other
  }
  return meant === undefined ? '' : `did you mean \`${meant}\`? `
}

/** How many letters one has that the other lacks; their order is not looked at. */
export function slipsBetween(a: string, b: string): number {
  let extra = 0
  let left = b
  for (const letter of a)
    if (left.includes(letter)) left = left.replace(letter, '')
    else extra++
  return Math.max(extra, left.length)
}

/** What reading an option failed with: the refusal of it, or of what throws when it is read. */
export function unreadable(option: string, value: unknown, cause: unknown): unknown {
  const known = readable(cause)
  return known instanceof TroupeError ? known : new InvalidOption(option, value, `it cannot be read: ${messageOf(known)}`, known)
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what it is, is known by whoever asked
function fit<T>(fits: boolean, option: string, value: unknown, rule: string): T {
  if (fits) return value as T
  throw new InvalidOption(option, value, rule)
}

/** Whether a value has these methods; one that throws when asked has none. */
export function can(value: unknown, ...methods: readonly string[]): boolean {
  try {
    return methods.every((method) => typeof (value as Record<string, unknown> | null | undefined)?.[method] === 'function')
  } catch {
    return false
  }
}

export function checkCan(option: string, value: unknown, [rule, ...methods]: readonly [string, ...string[]]): unknown {
  return fit(can(value, ...methods), option, value, `use ${rule}`)
}

export function checkFinite(option: string, value: unknown, from: 'from' | 'above'): number {
  const above = from === 'above'
  return fit(isAtLeast(value, 0) && !(above && value === 0), option, value, `use a finite number ${above ? 'above' : 'of at least'} 0`)
}

export function checkWhole(option: string, value: unknown, least: number): number {
  return fit(Number.isSafeInteger(value) && (value as number) >= least, option, value, `use a whole number of at least ${least}`)
}

export function checkFactor(option: string, value: unknown): number {
  return fit(isAtLeast(value, 1), option, value, 'use a finite number of at least 1')
}

export function checkUpTo(option: string, value: unknown, most: number): number {
  return fit(isAtLeast(value, 0) && (value as number) <= most, option, value, `use a number from 0 to ${most}`)
}

function isAtLeast(value: unknown, least: number): boolean {
  return Number.isFinite(value) && (value as number) >= least
}

export function checkOneOf<T extends string>(option: string, value: unknown, words: readonly T[]): T {
  return fit(words.includes(value as T), option, value, `use ${words.map((w) => `'${w}'`).join(' or ')}`)
}

export function checkObject(option: string, value: unknown): unknown {
  return fit(isObject(value), option, value, 'use an object')
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** Something with methods, and others that it may have; it is said which is wrong. */
export function checkMethods<T extends object>(
  option: string,
  value: unknown,
  needed: readonly (keyof T & string)[],
  others: readonly (keyof T & string)[],
): T {
  checkObject(option, value)
  try {
    for (const name of [...needed, ...others]) {
      const method = (value as T)[name]
      if (method !== undefined || needed.includes(name)) checkFunction(`${option}.${name}`, method)
    }
  } catch (cause) {
    throw unreadable(option, value, cause)
  }
  return value as T
}

export function checkFunction(option: string, value: unknown): unknown {
  return fit(typeof value === 'function', option, value, 'use a function')
}

/** Refuses what no mailbox takes. */
export function checkMessage(message: unknown): void {
  if (message === undefined) throw new InvalidOption('message', message, 'undefined is not a message')
}

export function checkString(option: string, value: unknown): string {
  return fit(typeof value === 'string', option, value, 'use a string')
}

export function checkText(option: string, value: unknown): string {
  return fit(typeof value === 'string' && value !== '', option, value, 'use a text that is not empty')
}

/** Whatever speaks `tell` will do: an actor, an adapter, an answer address. */
export function checkRef(option: string, value: unknown): unknown {
  return fit(can(value, 'tell'), option, value, 'use an ActorRef')
}

export function checkSignal(option: string, value: unknown): unknown {
  return fit(can(value, 'addEventListener'), option, value, 'use an AbortSignal')
}

export function checkBoolean(option: string, value: unknown): boolean {
  return fit(typeof value === 'boolean', option, value, 'use true or false')
}

export function isList(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value)
  } catch {
    return false
  }
}

/** A copy of a list of such values. */
export function checkList<T>(option: string, value: unknown, fits: (one: unknown) => boolean, of: string): T[] {
  let list: unknown[] | undefined
  try {
    if (isList(value)) list = [...value]
  } catch {}
  fit(list?.every(fits) === true, option, value, `use an array of ${of}`)
  return list as T[]
}

/** Left to whoever uses it. */
export function any(_option: string, value: unknown): unknown {
  return value
}

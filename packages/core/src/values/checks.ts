// Checks of options, each failing with the option's name and the rule.

import { InvalidOption } from './errors.ts'

export function checkFinite(option: string, value: unknown, from: 'from' | 'above'): number {
  if (typeof value === 'number' && Number.isFinite(value) && (from === 'above' ? value > 0 : value >= 0)) return value
  throw new InvalidOption(option, value, `use a finite number ${from === 'above' ? 'above 0' : 'of at least 0'}`)
}

export function checkWhole(option: string, value: unknown, least: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value
  throw new InvalidOption(option, value, `use a whole number of at least ${least}`)
}

export function checkFactor(option: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 1) return value
  throw new InvalidOption(option, value, 'use a finite number of at least 1')
}

export function checkOneOf<T extends string>(option: string, value: unknown, words: readonly T[]): T {
  if (words.includes(value as T)) return value as T
  throw new InvalidOption(option, value, `use ${words.map((w) => `'${w}'`).join(' or ')}`)
}

export function checkObject(option: string, value: unknown): void {
  if (value !== undefined && (typeof value !== 'object' || value === null)) throw new InvalidOption(option, value, 'use an object')
}

export function checkFunction(option: string, value: unknown): void {
  if (typeof value !== 'function') throw new InvalidOption(option, value, 'use a function')
}

/** Whatever speaks `tell` will do: an actor, an adapter, an answer address. */
export function checkRef(option: string, value: unknown): void {
  if (typeof (value as { tell?: unknown } | null | undefined)?.tell !== 'function') throw new InvalidOption(option, value, 'use an ActorRef')
}

export function checkBoolean(option: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw new InvalidOption(option, value, 'use true or false')
}

/** Refuses what is no object, and the first option that `whose` does not know: misspelt, it would silently do nothing. */
export function checkKnown(whose: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) throw new InvalidOption('options', options, `${whose} takes an object`)
  for (const key in options)
    if (!known.includes(key))
      throw new InvalidOption(key, (options as Record<string, unknown>)[key], `${whose} knows no such option; it knows ${known.join(', ')}`)
}

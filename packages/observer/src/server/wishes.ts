// What a page may ask, read from what anybody may have sent: every field is checked, none is taken over as it came.

import { type LinesWish, type SortKey, sortKeys, type View, views } from '../feed/news.ts'

/** What was sent is not a question of this sort. */
export class BadWish extends Error {
  override readonly name = 'BadWish'
}

const longestText = 500
const longestList = 2000
const mostLines = 500

type Fields = Readonly<Record<string, unknown>>

export function fieldsOf(body: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    throw new BadWish('The question is not JSON.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new BadWish('The question is not an object.')
  return value as Fields
}

export function viewIn(fields: Fields): View {
  return oneOf(fields, 'view', views)
}
export function textIn(fields: Fields, name: string): string {
  const value = own(fields, name)
  if (typeof value !== 'string' || value.length > longestText) throw new BadWish(`${name} is not a text of at most ${longestText} characters.`)
  return value
}
export function numberIn(fields: Fields, name: string, most: number = Number.MAX_SAFE_INTEGER): number {
  const value = own(fields, name)
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value > most)
    throw new BadWish(`${name} is not a whole number up to ${most}.`)
  return value
}
export function linesIn(fields: Fields): LinesWish {
  return {
    mode: oneOf(fields, 'mode', ['tree', 'flat'] as const),
    sort: oneOf<SortKey>(fields, 'sort', sortKeys),
    filter: textIn(fields, 'filter'),
    offset: numberIn(fields, 'offset'),
    count: numberIn(fields, 'count', mostLines),
    opened: numbersIn(fields, 'opened'),
    closed: numbersIn(fields, 'closed'),
    full: numbersIn(fields, 'full'),
  }
}

function numbersIn(fields: Fields, name: string): number[] {
  const value = own(fields, name)
  if (!Array.isArray(value) || value.length > longestList || !value.every((n) => Number.isSafeInteger(n)))
    throw new BadWish(`${name} is not a list of at most ${longestList} whole numbers.`)
  return value as number[]
}
function oneOf<T extends string>(fields: Fields, name: string, all: readonly T[]): T {
  const value = own(fields, name)
  const found = all.find((one) => one === value)
  if (found === undefined) throw new BadWish(`${name} is not one of ${all.join(', ')}.`)
  return found
}
/** Nothing that an object has by birth is a field. */
function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

// Compares what has come with what was to come: the same kinds, the same fields in the same order, and the same identities. It
// walks with a list, for values are deep.

import { types } from 'node:util'
import { Maker, type Notes, errorMark, refMark, type World } from './making.ts'
import type { Recipe } from './recipes.ts'

/** What is to come of a recipe: a value, or a refusal, or either. */
export interface Expected {
  readonly value: unknown
  readonly mayArrive: boolean
  readonly mayBeRefused: boolean
}

export function expectedOf(recipe: Recipe, refs: readonly unknown[]): Expected {
  const world: World = { standIn: true, refs, tell: () => {} }
  const maker = new Maker(world)
  const value = maker.make(recipe)
  const { shows, bare, shrinks, deep }: Notes = maker.notes
  if (deep) return { value, mayArrive: true, mayBeRefused: false }
  try {
    return { value: structuredClone(value), mayArrive: true, mayBeRefused: shows || bare || shrinks }
  } catch {
    return { value: undefined, mayArrive: false, mayBeRefused: true }
  }
}

/** Where two values differ, in words; undefined where they do not. */
export function differs(expected: unknown, actual: unknown, refs: readonly unknown[]): string | undefined {
  const pairs = new Map<unknown, unknown>()
  const back = new Map<unknown, unknown>()
  const todo: [unknown, unknown, string][] = [[expected, actual, '']]
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const [a, b, at] = next
    const both = (x: unknown, y: unknown, key: string): void => void todo.push([x, y, at.length > 200 ? '…' : `${at}.${key}`])
    const trouble = differ(a, b, refs, pairs, back, both)
    if (trouble !== undefined) return `${at === '' ? 'it' : at}: ${trouble}`
  }
  return undefined
}

type Both = (a: unknown, b: unknown, key: string) => void

function differ(
  a: unknown,
  b: unknown,
  refs: readonly unknown[],
  pairs: Map<unknown, unknown>,
  back: Map<unknown, unknown>,
  both: Both,
): string | undefined {
  if (typeof a !== 'object' || a === null) return Object.is(a, b) ? undefined : `${show(a)} became ${show(b)}`
  if (types.isStringObject(a) && String(a).startsWith(refMark))
    return b === refs[Number(String(a).slice(refMark.length))] ? undefined : 'a ref became another thing'
  if (typeof b !== 'object' || b === null) return `${show(a)} became ${show(b)}`
  if (pairs.has(a) || back.has(b)) return pairs.get(a) === b && back.get(b) === a ? undefined : 'what was one is two, or what was two is one'
  pairs.set(a, b)
  back.set(b, a)
  if (Object.hasOwn(a, errorMark)) return differError(a as Record<string, unknown>, b, both)
  const kind = Object.prototype.toString.call(a)
  if (Object.prototype.toString.call(b) !== kind || Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return `${show(a)} became ${show(b)}`
  if (types.isMap(a)) return differLists([...a].flat(), [...(b as Map<unknown, unknown>)].flat(), both)
  if (types.isSet(a)) return differLists([...a], [...(b as Set<unknown>)], both)
  if (types.isBoxedPrimitive(a)) return Object.is(a.valueOf(), (b as typeof a).valueOf()) ? undefined : 'a boxed value changed'
  if (types.isDate(a)) return Object.is(a.getTime(), (b as Date).getTime()) ? undefined : 'a date changed'
  if (types.isRegExp(a))
    return `${a.source} ${a.flags}` === `${(b as RegExp).source} ${(b as RegExp).flags}` && a.lastIndex === (b as RegExp).lastIndex
      ? undefined
      : 'a regular expression changed'
  if (types.isAnyArrayBuffer(a)) return differBytes(new Uint8Array(a), new Uint8Array(b as ArrayBuffer))
  if (ArrayBuffer.isView(a)) return differViews(a, b as ArrayBufferView, both)
  if (Array.isArray(a) && a.length !== (b as unknown[]).length) return `a length of ${a.length} became ${(b as unknown[]).length}`
  return differFields(a, b, both)
}
function differFields(a: object, b: object, both: Both): string | undefined {
  const keys = Object.keys(a)
  const others = Object.keys(b)
  if (keys.length !== others.length || keys.some((key, i) => key !== others[i])) return `fields ${show(keys)} became ${show(others)}`
  for (const key of keys) both((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key], key)
  return undefined
}
function differLists(a: readonly unknown[], b: readonly unknown[], both: Both): string | undefined {
  if (a.length !== b.length) return `${a.length} items became ${b.length}`
  for (const [i, item] of a.entries()) both(item, b[i], `(${i})`)
  return undefined
}
function differViews(a: ArrayBufferView, b: ArrayBufferView, both: Both): string | undefined {
  if (a.byteLength !== b.byteLength) return `a view of ${a.byteLength} bytes became one of ${b.byteLength}`
  if (a.byteOffset !== b.byteOffset) return `a view from ${a.byteOffset} on became one from ${b.byteOffset} on`
  both(a.buffer, b.buffer, '(buffer)')
  return undefined
}
function differBytes(a: Uint8Array, b: Uint8Array): string | undefined {
  return Buffer.compare(a, b) === 0 ? undefined : `${a.length} bytes became ${b.length} others`
}
function differError(a: Record<string, unknown>, b: object, both: Both): string | undefined {
  if (!types.isNativeError(b)) return `an error became ${show(b)}`
  if (b.name !== a[errorMark] || b.message !== a['message']) return `${show(a)} became ${show(b)}`
  if (typeof b.stack !== 'string' || !b.stack.includes(b.message.split('\n')[0]!)) return 'an error has lost its stack'
  both(
    a['carried'],
    Object.fromEntries(Object.keys(b).flatMap((key) => (key === 'name' ? [] : [[key, (b as unknown as Record<string, unknown>)[key]]]))),
    '(fields)',
  )
  if (Object.hasOwn(a, 'cause') !== Object.hasOwn(b, 'cause')) return 'a cause is lost, or found'
  both(a['cause'], b.cause, 'cause')
  return undefined
}

function show(value: unknown): string {
  try {
    return typeof value === 'string'
      ? JSON.stringify(value)
      : typeof value === 'object' && value !== null
        ? `${Object.prototype.toString.call(value)} ${JSON.stringify(value) ?? ''}`.slice(0, 120)
        : String(value)
  } catch {
    return typeof value
  }
}

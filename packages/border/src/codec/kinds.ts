// What an object is, told by what the platform knows of it and not by its fields, which anybody can write. An object of a
// class of the user's is its fields; one of the platform's classes is the platform's to copy, or to refuse.

import { types } from '../ports/host.ts'

export type Kind = 'fields' | 'array' | 'map' | 'set' | 'date' | 'regexp' | 'error' | 'view' | 'buffer' | 'leaf'

/** Prototypes whose objects are known to be their fields. */
const plain = new WeakSet<object>()

export function kindOf(value: object): Kind {
  const prototype = Object.getPrototypeOf(value) as object | null
  if (prototype !== null && plain.has(prototype)) return 'fields'
  if (Array.isArray(value)) return 'array'
  if (ArrayBuffer.isView(value)) return viewIsOurs(value) ? 'view' : 'leaf'
  if (types.isArrayBuffer(value)) return isResizable(value) ? 'leaf' : 'buffer'
  if (types.isDate(value)) return 'date'
  if (types.isMap(value)) return 'map'
  if (types.isSet(value)) return 'set'
  if (types.isRegExp(value)) return 'regexp'
  if (types.isNativeError(value) || value instanceof Error) return 'error'
  if (types.isProxy(value)) return prototype === null || prototype === Object.prototype || isOfUser(prototype) ? 'fields' : 'leaf'
  if (prototype === null || prototype === Object.prototype) return isBare(value) ? 'fields' : 'leaf'
  if (!isOfUser(prototype)) return 'leaf'
  const probed = probe(value)
  if (probed === 'fields') plain.add(prototype)
  return probed === 'platform' ? 'leaf' : 'fields'
}

/** A view whose bytes can be copied by themselves: neither shared nor of a size that changes. */
function viewIsOurs(view: ArrayBufferView): boolean {
  const { buffer } = view
  return types.isArrayBuffer(buffer) && !isResizable(buffer) && (types.isDataView(view) || viewName(view) in ours)
}
const ours: Readonly<Record<string, true>> = Object.assign(Object.create(null), {
  Uint8Array: true,
  Int8Array: true,
  Uint8ClampedArray: true,
  Int16Array: true,
  Uint16Array: true,
  Int32Array: true,
  Uint32Array: true,
  Float32Array: true,
  Float64Array: true,
  BigInt64Array: true,
  BigUint64Array: true,
})
// oxlint-disable-next-line typescript/unbound-method -- called with what it is asked about
const nameOfTyped = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)!.get as (
  this: unknown,
) => string | undefined

/** What kind of view it is, whatever its prototype says. */
export function viewName(view: ArrayBufferView): string {
  return nameOfTyped.call(view) ?? 'DataView'
}
function isResizable(buffer: ArrayBufferLike): boolean {
  return (buffer as { readonly resizable?: boolean }).resizable === true
}

/** Whether an object without a class has no more to it than its fields. */
function isBare(value: object): boolean {
  if (types.isBoxedPrimitive(value) || types.isModuleNamespaceObject(value) || types.isSharedArrayBuffer(value) || types.isPromise(value))
    return false
  // One with fields of its own was made to hold them; nearly all else has none.
  for (const _ in value) return true
  return probe(value) !== 'platform'
}

/** Whether all classes of an object were written by the user, so far as can be told from the classes. */
function isOfUser(prototype: object): boolean {
  let at: object | null = prototype
  while (at !== null && at !== Object.prototype) {
    if (Object.getOwnPropertySymbols(at).some((s) => s.description?.startsWith('messaging_') === true)) return false
    const constructor: unknown = Object.getOwnPropertyDescriptor(at, 'constructor')?.value
    if (typeof constructor === 'function' && isOfPlatform(constructor)) return false
    at = Object.getPrototypeOf(at) as object | null
  }
  return true
}
function isOfPlatform(constructor: object): boolean {
  if (/\{\s*\[native code\]\s*\}$/.test(Function.prototype.toString.call(constructor))) return true
  const name: unknown = Object.getOwnPropertyDescriptor(constructor, 'name')?.value
  return typeof name === 'string' && Object.getOwnPropertyDescriptor(globalThis, name)?.value === constructor
}

/** Lets the platform copy an object that holds nothing but primitive values, which runs no code of anybody's. */
function probe(value: object): 'fields' | 'platform' | 'unknown' {
  for (const key of Object.keys(value)) {
    const descriptor = Object.getOwnPropertyDescriptor(value, key)
    if (descriptor === undefined || descriptor.get !== undefined || descriptor.set !== undefined) return 'unknown'
    const held: unknown = descriptor.value
    if ((typeof held === 'object' && held !== null) || typeof held === 'function' || typeof held === 'symbol') return 'unknown'
  }
  try {
    return Object.getPrototypeOf(structuredClone(value)) === Object.prototype ? 'fields' : 'platform'
  } catch {
    return 'platform'
  }
}

/** Whether an array has an element everywhere and nothing else: its indices come first among its keys. */
export function isDense(array: readonly unknown[], keys: readonly string[]): boolean {
  const { length } = array
  return keys.length === length && (length === 0 || keys[length - 1] === String(length - 1))
}

/** Whether somebody has given every object fields to inherit. */
export function isPolluted(): boolean {
  for (const _ in bare) return true
  return false
}
const bare = {}

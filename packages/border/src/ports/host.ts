// What an object really is, whatever it says of itself: only the host can tell. Asked for without an import, so that whoever
// packs this for another host needs nothing of Node's.

/** The questions that are asked. */
export interface HostKinds {
  isAnyArrayBuffer(value: unknown): value is ArrayBufferLike
  isArrayBuffer(value: unknown): value is ArrayBuffer
  isBoxedPrimitive(value: unknown): boolean
  isDataView(value: unknown): value is DataView
  isDate(value: unknown): value is Date
  isMap(value: unknown): value is Map<unknown, unknown>
  isModuleNamespaceObject(value: unknown): boolean
  isNativeError(value: unknown): value is Error
  isPromise(value: unknown): value is Promise<unknown>
  isProxy(value: unknown): boolean
  isRegExp(value: unknown): value is RegExp
  isSet(value: unknown): value is Set<unknown>
  isSharedArrayBuffer(value: unknown): value is SharedArrayBuffer
}

interface Host {
  readonly process?: { getBuiltinModule?(name: string): { readonly types: HostKinds } | undefined }
}

function kindsOfHost(): HostKinds {
  const found = (globalThis as Host).process?.getBuiltinModule?.('node:util')
  if (found === undefined)
    throw new Error('@troupe/border needs a host that can tell what an object is (process.getBuiltinModule): Node 20.16, Deno 2.1, Bun 1.2 or later.')
  return found.types
}

export const types: HostKinds = /* @__PURE__ */ kindsOfHost()

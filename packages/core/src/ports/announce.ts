// Says that a copy of core was loaded here, so that a second one can be found out: its classes would be others. The second file that touches
// `globalThis`, and the only one that does something when it is loaded; a program of its own beside the package's one file, which bundlers leave out.

interface Host {
  [copies]?: Set<string>
}
const copies: unique symbol = Symbol.for('@troupe/core') as never
const host = globalThis as Host

/** Where this copy is. */
export const location: string = (import.meta as unknown as { readonly url: string }).url

/** Where all copies are that were loaded in this process, or on this thread of it. */
export const locations: Set<string> = (host[copies] ??= new Set())

locations.add(location)

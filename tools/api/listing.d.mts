export interface Name {
  readonly name: string
  readonly text: string
  readonly written: string
  readonly examples: readonly string[]
  /** A function, or a class that is exported as a value. */
  readonly callable: boolean
  readonly error: boolean
  readonly code: string
}
export interface Surface {
  readonly entries: readonly { readonly module: string; readonly names: readonly Name[] }[]
  readonly mentioned: readonly Name[]
}
export const packages: readonly string[]
export function pageOf(name: string): string
export function surfaceOf(name: string): Surface
export function listingOf(name: string): string

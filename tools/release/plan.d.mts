export type Bump = 'patch' | 'minor' | 'major'
export class Refused extends Error {}
export const bumps: readonly Bump[]
export function unreleasedOf(changelog: string): string | undefined
export function bumpFor(notes: string, version: string): Bump
export function bumped(version: string, bump: Bump): string
export function planRelease(from: {
  readonly changelog: string
  readonly manifests: Readonly<Record<string, string>>
  readonly lock: string
  readonly bump?: Bump | undefined
  readonly date: string
}): {
  readonly from: string
  readonly to: string
  readonly released: readonly { readonly path: string; readonly name: string }[]
  readonly files: Readonly<Record<string, string>>
}

// What others who joined a system tell of themselves. They are known by the names under which they joined and by what they answer; none of their
// packages is needed for it. What is not as it is expected reads as nothing.

import type { SystemCore } from '@troupe/core/internal'

export type Known = Readonly<Record<string, unknown>>

export const known = (value: unknown): Known => (typeof value === 'object' && value !== null ? (value as Known) : {})
export const list = (value: unknown): readonly Known[] => (Array.isArray(value) ? value.map(known) : [])
export const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)
export const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** What `method` of the extension of that name gives; undefined where there is none, or it fails. */
export function heard(core: SystemCore, name: string, method: string): unknown {
  try {
    const state = core.extensions.get(name) as Known | undefined
    const door = state?.[method]
    return typeof door === 'function' ? door.call(state) : undefined
  } catch {
    return undefined
  }
}

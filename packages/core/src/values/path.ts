// Names and paths. A path is text for people and look-ups; identity is the ref and its uid.

import { InvalidName } from './errors.ts'

const illegal = /[/#$\s\p{Cc}]/u

/** Refuses what could not be looked up or told apart in a path. */
export function checkName(name: unknown, parent: string): string {
  if (typeof name !== 'string' || name === '') throw new InvalidName(name, parent, 'it must be a non-empty string')
  if (name.length > 255) throw new InvalidName(name, parent, 'it must have at most 255 characters')
  if (illegal.test(name)) throw new InvalidName(name, parent, 'it may not contain "/", "#", "$", white space or control characters')
  return name
}

/** The segments of an absolute path, or undefined where the text is none. */
export function segmentsOf(path: string): string[] | undefined {
  if (typeof path !== 'string' || !path.startsWith('/')) return undefined
  const segments = path.slice(1).split('/')
  return segments.every((s) => s !== '') ? segments : undefined
}

/** How an actor without a name is called in paths. `$` is not allowed in given names, so the two never meet. */
export function anonymousName(uid: number): string {
  return `$${uid}`
}

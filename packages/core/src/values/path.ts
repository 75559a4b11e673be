// Names and paths. A path is text for people and look-ups; identity is the ref and its uid.

import { InvalidName } from './errors.ts'

const illegal = /[/#$\s\p{Cc}]/u

/** Refuses what could not be looked up or told apart in a path. */
export function checkName(name: unknown, parent: { readonly path: string }): string {
  // The way to the top may be long: a path is made only for an error.
  if (typeof name !== 'string' || name === '') throw new InvalidName(name, parent.path, 'it must be a non-empty string')
  if (name.length > 255) throw new InvalidName(name, parent.path, 'it must have at most 255 characters')
  if (illegal.test(name)) throw new InvalidName(name, parent.path, 'it may not contain "/", "#", "$", white space or control characters')
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

// Who speaks: one life of one node. A number is never given out twice for a node, so that what was meant for an earlier life never
// reaches a later one.

import { InvalidOption } from '@troupe/core'

/** One life of a node: its name, and a number that no other life of it ever has. */
export interface Session {
  readonly node: string
  readonly number: number
}

export function sameSession(a: Session, b: Session): boolean {
  return a.number === b.number && a.node === b.node
}

/** How a session stands in logs and errors, and as a key of maps: `a#7`. */
export function sessionText(session: Session): string {
  return `${session.node}#${session.number}`
}

/** The session of such a text; undefined where it is none. */
export function readSessionText(text: string): Session | undefined {
  const [node, digits, ...rest] = text.split('#')
  const number = Number(digits)
  return rest.length === 0 && isPlainName(node) && isSessionNumber(number) && String(number) === digits ? { node, number } : undefined
}

/** A name that can stand in a key of a registry and in a subject: letters, digits, `-` and `_`, at most 64 of them. */
export function checkPlainName(option: string, value: unknown): string {
  if (isPlainName(value)) return value
  throw new InvalidOption(option, value, 'use 1 to 64 letters, digits, - and _')
}

/** The names of a cluster and a node become words of subjects and keys: one with a dot in it would be two. */
export function checkNames({ cluster, node }: { readonly cluster: unknown; readonly node: unknown }): void {
  checkPlainName('name', cluster)
  checkPlainName('node', node)
}

export function isPlainName(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(value)
}

/** Whether a value that came from elsewhere is the number of a session. */
export function isSessionNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}

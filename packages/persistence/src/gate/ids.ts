// What an actor is called in the journal: its kind, a slash, its key.

import { InvalidOption } from '@troupe/core'
import { checkText } from '@troupe/core/internal'
import { kindOf } from '../values/stored.ts'

/** The name of a kind: what stands before the slash in an id. */
export function checkKind(kind: unknown): string {
  const name = checkText('kind', kind)
  if (name.includes('/') || name.length > 100)
    throw new InvalidOption('kind', kind, 'a kind is part of every id in the journal: up to 100 characters, without a slash')
  return name
}

/** The id of one actor of a kind. */
export function idOf(kind: string, key: unknown): string {
  if (typeof key !== 'string' || key === '' || key.length > 400) throw new InvalidOption('key', key, 'use a text of 1 to 400 characters')
  return `${kind}/${key}`
}

/** The key of an id. */
export function keyIn(id: string): string {
  return id.slice(kindOf(id).length + 1)
}

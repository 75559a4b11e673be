// What an actor is called in the journal: its kind, a slash, its key.

import { InvalidOption } from '@troupe/core'
import { checkText } from '@troupe/core/internal'
import { isName } from '../values/names.ts'
import { kindOf } from '../values/stored.ts'

/** In bytes of UTF-8: what every journal can have as a key. */
const longestId = 850

/** The name of a kind: what stands before the slash in an id. */
export function checkKind(kind: unknown): string {
  const name = checkText('kind', kind)
  if (name.includes('/') || !isName(name, 100))
    throw new InvalidOption('kind', kind, 'a kind is part of every id in the journal: up to 100 characters of well-formed text, without a slash')
  return name
}

/** The id of one actor of a kind. */
export function idOf(kind: string, key: unknown): string {
  if (!isName(key, 400)) throw new InvalidOption('key', key, 'use a well-formed text of 1 to 400 characters')
  const id = `${kind}/${key}`
  // Three bytes a unit at most: few are long enough to be measured.
  if (id.length * 3 > longestId && Buffer.byteLength(id) > longestId)
    throw new InvalidOption('key', key, `kind and key together may have ${longestId} bytes of UTF-8`)
  return id
}

/** The key of an id. */
export function keyIn(id: string): string {
  return id.slice(kindOf(id).length + 1)
}

// What somebody may have meant who named what a journal does not have.

import type { Journal, ListedId } from '@troupe/persistence'
import type * as persistence from '@troupe/persistence'
import { Exit, exitCodes } from '../../exit.ts'
import { clean } from '../../style.ts'
import type { Place } from './opening.ts'

/** Ids that are looked through, at most. */
const most = 10_000

/** Ends the command: the journal has no such id. */
export async function noId(id: string, place: Place, journal: Journal, { listIds }: typeof persistence): Promise<never> {
  let left = most
  let near: string | undefined
  for await (const listed of listIds(journal)) {
    if (isNear(listed.id, id)) near = listed.id
    if (near !== undefined || --left === 0) break
  }
  throw new Exit(
    exitCodes.found,
    `There is no ${clean(id)} in this journal.${near === undefined ? '' : ` Did you mean ${clean(near)}?`} For a list: troupe journal ls ${place.journal}`,
  )
}

/** What is said where a journal has nothing of a kind. */
export async function noKind(kind: string, ids: AsyncIterable<ListedId>, kindOf: (id: string) => string): Promise<string> {
  const kinds = new Set<string>()
  let left = most
  for await (const { id } of ids) {
    kinds.add(kindOf(id))
    if (--left === 0) break
  }
  const near = [...kinds].find((one) => isNear(one, kind))
  const there = [...kinds].slice(0, 10).map(clean).join(', ')
  const hint = near === undefined ? (there === '' ? ' The journal is empty.' : ` There are: ${there}.`) : ` Did you mean ${clean(near)}?`
  return `There is none of kind ${clean(kind)} in this journal.${hint}`
}

/** Differs by a slip at most: a letter, two that changed places, or the case of some. */
function isNear(one: string, other: string): boolean {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()]
  if (a === b) return true
  if (Math.abs(a.length - b.length) > 1) return false
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  if (a.length === b.length && a[at] === b[at + 1] && a[at + 1] === b[at]) return a.slice(at + 2) === b.slice(at + 2)
  return a.slice(a.length >= b.length ? at + 1 : at) === b.slice(b.length >= a.length ? at + 1 : at)
}

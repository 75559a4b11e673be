// What a child that a function makes may ask for: refs of the siblings it needs, as they are now. That they stay good is
// the tree's affair: whoever holds one begins anew when that sibling comes back as another actor.

import { show } from '../../values/errors.ts'
import { type AnyChildSpec, isSpec, type Siblings } from './child-spec.ts'
import { ChildRefused, InvalidChildren } from './errors.ts'
import type { Roster } from './roster.ts'

/** `path` is that of the supervisor. */
export function siblingsOf({ name, siblings }: AnyChildSpec, roster: Roster, path: string): Siblings {
  return {
    refOf: (sibling) => {
      const wanted = isSpec(sibling) ? `"${sibling.name}"` : show(sibling)
      const asks = `${path}: "${name}" asks for the ref of ${wanted}`
      if (!siblings.includes(sibling)) throw new InvalidChildren(`${asks}, which is not among its needs. Put the spec of that child into needs.`)
      const cell = roster.living(sibling)
      if (cell === undefined) throw new ChildRefused('not-found', `${asks}, and ${wanted} is not running. Start that one first.`)
      return cell.ref as never
    },
  }
}

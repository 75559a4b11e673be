// What user code returned where a behavior was due, and none that can be followed came: why not.

import { SpawnOnly } from '../../values/behavior.ts'
import { NotABehavior, type TroupeError } from '../../values/errors.ts'

/** The error for something that is not a behavior to go on with. `where` says who returned it. */
export function refusalOf(returned: unknown, where: string): TroupeError {
  return returned instanceof SpawnOnly ? returned.refusal(where) : new NotABehavior(returned, where)
}

// What user code returned where a behavior was due, and none that can be followed came: why not.

import { BehaviorWithOptions } from '../values/behavior.ts'
import { NotABehavior, OptionsTooLate, type TroupeError } from '../values/errors.ts'

/** The error for something that is no behavior to go on with. `where` says who returned it. */
export function refusalOf(returned: unknown, where: string): TroupeError {
  if (!(returned instanceof BehaviorWithOptions)) return new NotABehavior(returned, where)
  const names = new Set<string>()
  for (let at: unknown = returned; at instanceof BehaviorWithOptions; at = at.behavior) for (const name of keysOf(at.options)) names.add(name)
  return new OptionsTooLate(where, [...names])
}

function keysOf(options: unknown): readonly string[] {
  try {
    return Object.keys(options as object)
  } catch {
    return []
  }
}

// Where sibling packages make sure that they and the core belong together: what `internal` exports is no public API, and changes.

import { NotAllowed } from '../values/errors.ts'
import { location, locations } from './announce.ts'

/** Raised by one with every change of what `internal` exports that a sibling could notice. */
const protocol = 1

/** Throws unless this is the core that the sibling was made for, and the only one that was loaded. */
export function requireCore(sibling: string, made: number): void {
  if (made !== protocol)
    throw new NotAllowed(
      `${sibling} was made for protocol ${made} of @troupe/core, and ${location} has protocol ${protocol}. Install versions that belong together: npm ls @troupe/core shows what there is.`,
    )
  if (locations.size > 1)
    throw new NotAllowed(
      `${sibling} found more than one copy of @troupe/core: ${[...locations].join(' and ')}. Actors of one mean nothing to the other; install one, as npm dedupe does.`,
    )
}

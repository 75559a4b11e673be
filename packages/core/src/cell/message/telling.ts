// Telling a ref that somebody else may have made: an answer address, a routee, the target of a timer.

import type { AnyRef, TellOptions } from '../../values/ref.ts'
import { observed } from '../../values/thenable.ts'
import type { CellHost } from '../turn/host.ts'

/** Tells it. That it throws is the caller's affair; that it rejects, as an async one would, is nobody's, and is logged. */
export function tellAny(host: CellHost, ref: AnyRef, message: unknown, options?: TellOptions): void {
  const returned: unknown = ref.tell(message as never, options)
  // Refs of ours return nothing.
  if (returned !== undefined) observed(returned, (cause) => host.logger.error({ cause }, 'a ref that is not of this system did not take its message'))
}

// Which options a system knows. A misspelt one is refused by name instead of being silently without effect; what each
// option may be is checked by whoever uses it.

import { checkKnown } from '../values/checks.ts'
import type { SystemOptions } from '../values/options.ts'

const known: Readonly<Record<keyof SystemOptions, true>> = {
  root: true,
  logger: true,
  supervision: true,
  askTimeout: true,
  deadlock: true,
  dispatcher: true,
  dispatchers: true,
  runtime: true,
  runtimes: true,
  keepAlive: true,
  deadLetterCapacity: true,
  failureCapacity: true,
  onEscalation: true,
  middleware: true,
  metrics: true,
  flightRecorder: true,
}

/** Fails with `InvalidOption` on the first option that no system knows. */
export function checkOptions(options: SystemOptions): void {
  checkKnown('ActorSystem.create', options, Object.keys(known))
}

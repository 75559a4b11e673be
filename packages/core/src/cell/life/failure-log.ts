// One log line per failure, with actor, cause, message type and directive, until it storms: beyond a handful per
// second and actor, the rest is summed up in one line when the second is over.

import { actorErrorOf, typeOf } from '../../values/errors.ts'
import type { LogFields } from '../../values/logger.ts'
import { contain } from '../../values/thenable.ts'
import type { Directive } from '../../values/signals.ts'
import type { Cell } from '../turn/cell.ts'
import { Storm, stormWindow } from './storm.ts'

export class FailureLog extends Storm {
  last: unknown
  constructor({ ref, dispatcher: { host } }: Cell) {
    super(5, host.timers, (failures) =>
      host.logger.error({ actor: ref.path, failures, cause: this.last, ms: stormWindow }, 'the actor goes on failing'),
    )
  }
}

/** What an actor says of itself on each line of its log. */
export function logFieldsOf({ options: { logFields } }: Cell, message: unknown): LogFields | undefined {
  let fields: LogFields | undefined
  if (logFields !== undefined)
    contain(
      () => {
        const given = typeof logFields === 'function' ? logFields(message) : logFields
        fields = { ...given }
        return given
      },
      () => {},
    )
  return fields
}

export function logFailure(
  cell: Cell,
  cause: unknown,
  message: unknown,
  directive: Directive | undefined,
  attached?: { readonly hookError: unknown },
): void {
  const { host } = cell
  const log = (cell.ensureExtras().failureLog ??= new FailureLog(cell))
  const passes = log.takes()
  log.last = cause
  if (!passes) return
  const known = actorErrorOf(cause)
  const level = known?.severity ?? 'error'
  const fields = {
    ...logFieldsOf(cell, message),
    actor: cell.ref.path,
    incarnation: cell.extras!.incarnation,
    cause,
    message: message === undefined ? undefined : typeOf(message),
    directive,
    ...attached,
    recent: cell.extras?.flight?.entries(),
    ...(known === undefined ? undefined : { kind: known.kind, labels: known.labels }),
  }
  host.logger[level](fields, directive === undefined ? 'a failure while ending' : 'the actor failed')
}

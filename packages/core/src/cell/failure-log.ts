// One log line per failure, with actor, cause, message type and directive, until it storms: beyond a handful per
// second and actor, the rest is summed up in one line when the second is over.

import type { Deadline } from '../queues/timers.ts'
import { actorErrorOf, typeOf } from '../values/errors.ts'
import type { Directive } from '../values/signals.ts'
import type { Cell } from './cell.ts'

const perWindow = 5
const window = 1000

export class FailureLog implements Deadline {
  at = 0
  order = 0
  logged = 0
  suppressed = 0
  until = 0
  last: unknown
  readonly #cell: Cell
  constructor(cell: Cell) {
    this.#cell = cell
  }
  fire(): void {
    this.flush()
  }
  flush(): void {
    if (this.suppressed === 0) return
    const fields = { actor: this.#cell.ref.path, failures: this.suppressed, cause: this.last, ms: window }
    this.suppressed = 0
    this.#cell.dispatcher.host.logger.error(fields, 'the actor goes on failing')
  }
}

export function logFailure(
  cell: Cell,
  cause: unknown,
  message: unknown,
  directive: Directive | undefined,
  attached?: { readonly hookError: unknown },
): void {
  const { host } = cell.dispatcher
  const now = host.runtime.now()
  const log = (cell.more.failureLog ??= new FailureLog(cell))
  if (now >= log.until) {
    log.flush()
    log.until = now + window
    log.logged = 0
  }
  if (++log.logged > perWindow) {
    log.last = cause
    if (++log.suppressed === 1 && log.order === 0) host.timers.set(log, log.until)
    return
  }
  const known = actorErrorOf(cause)
  const level = known?.severity ?? 'error'
  const fields = {
    actor: cell.ref.path,
    incarnation: cell.more.incarnation,
    cause,
    message: message === undefined ? undefined : typeOf(message),
    directive,
    ...attached,
    ...(cell.extras?.flight === undefined ? undefined : { recent: cell.extras.flight.entries() }),
    ...(known === undefined ? undefined : { kind: known.kind, labels: known.labels }),
  }
  host.logger[level](fields, directive === undefined ? 'a failure while ending' : 'the actor failed')
}

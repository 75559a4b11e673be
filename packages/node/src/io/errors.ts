// Failures of the outside world, in one shape: what was tried, on what, and the system's own code for why not.
// Told to owners inside `error` messages; where nobody handles it, the actor that met it fails with it.

import { type ActorContext, TroupeError } from '@troupe/core'

/**
 * What the operating system, a peer or a protocol refused. `code` is the system's (`ECONNREFUSED`, `EADDRINUSE`,
 * `ENOENT`, …) or one of Troupe's own: `connect-timeout`, `ping-timeout`, `write-overflow`, `write-refused`, `write-lost`,
 * `undelivered`, `invalid-option`, `frame-error`. Supervisors decide by `code`.
 *
 * @example
 * supervise({ decide: (cause) => (cause as IoError).code === 'EADDRINUSE' ? 'stop' : 'restart' })
 */
export class IoError extends TroupeError {
  readonly code: string
  /** What was tried, such as `connect to 127.0.0.1:6379`. */
  readonly what: string
  constructor(what: string, code: string, reason: string, cause?: unknown) {
    super(`Cannot ${what}: ${reason} (${code}).${remedy(code)}`, cause === undefined ? undefined : { cause })
    this.what = what
    this.code = code
  }
}

/** Turns what Node threw or emitted into an `IoError`; one that is one already stays as it is. */
export function toIoError(what: string, cause: unknown): IoError {
  if (cause instanceof IoError) return cause
  const { code, message } = (typeof cause === 'object' && cause !== null ? cause : { message: String(cause) }) as {
    code?: unknown
    message?: unknown
  }
  return new IoError(what, typeof code === 'string' ? code : 'io-error', typeof message === 'string' ? message : 'it failed', cause)
}

/** An unowned error on its way into an actor's turn, where it is thrown. */
export class Fall {
  readonly type = 'fall'
  readonly error: IoError
  constructor(error: IoError) {
    this.error = error
  }
}

/** Fails an actor that understands anything, in its own turn: through an adapter that throws. */
export function failThrough(ctx: ActorContext<never>, error: IoError): void {
  ctx
    .adapt<IoError>((cause) => {
      throw cause
    })
    .tell(error)
}

function remedy(code: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return ' Stop what listens there, or use port 0 and ask for the address.'
    case 'ECONNREFUSED':
      return ' Is the server running, and is the port right?'
    case 'EACCES':
      return ' The process lacks the right; ports below 1024 need one.'
    case 'EMFILE':
      return ' The process has too many open files; raise the limit, or set maxConnections.'
    case 'write-overflow':
      return ' Wait for `drained`, or ask `flush`, before writing more; or raise maxBuffered.'
    case 'write-refused':
      return ' Write before the end; `halfOpen` keeps this side open when the peer ends its own.'
    default:
      return ''
  }
}

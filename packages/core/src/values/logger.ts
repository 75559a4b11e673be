// Where Troupe's own words go. The shape is the common part of pino's: an object of fields, then a sentence.

import { contain } from './thenable.ts'

/** One level of a logger: structured fields first, then the sentence. */
export type LogMethod = (fields: Readonly<Record<string, unknown>>, message: string) => void

/**
 * Where a system writes; a pino instance fits as it is, and so does `console`. Without one, warnings and errors are lines on standard
 * error; with `logger: false` nothing is written anywhere.
 *
 * Guarantees: of messages only their type is told; storms of failures and dead letters are summed up; phases of actors are told at
 * `debug`; what it throws is contained.
 *
 * @example
 * const system = ActorSystem.create('shop', { logger: pino() })
 */
export interface Logger {
  debug: LogMethod
  info: LogMethod
  warn: LogMethod
  error: LogMethod
}

/** Fields of a log line. */
export type LogFields = Readonly<Record<string, unknown>>

/** A logger that can say whether a level is wanted, as pino's can. Asked once, when the system is created: without `debug` no phases are told. */
export interface LevelledLogger extends Logger {
  readonly isLevelEnabled?: ((level: string) => boolean) | undefined
  /** Makes a logger that has these fields on each of its lines, as pino's does; used for actors with `logFields`. */
  readonly child?: ((bindings: LogFields) => Logger) | undefined
}

const nothing: LogMethod = () => {}

/** The logger of a system that is to be silent. */
export const silent: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }

/** The same logger with fields on each line: its child, where it has some. */
export function bound(logger: LevelledLogger, fields: LogFields): Logger {
  let child: Logger | undefined
  contain(() => (child = logger.child?.(fields)), nothing as () => void)
  return child === undefined ? contained(logger, fields) : contained(child)
}

/** The same logger, except that it never throws: a broken log must not break an actor. `more` goes with every line. */
export function contained(logger: Logger, more?: object): Logger {
  const bind =
    (level: keyof Logger): LogMethod =>
    (fields, message) =>
      // Where it throws or rejects, there is nobody left to tell.
      contain(() => logger[level](more === undefined ? fields : { ...more, ...fields }, message), nothing as () => void)
  return { debug: bind('debug'), info: bind('info'), warn: bind('warn'), error: bind('error') }
}

// Where Troupe's own words go. The shape is the common part of pino's: an object of fields, then a sentence.

import { observed } from './thenable.ts'

/** One level of a logger: structured fields first, then the sentence. */
export type LogMethod = (fields: Readonly<Record<string, unknown>>, message: string) => void

/**
 * Where a system writes; a pino instance fits as it is. Without one nothing is written anywhere.
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

const nothing: LogMethod = () => {}

/** The logger of a system that was given none. */
export const silent: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }

/** The same logger, except that it never throws: a broken log must not break an actor. `more` goes with every line. */
export function contained(logger: Logger, more?: object): Logger {
  const bind =
    (level: keyof Logger): LogMethod =>
    (fields, message) => {
      // Where it throws or rejects, there is nobody left to tell.
      try {
        observed(logger[level](more === undefined ? fields : { ...more, ...fields }, message), () => {})
      } catch {}
    }
  return { debug: bind('debug'), info: bind('info'), warn: bind('warn'), error: bind('error') }
}

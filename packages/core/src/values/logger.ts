// Where Troupe's own words go. The shape is the common part of pino's: an object of fields, then a sentence.

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

/** The same logger, without its errors: a log that fails must not fail an actor. */
export function guarded(logger: Logger): Logger {
  const guard =
    (level: keyof Logger): LogMethod =>
    (fields, message) => {
      try {
        logger[level](fields, message)
      } catch {
        // There is nowhere left to say so.
      }
    }
  return { debug: guard('debug'), info: guard('info'), warn: guard('warn'), error: guard('error') }
}

/** The logger of a system that was given none. */
export const silent: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }

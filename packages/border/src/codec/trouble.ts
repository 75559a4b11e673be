// What to say about a value that cannot go over: what it is, and where in the value, gathered on the way out of it, so that
// nothing is read a second time.

import { NotTransferable } from '../errors.ts'

/** Thrown while writing. */
export class Trouble extends Error {
  readonly what: string
  /** Innermost first. */
  readonly path: (string | number)[] = []
  constructor(what: string) {
    super(what)
    this.what = what
  }
}

/** A field that its object had when it began to be read, and has no more. */
export function gone(): Trouble {
  return new Trouble('field that was taken away while it was read')
}

/** Notes in which field the trouble was; whatever else was thrown there is trouble too. */
export function troubleAt(cause: unknown, key: string | number): Trouble {
  const trouble = cause instanceof Trouble ? cause : new Trouble(describe(cause))
  // Of a value that is nested a thousand deep the outermost fields say enough.
  trouble.path.push(key)
  return trouble
}

export function refusal(cause: unknown, before: readonly (string | number)[] = [], subject?: string): NotTransferable {
  if (cause instanceof NotTransferable) return cause
  const trouble = cause instanceof Trouble ? cause : new Trouble(describe(cause))
  return new NotTransferable([...before, ...trouble.path.toReversed()], trouble.what, subject)
}

function describe(cause: unknown): string {
  try {
    if (cause instanceof Error && cause.name === 'DataCloneError') return 'thing that cannot be cloned'
  } catch {
    // Whatever it is, it is not an error of the platform's.
  }
  return `value that fails to be read: ${safeString(cause)}`
}

export function safeString(value: unknown): string {
  try {
    return String(value)
  } catch {
    try {
      return Object.prototype.toString.call(value)
    } catch {
      return '[object]'
    }
  }
}

// Makes errors again from what came of them: of the class that their name says if the platform has it, so that whoever looks
// at name, code or kind finds what was thrown.

import { ActorError, type ActorErrorOptions } from '@troupe/core'
import type { Reader } from './reader.ts'
import { errorClass, errorPart } from './tags.ts'

const known: ReadonlyMap<string, (message: string | undefined) => Error> = new Map([
  ['TypeError', (m) => new TypeError(m)],
  ['RangeError', (m) => new RangeError(m)],
  ['SyntaxError', (m) => new SyntaxError(m)],
  ['ReferenceError', (m) => new ReferenceError(m)],
  ['URIError', (m) => new URIError(m)],
  ['EvalError', (m) => new EvalError(m)],
  ['AggregateError', (m) => new AggregateError([], m)],
])

/** An error without its parts. */
export function makeError(reader: Reader): Error {
  const of = reader.byte()
  const name = reader.text()
  const said = reader.byte()
  if (of > errorClass.domException || said > 1) throw reader.bad('an unknown kind of error')
  const message = said === 1 ? reader.text() : undefined
  const stack = reader.text()
  const error = untraced(() =>
    of === errorClass.actorError
      ? actorError(message ?? '', reader.text())
      : of === errorClass.domException
        ? domException(message ?? '', name)
        : byName(name, message),
  )
  if (error.name !== name) Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  Object.defineProperty(error, 'stack', { value: stack, configurable: true, writable: true })
  return error
}

export function putErrorPart(error: Error, part: string | number, value: unknown): void {
  const hidden = typeof part === 'number'
  const key = !hidden ? part : part === errorPart.cause ? 'cause' : 'errors'
  // What it was made with is its own.
  if (!hidden && Object.hasOwn(error, key)) return
  Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable: !hidden })
}

function byName(name: string, message: string | undefined): Error {
  return known.get(name)?.(message) ?? new Error(message)
}
function domException(message: string, name: string): Error {
  return typeof DOMException === 'function' ? new DOMException(message, name) : new Error(message)
}
/** Supervision looks at what kind of failure it is, so that error must be itself again. */
function actorError(message: string, options: string): Error {
  try {
    return new ActorError(message, JSON.parse(options) as ActorErrorOptions)
  } catch {
    return new Error(message)
  }
}

/** Its own way to here is nobody's concern, and costs more than the error. */
function untraced<T>(make: () => T): T {
  const { stackTraceLimit } = Error
  try {
    Error.stackTraceLimit = 0
    return make()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

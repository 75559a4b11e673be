// What goes over of an error: name, message, stack, fields, the errors it gathers and its cause. An error always goes over:
// what it carries that cannot is left behind.

import { ActorError } from '@troupe/core'
import { errorClass, errorPart, tag } from './tags.ts'
import { safeString } from './trouble.ts'
import type { Walk } from './walk.ts'
import type { Savepoint, Writer } from './writer.ts'

/** What is said otherwise. */
const apart = new Set(['name', 'message', 'stack', 'cause', 'errors'])
const ofActorError = new Set(['code', 'kind', 'severity', 'labels', 'retry'])

export class ErrorWalk implements Walk {
  key = ''
  part: unknown = undefined
  readonly #error: Error
  readonly #parts: [code: number, key: string][] = []
  #i = 0
  #before: Savepoint | undefined = undefined

  constructor(writer: Writer, error: Error) {
    this.#error = error
    const ours = error instanceof ActorError
    const options = ours ? optionsOf(error) : undefined
    writer.byte(tag.error)
    writer.byte(options !== undefined ? errorClass.actorError : isDomException(error) ? errorClass.domException : errorClass.byName)
    writer.text(read(() => safeString(error.name), 'Error'))
    const message = read(() => ('message' in error ? safeString(error.message) : undefined), '')
    writer.byte(message === undefined || (message === '' && !Object.hasOwn(error, 'message')) ? 0 : 1)
    if (this.#said(message)) writer.text(message)
    writer.text(read(() => safeString(error.stack ?? ''), ''))
    if (options !== undefined) writer.text(options)
    for (const key of read(() => Object.keys(error), []))
      if (!apart.has(key) && !(options !== undefined && ofActorError.has(key))) this.#parts.push([errorPart.field, key])
    if (read(() => Object.hasOwn(error, 'errors'), false)) this.#parts.push([errorPart.errors, 'errors'])
    if (read(() => 'cause' in error, false)) this.#parts.push([errorPart.cause, 'cause'])
  }
  #said(message: string | undefined): message is string {
    return message !== undefined && (message !== '' || Object.hasOwn(this.#error, 'message'))
  }

  next(writer: Writer): boolean {
    const part = this.#parts[this.#i++]
    if (part === undefined) {
      this.#before = undefined
      writer.byte(errorPart.end)
      return false
    }
    const [code, key] = part
    this.key = key
    this.#before = writer.save()
    writer.byte(code)
    if (code === errorPart.field) writer.text(key)
    this.part = (this.#error as unknown as Record<string, unknown>)[key]
    return true
  }
  forgives(writer: Writer): boolean {
    if (this.#before === undefined) return false
    writer.restore(this.#before)
    return true
  }
}

/** What supervision looks at, so that the error can be itself again; undefined where its owner has made it unreadable. */
function optionsOf({ kind, severity, labels, retry }: ActorError): string | undefined {
  return read(() => JSON.stringify({ kind, severity, labels, retry }), undefined)
}
function isDomException(error: Error): boolean {
  return typeof DOMException === 'function' && error instanceof DOMException
}
/** Errors go over when something went wrong, and this must not be one thing more. */
function read<T>(what: () => T, otherwise: T): T {
  try {
    return what()
  } catch {
    return otherwise
  }
}

// What a kind's Standard Schema says about an event or a state: asked before it is stored and after it was read, with one answer for both. Asked
// before, it sees what a reader will: the value of the text that is stored.

import type { MessageSchema } from '@troupe/core'
import { isThenable } from '@troupe/core/internal'
import { decode } from '../values/codec.ts'
import { SchemaMismatch } from '../values/errors.ts'

/** The value as the schema makes it, or why it refuses. */
export type Validated = { readonly fits: true; readonly value: unknown } | { readonly fits: false; readonly why: string; readonly cause?: unknown }

export function validate(schema: MessageSchema, value: unknown): Validated {
  let result
  try {
    result = schema['~standard'].validate(value)
  } catch (cause) {
    return { fits: false, why: 'the schema threw', cause }
  }
  if (isThenable(result)) {
    result.then(undefined, () => undefined)
    return { fits: false, why: 'the schema validates asynchronously; use one that does not' }
  }
  if (result.issues === undefined) return { fits: true, value: result.value }
  return { fits: false, why: `the schema refuses it: ${result.issues.map(({ message }) => message).join('; ')}` }
}

/** What will be read of a text that is about to be stored. Fails with `SchemaMismatch`. */
export function fitting(schema: MessageSchema, text: string, what: string, id: string): unknown {
  const validated = validate(schema, decode(text))
  if (!validated.fits) throw new SchemaMismatch(id, what, validated.why, validated.cause)
  return validated.value
}

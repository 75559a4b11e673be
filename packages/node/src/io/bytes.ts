// What may be written: text or bytes, and nothing that only looks like it. An array has no size in bytes, and a bound that is counted in
// `undefined` bounds nothing.

import { isUint8Array } from 'node:util/types'
import { InvalidOption } from '@troupe/core'
import type { Bytes } from './protocol.ts'

/** Refuses what is neither text nor bytes. */
export function checkBytes(option: string, data: unknown): asserts data is Bytes {
  if (typeof data !== 'string' && !isUint8Array(data)) throw new InvalidOption(option, data, 'use text or a Uint8Array')
}

/** How many bytes it takes. */
export function sizeOf(data: Bytes): number {
  return typeof data === 'string' ? Buffer.byteLength(data) : data.byteLength
}

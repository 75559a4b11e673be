// What nobody caught during a test: rejections and exceptions that reach the process. None may, whatever user code does.

import { afterEach, beforeEach } from 'vitest'

/** To be called once, at the top of a file of tests: what has escaped since the present one began. */
export function escapedInTests(): unknown[] {
  const escaped: unknown[] = []
  const heard = (cause: unknown): void => void escaped.push(cause)
  beforeEach(() => {
    escaped.length = 0
    process.on('unhandledRejection', heard)
    process.on('uncaughtException', heard)
  })
  afterEach(() => {
    process.off('unhandledRejection', heard)
    process.off('uncaughtException', heard)
  })
  return escaped
}

/** The host tells of a rejection after the microtasks of the pass in which it happened. */
export async function passes(): Promise<void> {
  for (let i = 0; i < 4; i++) await new Promise((resolve) => setImmediate(resolve))
}

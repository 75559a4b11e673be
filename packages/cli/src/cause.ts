// Why something failed, as one line for a terminal, with what lies below it.

import { inspect } from 'node:util'
import { clean } from './style.ts'

export function causeOf(cause: unknown): string {
  const said: string[] = []
  let at = cause
  for (let depth = 0; depth < 5 && at !== undefined; depth++) {
    const text = at instanceof Error ? `${at.name}: ${at.message}` : inspect(at, { depth: 1, breakLength: Infinity })
    if (!said.some((before) => before.includes(text))) said.push(text)
    at = at instanceof Error ? at.cause : undefined
  }
  return clean(said.join(' ← '))
}

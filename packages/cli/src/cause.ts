// Why something failed, as one line for a terminal, with what lies below it.

import { inspect } from 'node:util'
import { clean } from './style.ts'

/** Where it was thrown, as the first lines of its stack say: those of Node tell nothing. Empty where there are none. */
export function placeOf(cause: unknown): string {
  const { stack } = (cause instanceof Error ? cause : {}) as { readonly stack?: unknown }
  if (typeof stack !== 'string') return ''
  const lines = stack.split('\n').filter((line) => /^ +at /.test(line) && !line.includes('node:internal'))
  return lines.slice(0, 4).map(clean).join('\n')
}

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

// One failure as it is kept, and the capsule that is made of it when somebody asks.

import { ActorInitializationError, type FlightSubject } from '@troupe/core'
import { type Capsule, codeUnknown } from './capsule.ts'
import type { Chapter } from './log.ts'
import { keep, type Kept } from './values.ts'

/** Where the code of an actor is, as it was defined; see `defineActor` of @troupe/node. */
interface Origin {
  readonly url: string
  readonly name: string
  readonly args?: readonly unknown[]
}
const originKey: unique symbol = Symbol.for('@troupe/origin') as never

/** Where the code of an actor is, and its arguments as they were when it was spawned. */
export interface Code {
  readonly url: string | undefined
  readonly name: string | undefined
  readonly args: readonly Kept[]
}

/** At once: what an actor is made with it may change as it likes. */
export function codeOf({ spawned, args }: FlightSubject): Code {
  if (typeof spawned === 'function') {
    const origin = (spawned as { readonly [originKey]?: Origin })[originKey]
    return { url: origin?.url, name: origin?.name ?? spawned.name, args: args.map(keep) }
  }
  for (let at = spawned; typeof at === 'object' && at !== null; at = (at as { readonly behavior?: unknown }).behavior) {
    const { origin } = at as { readonly origin?: Origin }
    if (origin !== undefined) return { url: origin.url, name: origin.name, args: (origin.args ?? []).map(keep) }
  }
  return { url: undefined, name: undefined, args: [] }
}

/** A failure that is kept. */
export interface Sealed {
  readonly path: string
  readonly code: Code
  readonly chapter: Chapter
  /** By the clock on the wall, which all threads share. */
  readonly when: number
  /** What it failed with, once that is known. */
  cause: unknown
}

export function capsuleFrom({ path, code, chapter, cause }: Sealed, system: string): Capsule {
  const { url, name, args } = code
  const missing = [
    ...(url === undefined ? [codeUnknown] : []),
    ...(chapter.lost > 0 ? [`the first ${chapter.lost} things that happened to it, for the recorder keeps so many`] : []),
    ...chapter.missing,
    ...args.flatMap((arg) => arg.missing.map((what) => `${what}, as an argument`)),
  ]
  const last = chapter.lines.at(-1)
  return {
    troupe: 'capsule',
    version: 1,
    system,
    path,
    kind: chapter.kind,
    incarnation: chapter.incarnation,
    made: new Date().toISOString(),
    code: { url, name, args: args.map(({ text }) => JSON.parse(text) as unknown) },
    entries: chapter.lines.map(({ text, ...line }) => ({ ...line, value: JSON.parse(text) as unknown })),
    reads: { now: chapter.now, random: chapter.random },
    failure: { ...causeIn(cause), during: last?.what === 'message' ? last.type : undefined, at: chapter.at },
    missing: [...new Set(missing)],
  }
}

/** Of a start that failed, what it failed with. */
function causeIn(cause: unknown): { readonly name: string; readonly message: string; readonly stack: string } {
  const thrown = cause instanceof ActorInitializationError ? (cause.cause ?? cause) : cause
  if (!(thrown instanceof Error)) return { name: 'thrown', message: shown(thrown), stack: '' }
  const { name, message, stack } = thrown as { readonly name: unknown; readonly message: unknown; readonly stack: unknown }
  return { name: String(name), message: String(message), stack: String(stack) }
}

function shown(thrown: unknown): string {
  try {
    return JSON.stringify(thrown) ?? 'undefined'
  } catch {
    return 'something that cannot be shown'
  }
}

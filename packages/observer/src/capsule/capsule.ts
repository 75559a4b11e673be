// What is kept of an actor that failed, as a file: enough to let it happen again somewhere else.

import { InvalidOption } from '@troupe/core'
import type { Encoded } from './values.ts'

/** One thing that the actor was given. */
export interface CapsuleEntry {
  readonly what: 'message' | 'signal' | 'answer'
  /** Milliseconds of the system's clock. */
  readonly at: number
  /** The type of a message or signal; of an answer, the path of who answered. */
  readonly type: string
  readonly sender?: string | undefined
  /** Of an answer: whether it is one, and not why there is none. */
  readonly ok: boolean
  readonly value: Encoded
}

/** What an actor failed with. */
export interface CapsuleFailure {
  readonly name: string
  readonly message: string
  readonly stack: string
  /** The type of the message it failed at; undefined where that was none. */
  readonly during: string | undefined
  readonly at: number
}

/** A failed actor, from the start of the incarnation that failed to its failure. */
export interface Capsule {
  readonly troupe: 'capsule'
  readonly version: 1
  readonly system: string
  readonly path: string
  readonly kind: string
  readonly incarnation: number
  /** When the file was made, as an ISO time. */
  readonly made: string
  /** Where its code is found, as `defineActor` was told; only the arguments where it was not. */
  readonly code: { readonly url: string | undefined; readonly name: string | undefined; readonly args: readonly Encoded[] }
  readonly entries: readonly CapsuleEntry[]
  /** What `system.clock` told it, in order. */
  readonly reads: { readonly now: readonly number[]; readonly random: readonly number[] }
  readonly failure: CapsuleFailure
  /** What of it is not in here; empty where it is whole. */
  readonly missing: readonly string[]
}

/** What is said to be missing where nobody knows where the code is: whoever replays it and says so has that. */
export const codeUnknown = 'where its code is: it was not defined by defineActor; replay --with <module> says it'

/**
 * A capsule from the text of its file.
 *
 * Fails: with `InvalidOption` where it is none, or one of another version.
 *
 * @example
 * const capsule = readCapsule(readFileSync('till.capsule.json', 'utf8'))
 */
export function readCapsule(text: string): Capsule {
  let read: Partial<Capsule> | null
  try {
    read = JSON.parse(text) as Partial<Capsule> | null
  } catch (cause) {
    throw new InvalidOption('capsule', cut(text), 'it is no JSON; use a file that troupe capsule wrote', cause)
  }
  return checkCapsule(read)
}

/**
 * A capsule that was read, as it has to be.
 *
 * Fails: with `InvalidOption` where it is none.
 *
 * @example
 * const { failure } = checkCapsule(JSON.parse(text))
 */
export function checkCapsule(given: unknown): Capsule {
  let capsule: Partial<Capsule> | null | undefined
  try {
    // Read once, as a file would be.
    capsule = JSON.parse(JSON.stringify(given) ?? 'null') as Partial<Capsule> | null
  } catch (cause) {
    throw new InvalidOption('capsule', 'it', 'use what troupe capsule wrote: it cannot be read', cause)
  }
  if (typeof capsule !== 'object' || capsule?.troupe !== 'capsule') throw new InvalidOption('capsule', given, 'use what troupe capsule wrote')
  if (capsule.version !== 1) throw new InvalidOption('capsule', capsule.version, 'its version is not 1: use the testkit that belongs to it')
  const { entries, failure, code, reads, missing } = capsule
  const whole =
    Array.isArray(entries) &&
    entries.every((entry: Partial<CapsuleEntry> | null) => typeof entry?.type === 'string' && Number.isFinite(entry.at) && 'value' in entry) &&
    typeof failure?.message === 'string' &&
    Number.isFinite(failure.at) &&
    Array.isArray(code?.args) &&
    Array.isArray(reads?.now) &&
    Array.isArray(reads.random) &&
    Array.isArray(missing) &&
    typeof capsule.path === 'string'
  if (!whole) throw new InvalidOption('capsule', capsule.path, 'a part of it is missing: was the file cut off?')
  return capsule as Capsule
}

function cut(text: unknown): unknown {
  return typeof text === 'string' ? text.slice(0, 40) : text
}

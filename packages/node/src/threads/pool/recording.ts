// The recorder of a thread: where that of the system says how one like it is made, each thread has its own, and is asked for what it has.

import type { FlightRecorder } from '@troupe/core'
import { Definition, type Load } from '@troupe/border'

/** Where the code of something is found. */
interface Place {
  readonly url: string
  readonly name: string
}

/** How a recorder is made on a thread: what is called with the options; those of them that are code come from a module each. */
export interface RecorderOrigin extends Place {
  readonly options: object
  readonly parts: Readonly<Record<string, Place>>
}

/** What a thread records with; undefined where it records nothing. */
export interface Recording {
  readonly recorder: FlightRecorder | undefined
  /** Why it has none, though the system has one. */
  readonly why: string
}

/** A recorder that tells what it has of the last failure at a path, as text. */
interface Telling {
  recorded?(path: string): string
}

const onThreads: unique symbol = Symbol.for('@troupe/on-threads') as never

export function recorderOriginOf(recorder: FlightRecorder | undefined): RecorderOrigin | undefined {
  return (recorder as { readonly [onThreads]?: RecorderOrigin } | undefined)?.[onThreads]
}

/** A thread without its recorder works as well; what is missing is said to whoever asks. */
export async function makeRecording({ url, name, options, parts }: RecorderOrigin, load: Load): Promise<Recording> {
  try {
    const make = (await load(new Definition(url, name))) as (options: object) => FlightRecorder
    const loaded: Record<string, unknown> = {}
    for (const [option, at] of Object.entries(parts)) loaded[option] = await load(new Definition(at.url, at.name))
    return { recorder: make({ ...options, ...loaded }), why: '' }
  } catch (cause) {
    return { recorder: undefined, why: `its recorder cannot be made there: ${cause instanceof Error ? cause.message : String(cause)}` }
  }
}

/** What a thread answers that is asked for what it has recorded. */
export function recordedBy({ recorder, why }: Recording, path: string): string {
  return (recorder as Telling | undefined)?.recorded?.(path) ?? JSON.stringify({ without: why })
}

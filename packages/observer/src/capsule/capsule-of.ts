// The capsule of the last failure at a path, on whatever thread that was; or why there is none.

import type { ActorSystem } from '@troupe/core'
import { coreOf, pathOf } from '@troupe/core/internal'
import { causeText } from '../findings/events.ts'
import type { Capsule } from './capsule.ts'
import { CapsuleRecorder, type Found } from './recorder.ts'

/** Why there is no capsule. */
export type NoCapsule = { readonly none: string }

const noRedact = 'redact cannot be found there; say where it is by capsuleRecorder({ redact, redactAt })'

/** What a thread answers that has no recorder. */
type Without = { readonly without: string }

export async function capsuleOf(system: ActorSystem, path: string): Promise<Capsule | NoCapsule> {
  const core = coreOf(system)
  const recorder = core.flightRecorder
  if (!(recorder instanceof CapsuleRecorder))
    return { none: 'this system records nothing: start it with troupe run --record, or with { flightRecorder: capsuleRecorder() }' }
  const { found = [], silent = [] } = (await core.otherPlaces?.look?.recorded?.(path)) ?? {}
  const answers = [recorder.found(path, system.name), ...found.map(({ text }) => JSON.parse(text) as Found | Without)]
  let newest: { readonly when: number; readonly capsule: unknown } | undefined
  for (const answer of answers) if ('capsule' in answer && answer.when >= (newest?.when ?? 0)) newest = answer
  if (newest !== undefined) return { ...(newest.capsule as Capsule), system: system.name }
  return { none: whyNone(system, path, recorder, answers, silent) }
}

function whyNone(
  system: ActorSystem,
  path: string,
  recorder: CapsuleRecorder,
  answers: readonly (Found | Without)[],
  silent: readonly number[],
): string {
  const failure = system.failures.list().findLast(({ actor }) => pathOf(actor) === path)
  const { code, thread, why } = (failure?.cause ?? {}) as { readonly code?: unknown; readonly thread?: unknown; readonly why?: unknown }
  if (code === 'thread-lost')
    return `${path} failed because thread ${String(thread)}, where it ran, was lost (${String(why)}), and with it all that was recorded there`
  if (silent.length > 0)
    return `${silent.length === 1 ? `thread ${silent[0]} does` : `threads ${silent.join(', ')} do`} not answer, and may have recorded it; ask again, and look at troupe doctor if that does not change`
  if (failure !== undefined) {
    const without = answers.find((answer): answer is Without => 'without' in answer)
    if (without !== undefined) return `${path} failed on a thread, where nothing is recorded: ${recorder.recordsThreads ? without.without : noRedact}`
    return `${path} failed (${causeText(failure.cause)}), but what was recorded of it is gone, or there never was anything: its thread was lost, it failed before it began, or many have failed since`
  }
  const paths = answers.flatMap((answer) => ('failed' in answer ? answer.failed : [])).slice(0, 5)
  return `nothing at ${path} has failed${paths.length === 0 ? '' : `; what has: ${paths.join(', ')}`}`
}

// Observations of a system on channels of node:diagnostics_channel, for agents that listen there and know nothing of actors.

import { channel } from 'node:diagnostics_channel'
import type { ActorSystem, Observation } from '@troupe/core'
import { checkSystem } from '../survey/look.ts'

/** Those that come when something is amiss; the births and ends of actors are not among them. */
const rare = [
  'actor.failed',
  'directive',
  'message.dead',
  'ask.timeout',
  'deadlock',
  'stash.overflow',
  'mailbox.pressure',
  'control',
  'thread.lost',
  'turn.slow',
] as const satisfies readonly Observation['type'][]

/** What is published. */
export interface Diagnosis {
  /** The name of the system. */
  readonly system: string
  readonly observation: Observation
}

/**
 * Publishes rare observations of a system on the channels `troupe:<type>` of `node:diagnostics_channel`: `troupe:actor.failed`, `troupe:directive`, `troupe:message.dead`,
 * `troupe:ask.timeout`, `troupe:deadlock`, `troupe:stash.overflow`, `troupe:mailbox.pressure`, `troupe:control`, `troupe:thread.lost`, `troupe:turn.slow`. Returns what ends it.
 *
 * Guarantees: a channel that nobody subscribed to costs a look at it; what is published is what the event stream has, refs and messages included. Fails: with `InvalidOption`.
 *
 * @example
 * const stop = publishDiagnostics(system)
 * subscribe('troupe:actor.failed', ({ system, observation }) => report(system, observation.cause))
 */
export function publishDiagnostics(system: ActorSystem): () => void {
  checkSystem(system)
  const channels = new Map<string, ReturnType<typeof channel>>(rare.map((type) => [type, channel(`troupe:${type}`)]))
  const listening = system.events.listen((event) => {
    const to = channels.get((event as Observation).type)
    if (to?.hasSubscribers === true) to.publish({ system: system.name, observation: event as Observation } satisfies Diagnosis)
  })
  return () => listening.cancel()
}

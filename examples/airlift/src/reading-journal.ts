// The auditor's eyes: an actor that reads the journal as it grows, and tells it every event.

import { type ActorSystem, receive, setup, stopped } from '@troupe/core'
import { journalEvents } from '@troupe/persistence'
import type { Auditor } from './auditor.ts'
import { depot, type DepotEvent } from './depot.ts'
import { stationPolicy } from './weather.ts'

/** Reads without a place of its own in the journal: one that is written after every batch would make it as slow as the disk. */
export function startReading(system: ActorSystem, auditor: Auditor): void {
  const read = async (): Promise<void> => {
    for await (const { key, seq, event, time } of journalEvents<DepotEvent>(system, { kind: depot as never }))
      auditor.take(Number(key), seq, event, time)
  }
  const reader = setup<Error | undefined>((ctx) => {
    const failed = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)))
    ctx.pipeToSelf(read(), () => undefined, failed)
    return receive((_ctx, cause) => {
      if (cause !== undefined) throw cause
      return stopped
    })
  })
  // From the beginning again: what it has read already it passes over.
  system.spawn(reader, { name: 'auditor', supervision: stationPolicy })
}

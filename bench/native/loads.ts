// What the report measures beyond Savina, each for Troupe in its own idiom and, where there is one, for the floor.
// A load checks its result and gives the number of operations it did.

import { ActorSystem, receive, same } from '@troupe/core'
import { contests as asks } from '../ask/loads.ts'
import { RawActor, RawSystem } from '../raw/raw-actors.ts'
import { shapes } from './shapes.ts'
import { cancelledOnRaw, cancelledOnTroupe, timersOnRaw, timersOnTroupe } from './timers.ts'

export interface NativeLoad {
  readonly unit: string
  readonly troupe: () => Promise<number>
  readonly raw?: () => Promise<number>
}

/** A system made, an actor's first answer, and the system closed again. */
async function starts(n: number): Promise<number> {
  for (let i = 0; i < n; i++) {
    const system = ActorSystem.create('start')
    await new Promise<void>((resolve) =>
      system
        .spawn(
          receive<'hello'>(() => {
            resolve()
            return same
          }),
        )
        .tell('hello'),
    )
    await system.shutdown()
  }
  return n
}

async function rawStarts(n: number): Promise<number> {
  for (let i = 0; i < n; i++) await new Promise<void>((resolve) => new RawActor<'hello'>(new RawSystem(), () => resolve()).tell('hello'))
  return n
}

export const natives: Readonly<Record<string, NativeLoad>> = {
  'ask sequential': { unit: 'asks', troupe: asks['sequential']!['troupe']!, raw: asks['sequential']!['bare']! },
  'ask concurrent': { unit: 'asks', troupe: asks['1,000 at once']!['troupe']!, raw: asks['1,000 at once']!['bare']! },
  'one behavior, one shape': { unit: 'hops', ...shapes['one behavior, one shape']! },
  '16 behaviors × 16 shapes': { unit: 'hops', ...shapes['16 behaviors × 16 shapes']! },
  'timers, 1 M fired': { unit: 'timers', troupe: () => timersOnTroupe(1_000_000), raw: () => timersOnRaw(1_000_000) },
  'timers, 1 M cancelled': { unit: 'timers', troupe: () => cancelledOnTroupe(1_000_000), raw: () => cancelledOnRaw(1_000_000) },
  'start-up': { unit: 'systems', troupe: () => starts(5_000), raw: () => rawStarts(5_000) },
}

// The weather, as flaky as its line: a station for each row of districts, which fails when its instrument does not answer, and is restarted
// after a backoff that grows. Districts fly by the last word they had, and wait when it is too old.

import { type ActorRef, type ActorSystem, type Behavior, receive, same, setup, supervise, type SupervisionPolicy } from '@troupe/core'
import { seeded, type World } from './world.ts'

export interface Wind {
  readonly type: 'wind'
  /** What flights take, as a factor. */
  readonly factor: number
}

/** Outside of any actor, as instruments are: it has bad spells, and a restart does not mend it. */
class Instrument {
  readonly #random: () => number
  #bad = 0
  #turn = 0
  constructor(random: () => number) {
    this.#random = random
    this.#turn = random() * 6
  }
  read(): number {
    if (this.#bad > 0) this.#bad--
    else if (this.#random() < 0.01) this.#bad = 1 + Math.floor(this.#random() * 4)
    if (this.#bad > 0) throw new Error('the weather station does not answer')
    this.#turn += 0.05
    return 1 + 0.12 * Math.sin(this.#turn)
  }
}

const measureEvery = 1000

function station(instrument: Instrument, districts: readonly ActorRef<Wind>[]): Behavior<'measure'> {
  return setup<'measure'>((ctx) => {
    ctx.timers.every('measure', measureEvery, 'measure')
    return receive(() => {
      const factor = instrument.read()
      for (const one of districts) one.tell({ type: 'wind', factor })
      return same
    })
  })
}

export const stationPolicy: SupervisionPolicy = supervise({
  limit: { restarts: Number.MAX_SAFE_INTEGER, within: 8000 },
  backoff: { min: 250, max: 8000, factor: 2, jitter: 0.2 },
})

/** A station for each row of districts. */
export function startStations(system: ActorSystem, { columns, rows, seed }: World, districts: readonly ActorRef<Wind>[]): void {
  for (let row = 0; row < rows; row++) {
    const own = districts.slice(row * columns, (row + 1) * columns)
    const behavior = station(new Instrument(seeded(seed * 31 + row)), own)
    system.spawn(behavior, { name: `station-${row}`, kind: 'station', supervision: stationPolicy })
  }
}

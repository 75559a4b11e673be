// What happens on the way between two nodes, or between a node and the registry: nothing in programs, seeded faults in simulation.

/** How bad the way is. Chances are from 0 to 1, times in ms. */
export interface Faults {
  /** The chance that a packet is lost. */
  readonly drop: number
  /** The chance that it arrives twice. */
  readonly double: number
  /** How long it takes at least and at most; packets overtake each other within that. */
  readonly delay: readonly [least: number, most: number]
  /** The chance that it is held up, for up to `latest` ms. */
  readonly late: number
  readonly latest: number
}

/** A way that does what it should. */
export const calm: Faults = { drop: 0, double: 0, delay: [0, 0], late: 0, latest: 0 }

/** When a packet arrives, in ms from now: never, once or twice. */
export function travel(faults: Faults, random: () => number): number[] {
  if (faults === calm) return [0]
  if (random() < faults.drop) return []
  const times = [trip(faults, random)]
  if (random() < faults.double) times.push(trip(faults, random))
  return times
}

function trip({ delay: [least, most], late, latest }: Faults, random: () => number): number {
  const ms = least + random() * (most - least)
  return random() < late ? ms + random() * latest : ms
}

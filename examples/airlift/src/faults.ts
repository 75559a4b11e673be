// What breaks in a soak, and when: by the second, and by the seed.

import { seeded } from './world.ts'

type Deed = Readonly<Record<string, unknown>>

/** What is done in a second: each every so many seconds, at a place of its own in them, so that all meet all sooner or later. */
export class Faults {
  readonly #random: () => number
  readonly #drones: number
  readonly #districts: number

  constructor(seed: number, drones: number, districts: number) {
    this.#random = seeded(seed ^ 0x0f_a7_17)
    this.#drones = drones
    this.#districts = districts
  }

  at(second: number): Deed[] {
    const any = (most: number): number => Math.floor(this.#random() * most)
    const due = (every: number, at: number): boolean => second % every === at
    const deeds: Deed[] = Array.from({ length: 5 }, () => ({ what: 'crash', drone: any(this.#drones) }))
    if (due(7, 3)) deeds.push({ what: 'storm', x: any(1600), y: any(1000) })
    if (due(11, 5)) deeds.push({ what: 'charger', district: any(this.#districts) })
    if (due(23, 9)) deeds.push({ what: 'district', district: any(this.#districts) })
    if (due(31, 12)) deeds.push({ what: 'flood', district: any(this.#districts) })
    if (due(61, 20)) deeds.push({ what: 'hang' })
    if (due(47, 30)) deeds.push({ what: 'supervision', on: false })
    if (due(47, 35)) deeds.push({ what: 'supervision', on: true })
    return deeds
  }
}

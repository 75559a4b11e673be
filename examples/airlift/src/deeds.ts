// What can be done to an airlift from outside: one word each, whether a button, a key or a test says it. What comes in is checked here.

import { InvalidOption } from '@troupe/core'
import type { Airlift } from './airlift.ts'
import { Several } from './nodes/several.ts'
import { OneProcess } from './one-process.ts'
import type { Saboteur } from './saboteur.ts'
import { districtsOf, dronesOf, height, width } from './world.ts'

/** What was done, in a sentence. */
export interface Done {
  readonly said: string
}

export const deedNames = ['crash', 'storm', 'hang', 'flood', 'supervision', 'charger', 'district', 'hide', 'accuse', 'kill', 'node'] as const
export type DeedName = (typeof deedNames)[number]

type Fields = Readonly<Record<string, unknown>>

/** Radius of a storm, in units of the world. */
export const stormRadius = 110

export class Deeds {
  readonly #airlift: Airlift
  readonly #saboteur: Saboteur | undefined

  /** A saboteur hides in one process only. */
  constructor(airlift: Airlift, saboteur: Saboteur | undefined) {
    this.#airlift = airlift
    this.#saboteur = saboteur
  }

  /** Does what a text of JSON says, such as `{"what":"crash","drone":17}`. Fails with `InvalidOption`. */
  doText(text: string): Done {
    let given: unknown
    try {
      given = JSON.parse(text)
    } catch {
      throw new InvalidOption('body', text.slice(0, 80), 'send JSON')
    }
    if (typeof given !== 'object' || given === null) throw new InvalidOption('body', given, 'send an object')
    return this.do(given as Fields)
  }

  do(given: Fields): Done {
    const { what } = given
    if (!deedNames.includes(what as DeedName)) throw new InvalidOption('what', what, `use one of ${deedNames.join(', ')}`)
    return { said: this.#deeds[what as DeedName](given) }
  }

  readonly #deeds: Readonly<Record<DeedName, (given: Fields) => string>> = {
    crash: (given) => {
      const drone = whole(given, 'drone', dronesOf(this.#airlift.world))
      this.#airlift.crash(drone)
      return `Drone ${drone} failed: its district restarts it in a moment, and what it carried goes back.`
    },
    storm: (given) => {
      const struck = this.#airlift.storm({ x: within(given, 'x', width), y: within(given, 'y', height) }, stormRadius)
      return `The storm threw down ${struck.toLocaleString('en')} drones.`
    },
    hang: () => {
      this.#airlift.hangThread()
      return 'A planning thread hangs in an endless loop: after three seconds the watchdog ends it, and another takes its place.'
    },
    flood: (given) => {
      const district = given['district'] === undefined ? undefined : whole(given, 'district', districtsOf(this.#airlift.world))
      return `Depot ${this.#alone('flood').floodDepot(district)} got 200,000 inquiries at once: its mailbox keeps 4,096, the ledger counts the rest as dropped.`
    },
    supervision: (given) => {
      const { on } = given
      if (typeof on !== 'boolean') throw new InvalidOption('on', on, 'use true or false')
      this.#airlift.supervise(on)
      return on ? 'Supervision is on: whoever lies down is picked up.' : 'Supervision is off: drones that fail stay down.'
    },
    charger: (given) => {
      const district = whole(given, 'district', districtsOf(this.#airlift.world))
      this.#airlift.breakCharger(district)
      return `The charger of district ${district} burned out: charger, loader and pad restart, in that order.`
    },
    district: (given) => {
      const district = whole(given, 'district', districtsOf(this.#airlift.world))
      this.#airlift.crashDistrict(district)
      return `District ${district} burned down with all its drones: it begins anew from its books.`
    },
    hide: () => {
      this.#alone('hide')
      this.#saboteur!.hide()
      return 'One of the drones holds the loop now. Find it by what the observer says.'
    },
    accuse: (given) => {
      const { path } = given
      if (typeof path !== 'string' || path.length > 200) throw new InvalidOption('path', path, 'use the path of an actor')
      this.#alone('accuse')
      return this.#saboteur!.accuse(path) ? `That was it: ${path}.` : `${path} was innocent; its supervisor makes another.`
    },
    kill: () => {
      this.#alone('kill')
      // After the answer has left.
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 50)
      return 'The process is killed with SIGKILL. Another goes on where it was.'
    },
    node: ({ name }) => {
      if (!(this.#airlift instanceof Several)) throw new InvalidOption('what', 'node', 'start with --cluster 3 to have nodes')
      if (typeof name !== 'string' || !this.#airlift.hasNode(name)) throw new InvalidOption('name', name, 'use the name of a node')
      this.#airlift.killNode(name)
      return `Node ${name} is killed: when its lease has run out the others have its districts; in ten seconds it is back.`
    },
  }

  /** What would have to be one process: a bounded mailbox at hand, one loop to hold, one process to kill. */
  #alone(what: DeedName): OneProcess {
    if (this.#airlift instanceof OneProcess) return this.#airlift
    throw new InvalidOption('what', what, 'start without --cluster for that')
  }
}

function whole(given: Fields, name: string, below: number): number {
  const value = given[name]
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < below) return value
  throw new InvalidOption(name, value, `use a whole number from 0 to ${below - 1}`)
}
function within(given: Fields, name: string, most: number): number {
  const value = given[name]
  if (typeof value === 'number' && value >= 0 && value <= most) return value
  throw new InvalidOption(name, value, `use a number from 0 to ${most}`)
}

// Several systems that are one cluster, on one virtual clock: everything that could go wrong between them, or with one of them, is a choice of
// the seed. A run that breaks a promise is shrunk and drawn as those of one system are.

import type { Scenario, SimulateOptions, Simulation, SimulationReport } from '@troupe/testkit'
import { simulate } from '@troupe/testkit'
import { checkFinite, checkFunction } from '@troupe/core/internal'
import { MemoryHub } from '../engines/memory/hub.ts'
import { calm, type Faults } from '../engines/memory/weather.ts'
import { memberKey } from '../membership/keys.ts'
import { minFrame } from '../ports/wire.ts'
import { readSession } from '../values/member.ts'
import { Forger } from './forger.ts'
import { SimulatedNode, type SimulatedNodeOptions } from './simulated-node.ts'

/** How a cluster is simulated; the rest as of `simulate`. */
export interface SimulateClusterOptions extends Omit<SimulateOptions, 'places' | 'system'> {
  /** The lease of every node, in ms; 3,000 if left out. */
  readonly lease?: number | undefined
  /** How bad the way between nodes may be: `rough` (default, chosen by the seed), or `calm`. */
  readonly wire?: 'rough' | 'calm' | undefined
}

/** What a simulated cluster is put through. */
export type ClusterScenario = (world: SimulatedCluster) => void | Promise<void>

/**
 * What `strike` may do. `forge` sends a frame in the name of another node, `spoil` bytes that are no frame: both may end the connection of two
 * nodes that live, so they are done only where they are asked for, and `expectsBreaks` has to be set.
 */
export type Strike = 'pause' | 'isolate' | 'outage' | 'kill' | 'leave' | 'cut' | 'purge' | 'step' | 'suspend' | 'forge' | 'spoil'

const allStrikes: readonly Strike[] = ['pause', 'isolate', 'outage', 'kill', 'leave', 'cut', 'purge', 'step', 'suspend']

/** Strikes against the registry, which no node is struck by. */
const ofRegistry: ReadonlySet<Strike> = new Set(['outage', 'purge', 'step'])

/** A cluster in a simulated run. */
export class SimulatedCluster {
  readonly sim: Simulation
  readonly lease: number
  readonly hub: MemoryHub
  /** All lives so far. */
  readonly nodes: SimulatedNode[] = []
  /** Sessions whose end was recorded, and when. */
  readonly over: Map<string, number> = new Map()
  /** When each node was last up: killed, paused or cut off at that time. */
  readonly struck: Map<string, number> = new Map()
  /** Whether connections between nodes that live may break, because something is done that breaks them; else it is a violation of K1. */
  expectsBreaks = false
  readonly #forger: Forger
  #onStart: (node: SimulatedNode) => void = () => {}
  #options: (name: string) => SimulatedNodeOptions = () => ({})

  constructor(sim: Simulation, lease: number, wire: 'rough' | 'calm', calmAt: number) {
    this.sim = sim
    this.lease = lease
    const { home } = sim
    this.hub = new MemoryHub({
      now: () => sim.now,
      // What is plain comes last, so that a shrunk run has no faults.
      random: () => (15 - sim.choose(16)) / 16,
      timer: (ms, task) => home.after(ms, task),
      wake: (task) => home.soon(task),
    })
    this.#forger = new Forger(sim, this.hub)
    if (wire === 'rough') {
      this.hub.wireFaults = rough(sim)
      // What servers take differs; the least is what every wire carries.
      this.hub.maxFrame = sim.oneOf([this.hub.maxFrame, minFrame])
    }
    this.hub.registryFaults = { drop: 0, double: 0, delay: [1, 20], late: sim.oneOf([0, 0.1]), latest: 1_000 }
    sim.after(calmAt, () => {
      this.hub.wireFaults = { ...calm, delay: [1, 10] }
      this.hub.registryFaults = { ...calm, delay: [1, 10] }
    })
    this.#noteEnds()
    sim.always(() => {
      for (const node of this.nodes)
        if (node.isUp && node.place.state === 'running' && node.cluster!.held && this.over.has(node.name))
          sim.violate('invariant', `K8: ${node.name} acts after its end was recorded`)
    })
  }

  /** Called for each node that has joined, also for those that come back. */
  set onJoin(set: (node: SimulatedNode) => void) {
    this.#onStart = checkFunction('onJoin', set) as (node: SimulatedNode) => void
  }
  came(node: SimulatedNode): void {
    this.#onStart(node)
  }

  /** How a node of a name is started, also one that comes back. */
  set nodeOptions(options: (name: string) => SimulatedNodeOptions) {
    this.#options = checkFunction('nodeOptions', options) as (name: string) => SimulatedNodeOptions
  }

  start(name: string, options: SimulatedNodeOptions = this.#options(name)): SimulatedNode {
    const node = new SimulatedNode(this, name, options)
    this.nodes.push(node)
    return node
  }

  /** Nodes that are members, as far as they know. */
  get up(): readonly SimulatedNode[] {
    return this.nodes.filter((node) => node.isUp)
  }
  pick(): SimulatedNode | undefined {
    const { up } = this
    return up[this.sim.choose(up.length)]
  }
  /** The life that a session was. */
  life(session: string): SimulatedNode | undefined {
    return this.nodes.find((node) => node.name === session)
  }

  /** Does something that goes wrong for a while, and rights itself; says what, and undefined where nobody is there to be struck. */
  strike(kinds: readonly Strike[] = allStrikes): Strike | undefined {
    const { sim, hub } = this
    const node = this.pick()
    if (node === undefined) return undefined
    const ms = sim.oneOf([500, 100, 2_000, 4_000, 7_000])
    const kind = sim.oneOf(kinds)
    if (kind === 'forge' || kind === 'spoil') return this.#strikeFrames(kind, node)
    if (!ofRegistry.has(kind)) this.struck.set(node.name, sim.now)
    switch (kind) {
      case 'pause':
        node.pause(ms)
        break
      case 'suspend':
        node.suspend(ms)
        break
      case 'isolate':
        node.isolate(ms)
        break
      case 'outage':
        sim.note(`the engine is away for ${ms} ms`)
        hub.outage(true)
        sim.after(ms, () => hub.outage(false))
        break
      case 'purge': {
        // One lease key, or all of them: no node has done anything wrong.
        const keys = (sim.choose(2) === 0 ? [node] : this.up).map((one) => memberKey(one.node))
        sim.note(`${keys.join(', ')} vanish from the registry`)
        hub.store.purge(keys)
        break
      }
      case 'step': {
        const by = sim.oneOf([1, -1]) * ms
        sim.note(`the clock of the registry is stepped by ${by} ms`)
        hub.store.stepClock(by)
        break
      }
      case 'kill':
      case 'leave': {
        if (kind === 'kill') node.kill()
        else node.leave()
        sim.after(ms, () => void this.start(node.node))
        break
      }
      case 'cut': {
        const other = this.pick()
        if (other === undefined || other === node) return undefined
        sim.note(`the way between ${node.name} and ${other.name} is cut for ${ms} ms`)
        hub.cut(node.node, other.node, true)
        sim.after(ms, () => hub.cut(node.node, other.node, false))
      }
    }
    return kind
  }

  #strikeFrames(kind: 'forge' | 'spoil', node: SimulatedNode): Strike | undefined {
    const other = this.pick()
    if (other === undefined || other === node) return undefined
    const [from, to] = [node.cluster!.self.session, other.cluster!.self.session]
    this.sim.note(`somebody sends ${kind === 'forge' ? 'a frame' : 'bytes'} to ${other.name} in the name of ${node.name}`)
    if (kind === 'spoil') this.#forger.spoil(from, to)
    else if (!this.#forger.forge(from, to)) return undefined
    return kind
  }

  #noteEnds(): void {
    const { store } = this.hub
    const update = store.update.bind(store)
    store.update = (key, value, expected, ttl) => {
      const revision = update(key, value, expected, ttl)
      const record = key.startsWith('session.') ? readSession(value) : undefined
      if (record !== undefined) this.#wrote(key.slice(8), record.number, record.ended)
      return revision
    }
  }
  /** A session ends when that is recorded, and when another has its name. */
  #wrote(node: string, number: number, ended: boolean): void {
    const end = (name: string): void => void (this.over.has(name) || this.over.set(name, this.sim.now))
    if (ended) end(`${node}#${number}`)
    for (const { name } of this.nodes) if (name.startsWith(`${node}#`) && Number(name.slice(node.length + 1)) < number) end(name)
  }
}

function rough(sim: Simulation): Faults {
  return {
    drop: sim.oneOf([0, 0.1, 0.3]),
    double: sim.oneOf([0, 0.1, 0.3]),
    delay: [sim.oneOf([1, 20]), sim.oneOf([20, 150])],
    late: sim.oneOf([0, 0.1]),
    latest: 6_000,
  }
}

/**
 * Runs a scenario of several nodes under many seeds: what is lost, doubled, delayed and reordered on the wire, who is paused, killed and cut off,
 * and whether the engine is there are choices of the seed.
 *
 * Guarantees: the same seed gives the same run; with `TROUPE_SEED=n` only that one is run. That no node acts after its end was recorded is
 * checked after every step. Fails: rejects with `SimulationFailed` at the first broken promise, shrunk, with a diagram and how to replay.
 *
 * @example
 * await simulateCluster((world) => {
 *   world.onJoin = ({ system }) => void system.spawn(echo(), { name: 'echo' })
 *   for (const name of ['a', 'b', 'c']) world.start(name)
 *   world.sim.after(5_000, () => world.strike())
 * }, { seeds: 50 })
 */
export function simulateCluster(scenario: ClusterScenario, options: SimulateClusterOptions = {}): Promise<SimulationReport> {
  checkFunction('scenario', scenario)
  const { lease = 3_000, wire = 'rough', ...rest } = options
  checkFinite('lease', lease, 'above')
  const duration = rest.duration ?? 20_000
  const run: Scenario = (sim) => scenario(new SimulatedCluster(sim, lease, wire, duration))
  return simulate(run, { grace: 60_000, maxSteps: 400_000, faults: 'none', name: scenario.name, ...rest, duration, places: true })
}

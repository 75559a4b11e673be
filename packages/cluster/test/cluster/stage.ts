// A cluster on a calm wire and virtual time, for tests that say what happens step by step.

import { simulateCluster, type SimulateClusterOptions, type SimulatedCluster, type SimulatedNode } from '../../src/testing.ts'

/** Runs once; what the scenario throws fails the test. */
export async function onStage(run: (stage: Stage) => Promise<void>, options: SimulateClusterOptions = {}): Promise<void> {
  const scenario = async (world: SimulatedCluster): Promise<void> => run(new Stage(world))
  await simulateCluster(scenario, { seeds: [1], wire: 'calm', duration: 300_000, grace: 10_000, shrinkTrials: 0, ...options })
}

export class Stage {
  readonly world: SimulatedCluster
  constructor(world: SimulatedCluster) {
    this.world = world
  }

  /** Nodes of these names, once all know each other. */
  async nodes(...names: readonly string[]): Promise<readonly SimulatedNode[]> {
    const nodes = names.map((name) => this.world.start(name))
    await this.until('all have joined', () => nodes.every((node) => node.cluster?.members.length === this.world.up.length && node.isUp))
    return nodes
  }

  /** Hints are hints: from now on a node gets none of keys that begin so. */
  deafen(node: string, prefix: string): void {
    const { hub } = this.world
    const watch = hub.watch.bind(hub)
    hub.watch = (watcher) =>
      watch({
        ...watcher,
        onHint: (hint) => {
          if (watcher.node !== node || hint === 'anything' || !hint.key.startsWith(prefix)) watcher.onHint(hint)
        },
      })
  }
  async until(what: string, condition: () => boolean, ms = 60_000): Promise<void> {
    const end = this.world.sim.now + ms
    while (!condition()) {
      if (this.world.sim.now >= end) throw new Error(`waited in vain: ${what}`)
      await this.world.sim.delay(10)
    }
  }

  wait(ms: number): Promise<void> {
    return this.world.sim.delay(ms)
  }
}

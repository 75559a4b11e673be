// An application that is a node of a cluster, and a way to end its session as other nodes would.
import { HostRuntime } from '@troupe/core'
import { Cluster, memory } from '@troupe/cluster'

export const options = { logger: false }

export default async function member(system) {
  const engine = memory()
  await Cluster.join(system, { name: 'shop', node: 'a', engine })
  const { registry } = await engine.connect({ cluster: 'shop', node: 'judge', timing: new HostRuntime(), onTrouble: () => {} })
  globalThis.endSession = async () => {
    const { value, revision } = await registry.read('session.a')
    await registry.update('session.a', JSON.stringify({ ...JSON.parse(value), ended: true }), revision)
  }
}

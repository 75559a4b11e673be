// For tests of programs that run on a cluster: several systems on one virtual clock.

export {
  type ClusterScenario,
  simulateCluster,
  type SimulateClusterOptions,
  type SimulatedCluster,
  type Strike,
} from './simulation/simulated-cluster.ts'
export type { SimulatedNode, SimulatedNodeOptions } from './simulation/simulated-node.ts'

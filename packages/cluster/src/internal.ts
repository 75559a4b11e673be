// What sibling folders of this repository need and users do not.

export { Channels } from './channel/channels.ts'
export { ackFrame, headSize, resetFrame, writeHead } from './channel/frame.ts'
export { sizeOf, writeRecord } from './channel/record.ts'
export { SimulatedCluster } from './simulation/simulated-cluster.ts'
export { shardOf } from './sharding/desired.ts'
export { ownKey, readOwnership } from './sharding/ownership.ts'
export { VirtualTiming } from './testing/virtual-timing.ts'
export { sessionText } from './values/session.ts'

// A worker entry that knows nothing of what records its actors.
import '@troupe/node/worker'

export { till } from './till.mjs'

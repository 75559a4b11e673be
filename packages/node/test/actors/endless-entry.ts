// A worker entry that forgot to import @troupe/node/worker, and never ends.

import './named.ts'

setInterval(() => {}, 1000)

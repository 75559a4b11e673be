// A worker entry that forgot to import @troupe/node/worker, and ends.

import './named.ts'

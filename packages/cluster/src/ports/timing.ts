// Time and chance, given by whoever starts a cluster: the host's in programs, virtual and seeded ones in simulation.

import type { ExecutionRuntime } from '@troupe/core'

/** What of an `ExecutionRuntime` a cluster needs. `now` is monotonic. */
export type Timing = Pick<ExecutionRuntime, 'now' | 'random' | 'timer' | 'wake'>

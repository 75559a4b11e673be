// The phases in a fixed order, for where they go over as numbers.

import type { Phase } from '@troupe/core'

const all: Readonly<Record<Phase, true>> = {
  created: true,
  starting: true,
  running: true,
  suspended: true,
  failed: true,
  restarting: true,
  stopping: true,
  stopped: true,
  terminated: true,
}
export const phases = Object.keys(all) as readonly Phase[]

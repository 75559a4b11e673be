// The public API of @troupe/node, by hand.

import { requireCore } from '@troupe/core/internal'

export * from './io/index.ts'
export * from './threads/index.ts'

requireCore('@troupe/node', 1)

// Where an actor asks to live.

import { type Placement, InvalidOption } from '@troupe/core'

/** What an actor asks for, as plain data. */
export interface PlacementRequest {
  readonly dispatcher: 'parallel' | 'pinned'
  readonly rule: Placement
}

/** The rule, if it is one. Fails with `InvalidOption` otherwise. */
export function checkPlacement(rule: Placement): Placement {
  if (rule === 'round-robin' || rule === 'least-loaded') return rule
  if (typeof rule === 'object' && rule !== null) {
    if ('key' in rule && typeof rule.key === 'string') return rule
    if ('thread' in rule && Number.isInteger(rule.thread) && rule.thread >= 0) return rule
  }
  throw new InvalidOption('placement', rule, "use 'round-robin', 'least-loaded', { key: 'some text' } or { thread: 0 }")
}

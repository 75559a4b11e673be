// Which thread takes the next actor.

import { type Placement, InvalidOption } from '@troupe/core'

/** What is known of a thread when an actor is placed. */
export interface ThreadLoad {
  readonly epoch: number
  /** Which place of the pool it fills: stays the same when the thread is replaced. */
  readonly slot: number
  readonly actors: number
  /** Messages queued there, as last told. */
  readonly queued: number
  /** Share of the last period that its loop was busy, from 0 to 1. */
  readonly busy: number
}

/** Picks among the threads of a pool; pure. `turn` counts the actors placed so far. */
export function choose(rule: Placement, threads: readonly ThreadLoad[], turn: number): ThreadLoad {
  const bySlot = [...threads].sort((a, b) => a.slot - b.slot)
  if (rule === 'round-robin') return bySlot[turn % bySlot.length]!
  if (rule === 'least-loaded') return bySlot.reduce((best, t) => (weight(t) < weight(best) ? t : best))
  if ('key' in rule) return bySlot[hash(rule.key) % bySlot.length]!
  const thread = bySlot.find((t) => t.slot === rule.thread)
  if (thread === undefined) throw new InvalidOption('placement.thread', rule.thread, `the pool has threads 0 to ${bySlot.length - 1}`)
  return thread
}

/** Work at hand first, then how busy it was, then how many live there. */
function weight(thread: ThreadLoad): number {
  return thread.queued + thread.busy * 100 + thread.actors * 0.01
}

/** FNV-1a: the same key, the same number, in every process. */
function hash(key: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < key.length; i++) value = Math.imul(value ^ key.charCodeAt(i), 0x01000193) >>> 0
  return value
}

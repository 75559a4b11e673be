// What is measured: every benchmark of the report, in its order, with who takes part in it.

import { natives } from '../native/loads.ts'
import { suite } from '../savina/suite.ts'

export interface Entry {
  readonly name: string
  readonly unit: string
  /** `rate` is operations per second, more is better; `bytes` is per actor, less is better. */
  readonly measure: 'rate' | 'bytes'
  readonly kind: 'messages' | 'compute' | 'own'
  /** Peers have it too. */
  readonly contested: boolean
  /** Its queues get deep: also measured with a larger young generation. */
  readonly deep: boolean
  /** Has a budget on a newer Node too. */
  readonly newer: boolean
}

const contested: ReadonlySet<string> = new Set([
  'ping-pong',
  'thread ring',
  'counting',
  'fork-join throughput',
  'fork-join create',
  'big',
  'skynet',
  'ask sequential',
  'ask concurrent',
  'idle',
  'concurrent dictionary',
  'logistic map',
  'N-queens',
])
const deep: ReadonlySet<string> = new Set(['counting', 'fork-join throughput', 'fork-join create', 'skynet'])

const newer: ReadonlySet<string> = new Set(['ping-pong', 'thread ring', 'big'])

const entry = (name: string, unit: string, kind: Entry['kind'], measure: Entry['measure'] = 'rate'): Entry => ({
  name,
  unit,
  kind,
  measure,
  contested: contested.has(name),
  deep: deep.has(name),
  newer: newer.has(name),
})

export const plan: readonly Entry[] = [
  ...suite.map((b) => entry(b.name, b.unit, b.kind)),
  ...Object.entries(natives).map(([name, load]) => entry(name, load.unit, 'own')),
  entry('idle', 'bytes per actor', 'own', 'bytes'),
]

/** The sizes at which growth is measured. */
export const growthPlan: readonly { readonly what: 'message' | 'spawn' | 'timer'; readonly sizes: readonly number[] }[] = [
  { what: 'message', sizes: [10, 1_000, 100_000, 1_000_000] },
  { what: 'spawn', sizes: [1_000, 100_000, 1_000_000] },
  { what: 'timer', sizes: [1_000, 100_000, 1_000_000] },
]

// The process that is killed: owns the scope in its epoch, and writes groups of runs without a pause. Says on its output what is stored,
// group by group, as soon as it is told so; or, where it is leaky, before it has handed it over.

import { writeSync } from 'node:fs'
import { dataOf, environment, ids, openStore } from './store.mjs'

const { epoch, leaky, seed, ...place } = JSON.parse(process.argv[2])
let state = seed >>> 0
const random = () => (state = (state * 1_664_525 + 1_013_904_223) >>> 0) / 2 ** 32
const journal = await openStore(place, environment)
await journal.raise('default', epoch)
const next = new Map((await journal.heads(ids)).map(({ id, seq }) => [id, seq + 1]))
/** At once, past every buffer of ours: what was written is the reader's, whatever becomes of this process. */
const say = (group) => writeSync(1, `${JSON.stringify(group.map(({ id, first, events }) => [id, first, events.length]))}\n`)

for (;;) {
  const group = ids
    .filter(() => random() < 0.5)
    .map((id) => {
      const first = next.get(id)
      const events = Array.from({ length: 1 + Math.floor(random() * 8) }, (_, i) => ({
        type: 'moved',
        version: 1,
        data: dataOf(id, first + i, epoch),
        tags: random() < 0.2 ? ['some'] : [],
        subject: undefined,
        time: Date.now(),
      }))
      return { write: 'run', id, first, events, timers: [], scope: 'default', epoch }
    })
  if (group.length === 0) continue
  if (leaky) say(group)
  const outcomes = await journal.append(group)
  // Whoever does not know goes: the next one raises the epoch and looks.
  if (outcomes.some(({ is }) => is !== 'stored')) break
  if (!leaky) say(group)
  for (const { id, events } of group) next.set(id, next.get(id) + events.length)
}
process.exit(0)

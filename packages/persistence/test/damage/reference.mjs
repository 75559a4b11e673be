// Makes the journal that is damaged: something of everything. It is closed, or (`--killed`) ends as by kill -9, with a log that has commits.

import { sqliteJournal } from '@troupe/persistence'
import { environment, events, owner, states, subjects, tags } from './queries.mjs'

const [path, how] = process.argv.slice(2)
const journal = await sqliteJournal(path).open(environment)
await journal.raise('default', 3)
await journal.raise('other', 8)
const next = new Map(events.map((id) => [id, 1]))
let seed = 7
const random = () => (seed = (seed * 1_664_525 + 1_013_904_223) >>> 0) / 2 ** 32
const must = (outcomes) => {
  for (const { is, cause } of outcomes) if (is !== 'stored') throw new Error(`not stored: ${is}`, { cause })
}
const event = (id, seq) => ({
  type: seq % 5 === 0 ? 'moved' : 'added',
  version: 1,
  data: JSON.stringify({ id, seq, text: 'x'.repeat(Math.floor(random() * 300)) }),
  tags: seq % 3 === 0 ? [tags[2]] : seq % 4 === 0 ? [tags[0], tags[1]] : [],
  subject: undefined,
  time: 1_700_000_000_000 + seq,
})
async function write(rounds) {
  for (let round = 0; round < rounds; round++) {
    const group = events
      .filter(() => random() < 0.6)
      .map((id) => {
        const first = next.get(id)
        const count = 1 + Math.floor(random() * 5)
        next.set(id, first + count)
        const timers = random() < 0.3 ? [{ key: `t${round % 3}`, due: 1000 + round }] : []
        return {
          write: 'run',
          id,
          first,
          events: Array.from({ length: count }, (_, i) => event(id, first + i)),
          timers,
          scope: owner.scope,
          epoch: owner.epoch,
        }
      })
    if (group.length > 0) must(await journal.append(group))
  }
}
await write(25)
for (const [i, id] of states.entries())
  for (let revision = 1; revision <= 3; revision++)
    must(
      await journal.append([
        {
          write: 'state',
          id,
          expected: revision - 1,
          revision,
          version: 1,
          data: JSON.stringify({ id, revision, text: 'y'.repeat(i * 40) }),
          subject: undefined,
          time: 5,
          timers: [],
          ...owner,
        },
      ]),
    )
for (const [i, id] of events.entries())
  if (i % 2 === 0) {
    const seq = next.get(id) - 1
    for (const at of [seq - 3, seq]) must([await journal.saveSnapshot({ id, seq: at, version: 1, data: `{"state":${at}}`, time: 9, ...owner })])
    if (i % 4 === 0) must([await journal.deleteEvents(id, seq - 6, owner)])
  }
for (const subject of subjects) await journal.addKey(subject, new Uint8Array(32).fill(subject.length))
await journal.eraseKey('carl')
let reached
for await (const found of journal.events({ batch: 9, once: true })) {
  reached = found.at(-1).offset
  break
}
await journal.advance('view', undefined, reached, () => Promise.resolve())
if (how === '--killed') {
  // What is in the log only is damaged there.
  await write(12)
  process.kill(process.pid, 'SIGKILL')
}
await journal.close()

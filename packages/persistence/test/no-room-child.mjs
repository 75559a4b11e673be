// One process on a small disk: a journal that is to be made where nothing is left, and actors that write until the disk is full and go on when there
// is room again. Says how both looked. Uses the built package.

import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { ActorSystem } from '@troupe/core'
import { eventSourced, persistence, sqliteJournal, surveyJournals } from '@troupe/persistence'

const folder = process.argv[2]
const ballast = join(folder, 'ballast')
/** Leaves so many bytes. */
function fill(left) {
  const { bavail, bsize } = statfsSync(folder)
  const file = openSync(ballast, 'w')
  for (let rest = bavail * bsize - left; rest > 0; rest -= 4096) writeSync(file, Buffer.alloc(4096))
  closeSync(file)
}
const blob = eventSourced('blob', {
  initial: () => 0,
  events: { added: (n) => n + 1 },
  commands: {
    add(ctx, m) {
      ctx.persist({ type: 'added', text: m.text })
      ctx.tell(m.replyTo, ctx.state)
    },
  },
})
const breath = () => new Promise((resolve) => void setTimeout(resolve, 5))

fill(0)
const anew = await sqliteJournal(join(folder, 'new', 'journal.db'))
  .open({})
  .then(
    () => 'opened',
    (cause) => `${cause.code} ${cause.message}`,
  )
rmSync(ballast)

fill(2_500_000)
const system = ActorSystem.create('full', {
  extensions: [persistence({ journal: sqliteJournal(join(folder, 'data', 'journal.db')), whenAway: 'wait' })],
  logger: false,
  askTimeout: 60_000,
})
const refs = Array.from({ length: 4 }, (_, i) => system.spawn(blob(String(i))))
const acks = { of: 0, ends: false }
const failed = []
const loops = refs.map(async (ref) => {
  while (!acks.ends)
    await ref.ask({ type: 'add', text: 'x'.repeat(10_000) }).then(
      () => acks.of++,
      (cause) => failed.push(cause.code),
    )
})
while (surveyJournals(system)[0].circuit.refused === 0 && failed.length === 0) await breath()
const before = acks.of
const { trouble } = surveyJournals(system)[0]
rmSync(ballast)
const goal = { of: before + 8 }
while (acks.of < goal.of && failed.length === 0) await breath()
acks.ends = true
await Promise.all(loops)
await system.shutdown()
process.stdout.write(`${JSON.stringify({ anew, before, failed, trouble, went: acks.of >= goal.of })}\n`)

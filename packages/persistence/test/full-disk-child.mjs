// One process with an actor on a SQLite journal that it fills until a write fails, and says how that looked; where it does not fail, it ends after
// a few. Uses the built package.

import { ActorSystem } from '@troupe/core'
import { eventSourced, persistence, sqliteJournal } from '@troupe/persistence'

const counter = eventSourced('counter', {
  initial: () => 0,
  events: { added: (n) => n + 1 },
  commands: {
    add(ctx, m) {
      ctx.persist({ type: 'added', text: m.text })
      ctx.tell(m.replyTo, ctx.state)
    },
    get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
  },
})
const system = ActorSystem.create('full', {
  extensions: [persistence({ journal: sqliteJournal(`${process.argv[2]}/journal.db`) })],
  logger: false,
  askTimeout: 60_000,
})
const ref = system.spawn(counter('a'))
const found = await ref.ask({ type: 'get' })
let acknowledged = 0
let code
try {
  for (let i = 0; i < 25; i++) acknowledged = await ref.ask({ type: 'add', text: 'x'.repeat(100_000) })
} catch (cause) {
  code = cause.code
}
process.stdout.write(`${JSON.stringify({ found, acknowledged, code })}\n`)
process.exit(0)

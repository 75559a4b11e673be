// Fan-in beside a slow neighbour: 2,000 senders feed one trivial sink with 13,000 messages a second, while another actor, which never
// runs out of work, takes 0.4 ms for each of its messages. All share one thread. The sink must keep up: fewer than 1,000 queued.
// A machine that is busy otherwise fails it: when the process was not run for 100 ms, most of the timers are due at once.

import { commandLine, whole } from '@troupe/testkit/internal'
import { ActorSystem, receive, same, setup } from '@troupe/core'

const { seconds } = commandLine({
  name: 'npm run bench:fan-in',
  about: 'Whether a cheap sink that many feed keeps up beside an actor that is always busy, and how late its messages are.',
  words: { seconds: whole('how long', 10) },
})
const senders = 2000
const every = 150
const work = 0.4
/** Over how many ms the senders begin. */
const begins = 3000
const bound = 1000

const system = ActorSystem.create('fan-in', { keepAlive: false })
let sent = 0
let taken = 0
let most = 0
let latest = 0
let worked = 0

const sink = system.spawn(
  receive((_ctx, at) => {
    taken++
    // A clock read for each would make the sink dear.
    if ((taken & 63) === 0) latest = Math.max(latest, performance.now() - at)
    return same
  }),
)
const busy = system.spawn(
  receive((ctx) => {
    const until = performance.now() + work
    while (performance.now() < until);
    worked++
    ctx.self.tell('more')
    return same
  }),
)
for (let i = 0; i < senders; i++)
  system.spawn(
    setup((ctx) => {
      // One after the other, so that they are not in step.
      ctx.timers.once('begin', (begins * i) / senders, 'begin')
      return receive((c, m) => {
        if (m === 'begin') c.timers.every('go on', every, 'go on')
        sink.tell(performance.now())
        most = Math.max(most, ++sent - taken)
        return same
      })
    }),
  )
for (let i = 0; i < 64; i++) busy.tell('begin')

console.log(`${senders} senders, one message every ${every} ms each; beside them one actor that takes ${work} ms per message; ${seconds} s\n`)
console.log(
  `${'second'.padStart(6)}${'sent'.padStart(10)}${'handled'.padStart(10)}${'queued'.padStart(9)}${'most queued'.padStart(13)}${'latest, ms'.padStart(12)}`,
)
await new Promise((resolve) => setTimeout(resolve, begins + 500))
most = latest = 0
for (let second = 1; second <= seconds; second++) {
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const cells = [second, sent, taken, sent - taken, most, latest.toFixed(1)]
  console.log([6, 10, 10, 9, 13, 12].map((width, i) => String(cells[i]).padStart(width)).join(''))
  latest = 0
}
console.log(`\nthe busy actor handled ${worked}`)
console.log(most < bound ? `never ${bound} queued: yes` : `up to ${most} queued, and fewer than ${bound} were to be`)
process.exit(most < bound ? 0 : 1)

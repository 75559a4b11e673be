// One workload in one mode, in a process of its own: nanoseconds for each message, by the clock and of the processor, printed as JSON.
//   node one.mjs <ping-pong|big> <plain|attached|armed> <messages>
// It runs for a while before it is measured: the first looks run code that was never compiled, which is a price of the first seconds and of no message.

import { ActorSystem, receive, same } from '@troupe/core'
import { observe } from '@troupe/observer'

const [workload, mode, count] = process.argv.slice(2)
const messages = Number(count)

const system = ActorSystem.create('bench', { logger: false })
const observer = mode === 'plain' ? undefined : observe(system)
await observer?.ready
// As a page that shows everything: surveys, findings, flow.
let looks = 0
const end = mode === 'armed' ? observer.source.subscribe(() => void looks++, { flow: true }) : () => {}

/** Two that send one message to and fro. */
function pingPong(left, done) {
  let peer
  const player = () =>
    receive((ctx, n) => {
      if (n === 0) done()
      else (ctx.self === first ? peer : first).tell(n - 1)
      return same
    })
  const first = system.spawn(player())
  peer = system.spawn(player())
  first.tell(left)
}

/** Many of which each sends to one of the others by chance, and is answered: Savina's big. */
function big(left, done) {
  const actors = []
  let seed = 42
  const draw = (n) => {
    seed ^= seed << 13
    seed ^= seed >>> 17
    seed ^= seed << 5
    return (seed >>> 0) % n
  }
  const each = Math.floor(left / 2 / 120)
  let busy = 120
  for (let i = 0; i < 120; i++) {
    let sent = 0
    actors.push(
      system.spawn(
        receive((_ctx, m) => {
          if (m.ping) actors[m.from].tell({ ping: false, from: i })
          else if (++sent < each) actors[draw(120)].tell({ ping: true, from: i })
          else if (--busy === 0) done()
          return same
        }),
      ),
    )
  }
  for (const [i] of actors.entries()) actors[draw(120)].tell({ ping: true, from: i })
}

const run = (n) => new Promise((resolve) => (workload === 'big' ? big : pingPong)(n, resolve))
/** Milliseconds: three looks are over by then. */
const warm = 2500
for (const until = performance.now() + warm; performance.now() < until;) await run(3_000_000)
const began = performance.now()
const before = process.cpuUsage()
await run(messages)
const { user, system: kernel } = process.cpuUsage(before)
const clock = ((performance.now() - began) * 1e6) / messages
end()
process.stdout.write(`${JSON.stringify({ clock, cpu: ((user + kernel) * 1000) / messages, looks })}\n`)
await system.shutdown({ deadline: 100 })

// One workload that never ends, in one process, while an observer comes and goes: nanoseconds for each message in windows without one, with one that nobody looks through
// (attached), and with one that somebody does (armed), printed as JSON. Windows take turns, for between two processes the same differs by more than is to be measured.
//   node one.mjs <ping-pong|big> <rounds>

import { ActorSystem, receive, same } from '@troupe/core'
import { observe } from '@troupe/observer'

const [workload, rounds] = process.argv.slice(2)
/**
 * Milliseconds of a window, of the ones without an observer beside it, and until what it begins with is over: samples are as rare as they are to be. One in which
 * somebody looks is as long as the time between two looks: it has one in it. The others are short and many, so that nothing else changes between them.
 */
const shapes = { again: [150, 150, 75], attached: [150, 150, 75], armed: [1000, 500, 600] }
/** Windows of each in a round. */
const times = { again: 12, attached: 12, armed: 1 }
const warm = 3000

const system = ActorSystem.create('bench', { logger: false })
let handled = 0

/** Two that send one message to and fro. */
function pingPong() {
  let peer
  const player = () =>
    receive((ctx, n) => {
      handled++
      ;(ctx.self === first ? peer : first).tell(n + 1)
      return same
    })
  const first = system.spawn(player())
  peer = system.spawn(player())
  first.tell(0)
}

/** Many of which each sends to one of the others by chance, and is answered: Savina's big. */
function big() {
  const actors = []
  let seed = 42
  const draw = (n) => {
    seed ^= seed << 13
    seed ^= seed >>> 17
    seed ^= seed << 5
    return (seed >>> 0) % n
  }
  for (let i = 0; i < 120; i++)
    actors.push(
      system.spawn(
        receive((_ctx, m) => {
          handled++
          if (m.ping) actors[m.from].tell({ ping: false, from: i })
          else actors[draw(120)].tell({ ping: true, from: i })
          return same
        }),
      ),
    )
  for (const [i] of actors.entries()) actors[draw(120)].tell({ ping: true, from: i })
}

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
async function window(ms, settling) {
  // Not always as long: what comes again and again in the same time would else come into the same windows.
  await wait(settling * (1 + Math.random()))
  const from = { handled, at: performance.now() }
  await wait(ms)
  return ((performance.now() - from.at) * 1e6) / (handled - from.handled)
}
/** What begins each way to be looked at; it returns what ends it. */
const ways = {
  again: async () => () => {},
  attached: async () => {
    const observer = observe(system)
    await observer.ready
    return () => observer.close()
  },
  armed: async () => {
    const observer = observe(system)
    await observer.ready
    // As a page that shows everything: surveys, findings, flow.
    observer.source.subscribe(() => {}, { flow: true })
    return () => observer.close()
  },
}

if (workload === 'big') big()
else pingPong()
await wait(warm)
const seen = { again: [], attached: [], armed: [] }
// The first round is not counted: in it all that is run is compiled.
for (let i = 0; i <= rounds; i++)
  for (const way of Object.keys(ways)) {
    const [length, beside, settling] = shapes[way]
    let before = await window(beside, 100)
    for (let n = 0; n < times[way]; n++) {
      const end = await ways[way]()
      const ns = await window(length, settling)
      await end()
      const after = await window(beside, 75)
      if (i > 0) seen[way].push({ ns, before, after })
      before = after
    }
  }
process.stdout.write(`${JSON.stringify(seen)}\n`)
process.exit(0)

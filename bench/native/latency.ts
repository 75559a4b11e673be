// Latency under load: `node latency.js <troupe|raw> [seconds]`. A thousand actors are saturated (each always has a
// message for itself), while the host tells a probe every 2 ms, as a socket would. Prints percentiles in ms of the
// probe's way from tell to handler, and of the event loop's delay, as JSON.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { ActorSystem, receive, same } from '@troupe/core'
import { RawActor, RawSystem } from '../raw/raw-actors.ts'

type Spin = { type: 'spin'; n: number }
type Probe = { type: 'probe'; at: number }
type Target<M> = { tell(message: M): void }

const [side = 'troupe', seconds = '3'] = process.argv.slice(2)
const actors = 1_000

const system = ActorSystem.create('latency')
const raw = new RawSystem()
function spawn<M>(handler: (m: M) => void): Target<M> {
  if (side === 'raw') return new RawActor<M>(raw, handler)
  return system.spawn(
    receive<M>((_ctx, m) => {
      handler(m)
      return same
    }),
  )
}

let running = true
let spun = 0
for (let i = 0; i < actors; i++) {
  const self: Target<Spin> = spawn<Spin>((m) => {
    spun++
    if (running) self.tell({ type: 'spin', n: m.n + 1 })
  })
  self.tell({ type: 'spin', n: 0 })
}

const latencies: number[] = []
const probe = spawn<Probe>((m) => void latencies.push(performance.now() - m.at))
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

await wait(500)
latencies.length = 0
spun = 0
const loop = monitorEventLoopDelay({ resolution: 1 })
loop.enable()
const ticker = setInterval(() => probe.tell({ type: 'probe', at: performance.now() }), 2)
const started = performance.now()
await wait(Number(seconds) * 1000)
const elapsed = performance.now() - started
clearInterval(ticker)
loop.disable()
running = false
await wait(50)

const sorted = Float64Array.from(latencies).sort()
const at = (p: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))]!
const delay = (p: number): number => loop.percentile(p) / 1e6
console.log(
  JSON.stringify({
    probes: sorted.length,
    rate: (spun * 1000) / elapsed,
    probe: { p50: at(0.5), p99: at(0.99), p999: at(0.999) },
    loop: { p50: delay(50), p99: delay(99), p999: delay(99.9) },
  }),
)
process.exit(0)

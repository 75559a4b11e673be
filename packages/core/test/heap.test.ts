// C14: after many spawns and stops, asks, watches and subscriptions, registries and heap are back at the baseline. Each runs in a process
// of its own, on the built output, with the garbage collector at hand. A hundred thousand of each, within which ten bytes that stay behind
// are seen; TROUPE_RUNS sets how many, such as a million.

import { spawn } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { scriptArguments } from './script.ts'

const runs = Number(process.env['TROUPE_RUNS'] ?? 100_000)
const perRound = 10_000

const dist = new URL('../dist/index.js', import.meta.url).href

interface Load {
  before?: string
  round: string
}

/** What one round does, ten thousand times; `system`, `pump` and `n` are at hand, and what it needs stands before it. */
const loads: Record<string, Load> = {
  'spawn and stop': { round: `for (let i = 0; i < n; i++) system.spawn(ignore, { name: 'a' + i }).stop(); pump()` },
  'spawn, message, failure and stop': {
    before: `const bad = receive(() => { throw new Error('boom') })`,
    round: `for (let i = 0; i < n; i++) system.spawn(bad, { supervision: 'stop' }).tell('x'); pump()`,
  },
  'answered asks': {
    before: `const echo = system.spawn(receive((ctx, m) => { m.replyTo.tell(1); return same }))`,
    round: `const asks = []; for (let i = 0; i < n; i++) asks.push(echo.ask({ i })); pump(); await Promise.all(asks)`,
  },
  '40. asks rejected by timeout': {
    before: `const silent = system.spawn(ignore)`,
    round: `const asks = []; for (let i = 0; i < n; i++) asks.push(silent.ask({ i }, { timeout: 1 + i % 100 }).then(() => { throw 1 }, () => {})); pump(); clock.now += 200; pump(); await Promise.all(asks)`,
  },
  '40. asks of class actors rejected by timeout: queued, in progress, and handled without an answer': {
    before: `const sink = system.spawn(ignore)
      class Silent extends Actor { async hang() { await new Promise(() => {}) } pass() { this.ctx.forward(sink) } }
      const held = system.spawn(Silent), busy = system.spawn(Silent, { reentrant: true }), silent = system.spawn(Silent)
      const views = Array.from({ length: 100 }, (_, i) => (i === 0 ? held : i === 1 ? busy : silent).with({ timeout: 1 + i }).ask)`,
    round: `system.suspend(held, 'a test')
      pump()
      const asks = []
      for (let i = 0; i < n; i++) {
        const ask = views[i % 100]
        asks.push((i % 100 === 1 ? ask.hang() : ask.pass()).then(() => { throw 1 }, () => {}))
      }
      pump(); clock.now += 200; pump(); await Promise.all(asks)
      system.resume(held); system.restart(busy); pump(); clock.now += 6000; pump()`,
  },
  'asks of an actor that stops': {
    round: `const t = system.spawn(ignore); const asks = []; for (let i = 0; i < n; i++) asks.push(t.ask({ i }).catch(() => {})); t.stop(); pump(); await Promise.all(asks)`,
  },
  'watch and unwatch': {
    before: `const a = system.spawn(ignore), b = system.spawn(ignore)`,
    round: `for (let i = 0; i < n; i++) { system.watch(a, b); system.unwatch(a, b) } pump()`,
  },
  'watched actors that stop': {
    before: `let heard = 0; const w = system.spawn(receive(() => same, (ctx, s) => { if (s.type === 'Terminated') heard++; return same }))`,
    round: `for (let i = 0; i < n; i++) { const t = system.spawn(ignore); system.watch(t, w); t.stop() } pump()`,
  },
  'subscribe and cancel': {
    before: `const a = system.spawn(ignore)`,
    round: `for (let i = 0; i < n; i++) system.events.subscribe(a, 'x').cancel(); pump()`,
  },
  'subscribers that stop': {
    // Few at a time: each hears of the others' starts and ends, and passes them over.
    round: `for (let i = 0; i < n; i++) { const t = system.spawn(ignore); system.events.subscribe(t, 'x'); t.stop(); if (i % 20 === 0) pump() } pump()`,
  },
  'timers set and cancelled': {
    before: `const a = system.spawn(receive((ctx, m) => { for (let i = 0; i < m; i++) { ctx.timers.once('k' + i, 1e6, 'x'); ctx.timers.cancel('k' + i) } return same }))`,
    round: `a.tell(n); pump(); for (let i = 0; i < n; i++) system.sendAfter(a, 1e6, 0)(); pump()`,
  },
  'adapters and pipes': {
    before: `const a = system.spawn(receive((ctx, m) => { for (let i = 0; i < m; i++) { ctx.adapt((x) => x); if (i % 10 === 0) ctx.pipeToSelf(Promise.resolve(0), (x) => x, (x) => x) } return same }))`,
    round: `a.tell(n); pump(); await turn(); pump()`,
  },
  restarts: {
    before: `const a = system.spawn(setup((ctx) => { ctx.timers.once('k', 1e6, 0); ctx.signal; ctx.adapt((x) => x, { key: 'k' }); ctx.setReceiveTimeout(1e6); return ignore }))`,
    round: `for (let i = 0; i < n / 10; i++) { system.restart(a); pump() }`,
  },
}

const script = (load: Load): string => `
  import { Actor, ActorSystem, ManualRuntime, ignore, receive, same, setup } from ${JSON.stringify(dist)}
  Error.stackTraceLimit = 0
  const clock = { now: 0 }
  let armed = 0
  class Counting extends ManualRuntime {
    timer(ms, task) {
      armed++
      let open = true
      const close = () => { if (open) armed--; open = false }
      const disarm = super.timer(ms, () => { close(); task() })
      return () => { close(); disarm() }
    }
  }
  const system = ActorSystem.create('heap', { runtime: new Counting({ now: () => clock.now }), keepAlive: false, logger: false, deadLetterCapacity: 10 })
  const pump = () => system.pump()
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const settle = async () => { for (let i = 0; i < 3; i++) { await turn(); gc() } return process.memoryUsage().heapUsed }
  const n = ${perRound}
  ${load.before ?? ''}
  const round = async () => { ${load.round} }
  // The first rounds grow what is kept for good: compiled code, rings, feedback.
  for (let i = 0; i < 5; i++) await round()
  const active = system.counts().active
  const baseline = await settle()
  for (let i = 0; i < ${Math.ceil(runs / perRound)}; i++) { await round(); if (i % 25 === 0) await turn() }
  const grown = (await settle()) - baseline
  const ledger = await system.ledger()
  const { sent, ...rest } = ledger
  const sum = Object.values(rest).reduce((a, b) => a + b, 0)
  const ended = system.counts().active === active
  const report = await system.shutdown()
  console.log(JSON.stringify({ grown, off: sent - sum, ended, active: system.counts().active, armed, killed: report.killed.length }))
`

interface Outcome {
  grown: number
  off: number
  ended: boolean
  active: number
  armed: number
  killed: number
}

function run(load: Load): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, scriptArguments(script(load), '--expose-gc'), { timeout: 170_000 + runs / 10 })
    let out = ''
    let errors = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    child.on('close', (code, signal) => {
      if (code === 0) resolve(JSON.parse(out) as Outcome)
      else reject(new Error(`ended with ${signal ?? `code ${code}`}: ${errors}`))
    })
  })
}

describe(`C14: after ${runs} of each, registries and heap are back at the baseline`, () => {
  for (const [name, load] of Object.entries(loads))
    test(name, { timeout: 180_000 + runs / 10 }, async () => {
      const { grown, ...rest } = await run(load)
      expect(rest).toEqual({ off: 0, ended: true, active: 0, armed: 0, killed: 0 })
      expect(grown).toBeLessThan(Math.max(1, runs / 500_000) * 1024 * 1024)
    })
})

// A hundred thousand actors that are all busy, and whoever looks at them: messages a second of a saturated thread, by the clock and by time of the processor, printed as JSON. Windows of
// each way to look take turns in one process, for between two processes the same differs by more than is to be measured.
//   node crowd.mjs <actors> <rounds> <seconds of a window> <ways, with commas>
// Whoever is asked answers, and asks another one by chance: where each is in another place of memory, a thread handles about a million messages a
// second. A page of the view that is named is open, in another process, so that only what it costs the system is measured.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { ActorSystem, receive, same } from '@troupe/core'
import { coreOf, fuse, removeWitness } from '@troupe/core/internal'
import { observe } from '@troupe/observer'

const [actors, rounds, seconds] = process.argv.slice(2, 5).map(Number)
const ways = process.argv[5].split(',')
const families = 100
/** Questions under way: enough that the thread never rests. */
const under = 200
/** Milliseconds of a short window and before it, and how many pairs of those. */
const briefly = 200
const turning = 30
const pairs = 150
/** Milliseconds until what a way begins with is over: the first look is at everything. */
const settling = 2500

// One for all windows, begun before there is anything: while a process with much memory begins another one, and for a while after, its own memory is slow.
const viewer = spawn(process.execPath, [fileURLToPath(new URL('viewer.mjs', import.meta.url))], { stdio: ['pipe', 'pipe', 'inherit'] })
const answers = createInterface({ input: viewer.stdout })

const system = ActorSystem.create('crowd', { logger: false })
let seed = 42
let handled = 0
const crowd = []
function draw() {
  seed ^= seed << 13
  seed ^= seed >>> 17
  seed ^= seed << 5
  return (seed >>> 0) % crowd.length
}
const person = () =>
  receive((ctx, { type, from }) => {
    handled++
    if (type === 'answer') return same
    from?.tell({ type: 'answer' })
    crowd[draw()].tell({ type: 'question', from: ctx.self })
    return same
  })
const family = (size) =>
  receive((ctx) => {
    for (let i = 0; i < size; i++) crowd.push(ctx.spawn(person(), { name: `person-${i}`, kind: 'person' }))
    return same
  })
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function measured() {
  const from = { handled, at: performance.now(), cpu: process.cpuUsage() }
  await wait(seconds * 1000)
  const { user, system: kernel } = process.cpuUsage(from.cpu)
  const done = handled - from.handled
  return { clock: done / ((performance.now() - from.at) / 1000), cpu: done / ((user + kernel) / 1e6) }
}

/** Does something while a page of this view is open; what the page heard meanwhile is returned beside it. */
async function withPage(view, task) {
  const page = await observer.openPage()
  viewer.stdin.write(`open ${page.url} ${view}\n`)
  await wait(settling)
  viewer.stdin.write('begin\n')
  const found = await task()
  const said = once(answers, 'line')
  viewer.stdin.write('end\n')
  const [line] = await said
  await page.close()
  return { ...found, ...JSON.parse(line) }
}

/** What all that is done to look takes, in milliseconds: looks at actors, what is made of them for those who look on, and for pages. */
function stopwatch() {
  const { source } = observer
  let spent = 0
  let began = 0
  // One is told first and one last; in between are those who work.
  const ends = [source.subscribe(() => (began = performance.now()))]
  const work = source.work.bind(source)
  source.work = (ms) => {
    spent += ms
    work(ms)
  }
  return {
    /** Everybody who looks on is there. */
    begin: () => ends.push(source.subscribe((update) => (spent += update.spent + performance.now() - began))),
    get spent() {
      return spent
    },
    end() {
      delete source.work
      for (const end of ends) end()
    },
  }
}

/**
 * The same in parts, which a machine that is not quiet lets one tell: what it costs the turns that somebody looks, and sends that some are sampled, from windows so short
 * that nothing else changes between them, with those who count there and not there; and what looks took of the time, by the clock.
 */
async function inParts() {
  const { fallback } = coreOf(system).dispatchers
  const watched = stopwatch()
  const found = await withPage('flow', async () => {
    watched.begin()
    await wait(2 * settling)
    // It is away for a slice now and then.
    let watch
    while ((watch = fallback.witness) === undefined) await new Promise((resolve) => setImmediate(resolve))
    const { sampler } = fuse
    const leave = () => removeWitness(fallback, watch)
    const windowOf = async (on) => {
      fuse.sample(on ? sampler : undefined)
      if (on) watch.begin()
      else leave()
      await wait(turning / 2)
      // Where it was about to come back it has.
      if (!on) leave()
      // Not always as long: what comes again and again in the same time would else come into the same windows.
      await wait(turning * Math.random())
      const from = { handled, at: performance.now() }
      await wait(briefly)
      return (handled - from.handled) / (performance.now() - from.at)
    }
    const turns = []
    const from = { spent: watched.spent, at: performance.now() }
    for (let before = await windowOf(false); turns.length < pairs;) {
      const on = await windowOf(true)
      const after = await windowOf(false)
      turns.push({ before, on, after })
      before = after
    }
    const looks = ((watched.spent - from.spent) / (performance.now() - from.at)) * 100
    watch.begin()
    return { turns, looks }
  })
  watched.end()
  return found
}

for (let i = 0; i < families; i++) system.spawn(family(actors / families), { name: `family-${i}`, kind: 'family' }).tell({ type: 'begin' })
while (crowd.length < actors) await new Promise((resolve) => setImmediate(resolve))
for (let i = 0; i < under; i++) crowd[draw()].tell({ type: 'question' })
await wait(settling)

const observer = observe(system)
await observer.ready
const found = { again: [] }
for (const way of ways) found[way] = []
// Between windows in which nobody looks, before and after: the machine is not the same from minute to minute.
let before = await measured()
for (let i = 0; i < rounds; i++)
  for (const way of ['again', ...ways]) {
    const seen = way === 'again' ? await wait(settling).then(measured) : await withPage(way, measured)
    await wait(settling / 4)
    const after = await measured()
    found[way].push({ before, after, ...seen })
    before = after
  }
found.parts = await inParts()
viewer.stdin.end()
await once(viewer, 'exit')
process.stdout.write(`${JSON.stringify(found)}\n`)
process.exit(0)

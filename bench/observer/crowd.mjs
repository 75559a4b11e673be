// A hundred thousand actors that are all busy, and whoever looks at them: messages a second of a saturated thread, by the clock and by time of the processor, printed as JSON. Windows of
// each way to look take turns in one process, for between two processes the same differs by more than is to be measured.
//   node crowd.mjs <actors> <rounds> <seconds of a window> <ways, with commas>
// Each message makes its receiver tell another one by chance: where each is in another place of memory, a thread handles about a million a
// second. Where a view is named a page of it is open, in another process, so that only what it costs the system is measured.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { ActorSystem, receive, same } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { observe } from '@troupe/observer'

const [actors, rounds, seconds] = process.argv.slice(2, 5).map(Number)
const ways = process.argv[5].split(',')
const families = 100
/** Messages under way: enough that the thread never rests. */
const under = 2000
/** Milliseconds of a short window, and how many pairs of those. */
const briefly = 150
const pairs = 100
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
  receive((_ctx, { hops }) => {
    handled++
    crowd[draw()].tell({ type: 'word', hops: hops + 1 })
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

/** A page of this view is open meanwhile. */
async function withPage(view) {
  const page = await observer.openPage()
  viewer.stdin.write(`open ${page.url} ${view}\n`)
  await wait(settling)
  viewer.stdin.write('begin\n')
  const found = await measured()
  const said = once(answers, 'line')
  viewer.stdin.write('end\n')
  const [line] = await said
  await page.close()
  return { ...found, ...JSON.parse(line) }
}
async function withOnlooker() {
  const end = observer.source.subscribe(() => {}, { flow: true })
  await wait(settling)
  const found = await measured()
  end()
  return found
}

/**
 * The same in parts, which a machine that is not quiet lets one tell: what it costs each turn that somebody looks, from windows so short that nothing else changes
 * between them, with the witness of turns there and not there; and what looks took of the time, by the clock.
 */
async function inParts() {
  const { fallback } = coreOf(system).dispatchers
  let spent = 0
  const end = observer.source.subscribe((update) => (spent += update.spent))
  await wait(3 * settling)
  const began = performance.now()
  spent = 0
  let witness
  const windowOf = async (watched) => {
    if (!watched) witness = fallback.witness
    fallback.witness = watched ? witness : undefined
    // It goes on from here: what was handled meanwhile is nobody's.
    if (watched) witness.clockRead(fallback.now, false)
    await wait(briefly / 10)
    const from = { handled, at: performance.now() }
    await wait(briefly)
    return (handled - from.handled) / (performance.now() - from.at)
  }
  const turns = []
  for (let before = await windowOf(false); turns.length < pairs;) {
    const watched = await windowOf(true)
    const after = await windowOf(false)
    turns.push((1 - (2 * watched) / (before + after)) * 100)
    before = after
  }
  fallback.witness = witness
  const looks = (spent / (performance.now() - began)) * 100
  end()
  return { turns, looks }
}

for (let i = 0; i < families; i++) system.spawn(family(actors / families), { name: `family-${i}`, kind: 'family' }).tell({ type: 'begin' })
while (crowd.length < actors) await new Promise((resolve) => setImmediate(resolve))
for (let i = 0; i < under; i++) crowd[draw()].tell({ type: 'word', hops: 0 })
await wait(settling)

const observer = observe(system)
await observer.ready
const found = { again: [] }
for (const way of ways) found[way] = []
// Between windows in which nobody looks, before and after: the machine is not the same from minute to minute.
let before = await measured()
for (let i = 0; i < rounds; i++)
  for (const way of ['again', ...ways]) {
    const seen = way === 'again' ? await measured() : await (way === 'armed' ? withOnlooker() : withPage(way))
    await wait(settling / 4)
    const after = await measured()
    found[way].push({ nobody: { clock: (before.clock + after.clock) / 2, cpu: (before.cpu + after.cpu) / 2 }, ...seen })
    before = after
  }
viewer.stdin.end()
await once(viewer, 'exit')
found.parts = await inParts()
process.stdout.write(`${JSON.stringify(found)}\n`)
process.exit(0)

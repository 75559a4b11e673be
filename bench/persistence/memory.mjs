// Memory of a journal in a process of its own: a million events of a thousand actors are written, all are recovered, and what stays is measured
// afterwards: heap and external memory of the main thread, and what the whole process has resident, which includes the thread that writes.
// Run with --expose-gc. Prints one line of JSON, in MB.

import { environment, event, sourceOf } from './store.mjs'

const { store, folder, url } = JSON.parse(process.argv[2])
const [actors, each, atOnce] = [1000, 1000, 100]
const ids = Array.from({ length: actors }, (_, i) => `counter/${i}`)
const journal = await (await sourceOf(store, { folder, url })).open(environment)
await journal.raise('default', 1)
const events = Array.from({ length: atOnce }, () => event)

let peak = 0
const look = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20)
for (let first = 1; first <= each; first += atOnce)
  for (let i = 0; i < ids.length; i += 100) {
    const group = ids.slice(i, i + 100).map((id) => ({ write: 'run', id, first, events, timers: [], scope: 'default', epoch: 1 }))
    for (const { is } of await journal.append(group)) if (is !== 'stored') throw new Error(`not stored: ${is}`)
  }
let read = 0
for (let i = 0; i < ids.length; i += 256) {
  const from = ids.slice(i, i + 256).map((id) => ({ id, after: 0 }))
  await journal.heads(ids.slice(i, i + 256))
  for await (const part of journal.replay(from, 1000)) read += part.events.length
}
if (read !== actors * each) throw new Error(`${read} events were read`)
clearInterval(look)
for (let i = 0; i < 5; i++) {
  await new Promise((resolve) => setTimeout(resolve, 50))
  globalThis.gc()
}
const { heapUsed, external, rss } = process.memoryUsage()
const mb = (bytes) => Math.round(bytes / 1e5) / 10
console.log(JSON.stringify({ rate: 1, heap: mb(heapUsed), external: mb(external), resident: mb(rss), peak: mb(peak) }))
process.exit(0)

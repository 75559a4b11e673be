// Commands per second of Emmett's event store on PostgreSQL: a hundred streams, each with one append under way, of one event, with its
// expected version. Only the append: nothing is read and no state is made. Argument: JSON with url, warm, seconds. Prints one line of JSON.

import { getPostgreSQLEventStore } from '@event-driven-io/emmett-postgresql'

const { url, warm, seconds, streams = 100 } = JSON.parse(process.argv[2])
const store = getPostgreSQLEventStore(url)
let done = 0
let measuring = false
const late = []

let first
/** The first append makes the tables. */
const begun = new Promise((resolve) => (first = resolve))
async function keep(name) {
  for (let version = 0n; ; version++) {
    const since = performance.now()
    await store.appendToStream(name, [{ type: 'added', data: { by: 1 } }], {
      expectedStreamVersion: version === 0n ? 'STREAM_DOES_NOT_EXIST' : version,
    })
    done++
    first()
    if (measuring) late.push(performance.now() - since)
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
keep(`counter-${process.pid}-0`).catch(fail)
await begun
for (let i = 1; i < streams; i++) keep(`counter-${process.pid}-${i}`).catch(fail)
await pause(warm * 1000)
measuring = true
const [before, since] = [done, performance.now()]
await pause(seconds * 1000)
const rate = ((done - before) / (performance.now() - since)) * 1000
late.sort((a, b) => a - b)
const at = (part) => late[Math.floor(late.length * part)] ?? 0
console.log(JSON.stringify({ rate, p50: at(0.5), p99: at(0.99) }))
process.exit(0)

function fail(cause) {
  console.error(cause.message)
  process.exit(1)
}

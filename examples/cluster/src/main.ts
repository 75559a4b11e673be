// `npm run cluster`: three nodes on NATS where one is found, else in this process; people who play; and whatever happens to the nodes.

import { evening } from './evening.ts'
import { clusterOptions } from './options.ts'
import { say, yellow } from './screen.ts'
import { openStore } from './store.ts'
import { type Listener, type NatsServer, Neighbours, Processes, type Troop } from './troop.ts'

/** What `tools/engines` of this repository offers. */
interface Engines {
  readonly findNats: () => { readonly version: string } | undefined
  readonly startNats: (found: { readonly version: string }) => Promise<NatsServer>
}

const options = clusterOptions()
const over = new AbortController()
let asked = 0
process.on('SIGINT', () => {
  // The first lets everybody finish; whoever asks again has no patience.
  if (++asked > 1) process.exit(130)
  over.abort()
})
process.once('SIGTERM', () => over.abort())

/** Single keys, where there is a keyboard. */
function onKey(hear: (key: string) => void): void {
  const { stdin } = process
  if (!stdin.isTTY || !process.stdout.isTTY) return
  stdin.setRawMode(true).setEncoding('utf8').unref()
  stdin.on('data', (text: string) => {
    for (const key of text)
      if (key === '\u0003') process.kill(process.pid, 'SIGINT')
      else hear(key)
  })
  process.once('exit', () => stdin.setRawMode(false))
}

async function run(): Promise<boolean> {
  const { findNats, startNats } = (await import(new URL('../../../tools/engines/nats.mjs', import.meta.url).href)) as Engines
  const found = options.engine === 'memory' ? undefined : findNats()
  if (found === undefined) {
    if (options.engine === 'nats') throw new Error('No NATS server 2.11.2 or newer was found; npm run engines -- --only nats fetches one.')
    if (options.engine === 'auto')
      say(yellow('No NATS server was found: all nodes are in this process, on memory(). npm run engines -- --only nats fetches one.'))
    return await evening({ options, troop: (listener) => new Neighbours(options.lease, listener), store: 'memory', over, onKey })
  }
  const store = await openStore(options.store, options.data)
  try {
    const server = await startNats(found)
    const troop = (listener: Listener): Troop => new Processes(found.version, server, store, options.lease, listener)
    return await evening({ options, troop, store: store.name, over, onKey })
  } finally {
    await store.end()
  }
}

try {
  process.exitCode = (await run()) ? 0 : 1
} catch (cause) {
  // A folder that cannot be written, no PostgreSQL, a lease that is too short: what it is, without the way there.
  process.stderr.write(`${(cause as Error).message}\n`)
  process.exitCode = 1
}

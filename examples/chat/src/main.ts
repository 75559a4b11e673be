// Starts the chat: node dist/main.js [--port 8080] [--host 127.0.0.1] [--sleep-after 30000]
// What it is given is checked first (exit code 2); an address that it cannot have is said in one line (exit code 1).

import process from 'node:process'
import { parseArgs } from 'node:util'
import { osSignals } from '@troupe/node'
import { ActorSystem } from '@troupe/core'
import { chat } from './web.ts'

const usage = `Usage: npm run chat -- [options]

Chat rooms over WebSockets, for as many tabs as you open.

  --port <number>              where to listen, 0 for any free port (default: 8080)
  --host <address>             on which address (default: 127.0.0.1)
  --sleep-after <milliseconds> how long a room stays awake without anybody in it (default: 30000)
  -h, --help                   prints this
`
const options = {
  port: { type: 'string', default: '8080' },
  host: { type: 'string', default: '127.0.0.1' },
  'sleep-after': { type: 'string', default: '30000' },
  help: { type: 'boolean', short: 'h', default: false },
} as const

function refuse(problem: string): never {
  process.stderr.write(`${problem}. For help: npm run chat -- --help\n`)
  return process.exit(2)
}

function argumentsOf(): ReturnType<typeof parseArgs<{ options: typeof options }>>['values'] {
  try {
    return parseArgs({ options }).values
  } catch (cause) {
    // The first line says what is wrong, the others how to quote.
    const [problem = ''] = (cause as Error).message.split(/\.?\n|\. /)
    const names = Object.keys(options).map((name) => `--${name}`)
    return refuse(`${problem}; there are: ${names.join(', ')}`)
  }
}

const values = argumentsOf()
if (values.help) {
  process.stdout.write(usage)
  process.exit(0)
}
const { host, port, 'sleep-after': sleep } = values
if (!/^\d+$/.test(port) || Number(port) > 65_535) refuse(`--port takes a whole number from 0 to 65535, not '${port}'`)
if (host === '') refuse('--host takes an address, not nothing')
if (sleep.trim() === '' || !Number.isFinite(Number(sleep)) || Number(sleep) <= 0) refuse(`--sleep-after takes milliseconds, above 0, not '${sleep}'`)

/** The system's own words are at the bottom of the causes. */
function cannotListen(cause: unknown): never {
  let reason = 'it was told to end'
  for (let at = cause; at instanceof Error; at = at.cause) reason = at.message
  process.stderr.write(`Cannot listen on ${host}:${port} (${reason}). End what listens there, or choose another address with --port and --host.\n`)
  return process.exit(1)
}

// What goes wrong before it listens is said once, below.
let listens = false
const print =
  (level: string) =>
  (fields: object, message: string): void => {
    if (listens) process.stderr.write(`${level} ${message} ${JSON.stringify(fields, (_k, v: unknown) => (v instanceof Error ? v.message : v))}\n`)
  }
const quiet = (): void => {}
const system = ActorSystem.create('chat', { logger: { debug: quiet, info: print('info'), warn: print('warn'), error: print('error') } })
system.spawn(osSignals({ shutdown: system }), { name: 'os-signals' })
const server = system.spawn(chat({ port: Number(port), host, sleepAfter: Number(sleep), clock: Date.now }), { name: 'chat', supervision: 'escalate' })
const address = await server.ask({ type: 'address' }).catch(cannotListen)
if (address.port === undefined) cannotListen((await system.terminated).cause)
listens = true
process.stdout.write(`chat on http://${address.host}:${address.port} — open it in two tabs\n`)

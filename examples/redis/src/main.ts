// Starts the server: node dist/main.js --port 6380 [--host 127.0.0.1] [--plain]
// What it is given is checked first (exit code 2); an address that it cannot have is said in one line (exit code 1).

import process from 'node:process'
import { parseArgs } from 'node:util'
import { osSignals } from '@troupe/node'
import { ActorSystem } from '@troupe/core'
import { plainServer } from './plain.ts'
import { redis } from './server.ts'

const usage = `Usage: npm run redis -- [options]

A server of the Redis protocol: an actor per connection, an actor per database.

  --port <number>   where to listen, 0 for any free port (default: 6380)
  --host <address>  on which address (default: 127.0.0.1)
  --plain           the same commands on node:net, without actors (default: off)
  -h, --help        prints this
`
const options = {
  port: { type: 'string', default: '6380' },
  host: { type: 'string', default: '127.0.0.1' },
  plain: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

function refuse(problem: string): never {
  process.stderr.write(`${problem}. For help: npm run redis -- --help\n`)
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
const { host, plain } = values
const port = Number(values.port)
if (!/^\d+$/.test(values.port) || port > 65_535) refuse(`--port takes a whole number from 0 to 65535, not '${values.port}'`)
if (host === '') refuse('--host takes an address, not nothing')

/** The system's own words are at the bottom of the causes. */
function cannotListen(cause: unknown): never {
  let reason = 'it was told to end'
  for (let at = cause; at instanceof Error; at = at.cause) reason = at.message
  process.stderr.write(`Cannot listen on ${host}:${port} (${reason}). End what listens there, or choose another address with --port and --host.\n`)
  return process.exit(1)
}

// For measurements: with --expose-gc the process collects its garbage when told to.
if (globalThis.gc !== undefined) process.on('SIGUSR2', () => globalThis.gc?.())

if (plain) {
  const server = plainServer(Date.now).listen(port, host, () => process.stdout.write(`plain server on ${host}:${port}\n`))
  server.on('error', cannotListen)
} else {
  // What goes wrong before it listens is said once, below.
  let listens = false
  const print =
    (level: string) =>
    (fields: object, message: string): void => {
      if (listens) process.stderr.write(`${level} ${message} ${JSON.stringify(fields, (_k, v: unknown) => (v instanceof Error ? v.message : v))}\n`)
    }
  const quiet = (): void => {}
  const system = ActorSystem.create('redis', { logger: { debug: quiet, info: print('info'), warn: print('warn'), error: print('error') } })
  system.spawn(osSignals({ shutdown: system }), { name: 'os-signals' })
  const server = system.spawn(redis({ port, host, clock: Date.now }), { name: 'redis', supervision: 'escalate' })
  const address = await server.ask({ type: 'address' }).catch(cannotListen)
  if (address.port === undefined) cannotListen((await system.terminated).cause)
  listens = true
  process.stdout.write(`redis on ${address.host}:${address.port}, an actor per connection; try: redis-cli -p ${address.port}\n`)
}

// Starts the server: node dist/main.js --port 6380 [--host 127.0.0.1] [--plain]

import process from 'node:process'
import { parseArgs } from 'node:util'
import { osSignals } from '@troupe/node'
import { ActorSystem } from 'troupe'
import { plainServer } from './plain.ts'
import { redis } from './server.ts'

const { values } = parseArgs({
  options: { port: { type: 'string', default: '6380' }, host: { type: 'string', default: '127.0.0.1' }, plain: { type: 'boolean', default: false } },
})
const port = Number(values.port)
// For measurements: with --expose-gc the process collects its garbage when told to.
if (globalThis.gc !== undefined) process.on('SIGUSR2', () => globalThis.gc?.())
const { host } = values

if (values.plain) {
  plainServer(Date.now).listen(port, host, () => process.stdout.write(`plain server on ${host}:${port}\n`))
} else {
  const print =
    (level: string) =>
    (fields: object, message: string): void =>
      void process.stderr.write(`${level} ${message} ${JSON.stringify(fields, (_k, v: unknown) => (v instanceof Error ? v.message : v))}\n`)
  const quiet = (): void => {}
  const system = ActorSystem.create('redis', { logger: { debug: quiet, info: print('info'), warn: print('warn'), error: print('error') } })
  system.spawn(osSignals({ shutdown: system }), { name: 'os-signals' })
  const server = system.spawn(redis({ port, host, clock: Date.now }), { name: 'redis', supervision: 'escalate' })
  const address = await server.ask({ type: 'address' })
  process.stdout.write(`redis on ${address.host}:${address.port}, an actor per connection; try: redis-cli -p ${address.port}\n`)
}

// Starts the chat: node dist/main.js [--port 8080] [--sleep-after 30000]

import process from 'node:process'
import { parseArgs } from 'node:util'
import { osSignals } from '@troupe/node'
import { ActorSystem } from 'troupe'
import { chat } from './web.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8080' },
    host: { type: 'string', default: '127.0.0.1' },
    'sleep-after': { type: 'string', default: '30000' },
  },
})
const print =
  (level: string) =>
  (fields: object, message: string): void =>
    void process.stderr.write(`${level} ${message} ${JSON.stringify(fields, (_k, v: unknown) => (v instanceof Error ? v.message : v))}\n`)
const quiet = (): void => {}
const system = ActorSystem.create('chat', { logger: { debug: quiet, info: print('info'), warn: print('warn'), error: print('error') } })
system.spawn(osSignals({ shutdown: system }), { name: 'os-signals' })
const server = system.spawn(chat({ port: Number(values.port), host: values.host, sleepAfter: Number(values['sleep-after']), clock: Date.now }), {
  name: 'chat',
  supervision: 'escalate',
})
const { host, port } = await server.ask({ type: 'address' })
process.stdout.write(`chat on http://${host}:${port} — open it in two tabs\n`)

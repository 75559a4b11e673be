// What the server says about itself: INFO, CLIENT LIST, CONFIG GET.

import process from 'node:process'
import type { ActorContext } from '@troupe/core'
import { glob } from './commands/command.ts'
import type { Backstage, ConnectionMessage } from './backstage.ts'
import type { Replies } from './replies.ts'

const settings: Readonly<Record<string, string>> = {
  appendonly: 'no',
  databases: '16',
  maxmemory: '0',
  'proto-max-bulk-len': String(64 * 1024 * 1024),
  save: '',
  timeout: '0',
}

export function configGet(patterns: readonly string[], out: Replies): void {
  const matchers = patterns.map((p) => glob(p.toLowerCase()))
  const found = Object.entries(settings).filter(([name]) => matchers.some((matches) => matches(name)))
  out.array(found.length * 2)
  for (const [name, value] of found) {
    out.bulk(name)
    out.bulk(value)
  }
}

export async function serverInfo(ctx: ActorContext<ConnectionMessage>, backstage: Backstage, wanted: readonly string[]): Promise<string> {
  const [{ clients, accepted }, ...sizes] = await Promise.all([
    ctx.ask(backstage.clients, { type: 'report' }),
    ...backstage.keyspaces.map((keyspace) => ctx.ask(keyspace, { type: 'size' })),
  ])
  const { heapUsed, rss } = process.memoryUsage()
  const sections: Readonly<Record<string, readonly string[]>> = {
    Server: [
      'redis_version:7.0.0',
      'redis_mode:standalone',
      'server_name:troupe',
      `process_id:${process.pid}`,
      `uptime_in_seconds:${Math.floor(process.uptime())}`,
    ],
    Clients: [`connected_clients:${clients.length}`],
    Memory: [`used_memory:${heapUsed}`, `used_memory_rss:${rss}`],
    Stats: [`total_connections_received:${accepted}`],
    Keyspace: sizes.flatMap(({ keys, expires }, i) => (keys === 0 ? [] : [`db${i}:keys=${keys},expires=${expires},avg_ttl=0`])),
  }
  const asked = wanted.map((w) => w.toLowerCase())
  const all = asked.length === 0 || asked.some((w) => w === 'all' || w === 'default' || w === 'everything')
  return Object.entries(sections)
    .filter(([name]) => all || asked.includes(name.toLowerCase()))
    .map(([name, lines]) => `# ${name}\r\n${lines.map((l) => `${l}\r\n`).join('')}`)
    .join('\r\n')
}

export async function clientReport(ctx: ActorContext<ConnectionMessage>, backstage: Backstage): Promise<string> {
  const { clients } = await ctx.ask(backstage.clients, { type: 'report' })
  return clients.map(({ id, address, name }) => `id=${id} addr=${address} name=${name}\n`).join('')
}

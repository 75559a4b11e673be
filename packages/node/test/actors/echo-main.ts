// Run by tests in a process of its own, on Node, a newer Node or Deno: a server that echoes, in the form that is asked for. It prints
// its port, ends when its input does, and says then what it heard and whether its ledger added up.

import { readFileSync } from 'node:fs'
import { tcp, tls } from '@troupe/node'
import type { Connection, ConnectionEvent, ListenerCommand, ListenerEvent, SocketEvent } from '@troupe/node'
import { ActorSystem, receive, same } from '@troupe/core'
import type { ActorRef, Behavior } from '@troupe/core'

const system = ActorSystem.create('echo', { askTimeout: 30_000 })
let errors = 0

const handler = (connection: Connection): Behavior<SocketEvent> =>
  receive((_ctx, m) => {
    if (m.type === 'data') connection.write(m.chunk)
    if (m.type === 'error') errors++
    return same
  })

/** Answers all at once, and late: after the end of what it was sent. */
const late = (connection: Connection): Behavior<SocketEvent> => {
  const chunks: Buffer[] = []
  return receive(async (_ctx, m) => {
    if (m.type === 'data') chunks.push(m.chunk)
    if (m.type === 'error') errors++
    await new Promise((resolve) => setTimeout(resolve, 1))
    if (m.type === 'half-closed') for (const chunk of chunks) connection.write(chunk)
    return same
  })
}

const owner = (): ActorRef<ListenerEvent | ConnectionEvent> =>
  system.spawn(
    receive<ListenerEvent | ConnectionEvent>((_ctx, m) => {
      if (m.type === 'data') m.connection.tell({ type: 'write', data: m.chunk })
      if (m.type === 'error') errors++
      return same
    }),
  )

const pem = (name: string): Buffer => readFileSync(new URL(`../test/fixtures/${name}.pem`, import.meta.url))

const forms: Readonly<Record<string, () => Behavior<ListenerCommand>>> = {
  handler: () => tcp.listen({ port: 0, handler }),
  late: () => tcp.listen({ port: 0, handler: late }),
  owner: () => tcp.listen({ port: 0, owner: owner() }),
  tls: () => tls.listen({ port: 0, tls: { key: pem('key'), cert: pem('cert') }, handler }),
}

const listener = system.spawn(forms[process.argv[2] ?? 'handler']!())
const { port } = await listener.ask({ type: 'address' })
console.log(port)
process.stdin.resume().on('end', () => void end())

async function end(): Promise<void> {
  await system.shutdown()
  const { sent, ...rest } = await system.ledger()
  const unaccounted = sent - Object.values(rest).reduce((sum, n) => sum + n, 0)
  console.log(JSON.stringify({ errors, unaccounted }))
  process.exit(0)
}

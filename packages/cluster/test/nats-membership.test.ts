// Membership and channels on a real NATS server: ends are recorded when a lease runs out there, and an outage of the server ends nobody.

import { HostRuntime } from '@troupe/core'
import { expect, onTestFinished, test } from 'vitest'
import { findNats, type NatsServer, startNats } from '../../../tools/engines/nats.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'
import { Channels } from '../src/channel/channels.ts'
import { nats } from '../src/engines/nats/nats.ts'
import { Membership } from '../src/membership/membership.ts'
import type { Connection } from '../src/ports/engine.ts'
import { sessionText } from '../src/values/session.ts'
import { ownVersions } from '../src/values/versions.ts'

const found = engineOrSkip('nats', findNats, 'npm run engines -- --only nats fetches one.')
const timing = new HostRuntime()
const lease = 2_000

interface Node {
  readonly connection: Connection
  readonly membership: Membership
  readonly channels: Channels
  readonly events: string[]
  readonly got: number[]
}

/** A server that ends with the test, however that ends. */
async function started(options: { readonly config?: string; readonly tls?: boolean }): Promise<NatsServer> {
  const server = await startNats(found!, options)
  onTestFinished(() => server.end())
  return server
}

async function until(what: string, condition: () => boolean): Promise<void> {
  const since = timing.now()
  while (!condition()) {
    if (timing.now() - since > 50_000) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

async function join(server: NatsServer, node: string): Promise<Node> {
  const connection = await nats({ servers: server.url }).connect({ cluster: 'shop', node, timing, onTrouble: () => {} })
  const events: string[] = []
  const got: number[] = []
  const membership = await Membership.join({
    cluster: 'shop',
    node,
    lease,
    registry: connection.registry,
    timing,
    wall: () => Date.now(),
    roles: [],
    wire: ownVersions,
    maxMessageBytes: 4_194_304,
    onEvent: ({ type, member }) => events.push(`${sessionText(member.session)} ${type}`),
    onEnded: () => events.push('ended'),
    onTrouble: () => {},
  })
  const channels = new Channels({
    timing,
    wire: connection.wire,
    versions: ownVersions,
    versionsOf: (session) => membership.member(session.node)?.wire,
    onRecord: (_from, record) => {
      if (record.kind === 'marker') got.push(record.cut)
    },
    onClosed: (_peer, why) => events.push(`closed: ${why}`),
  })
  await channels.open(membership.self.session)
  return { connection, membership, channels, events, got }
}

test.skipIf(found === undefined)(
  'an end is told after the lease, an outage ends nobody, and what was pushed arrives once and in order through it',
  async () => {
    const server = await started({})
    const [a, b, c] = [await join(server, 'a'), await join(server, 'b'), await join(server, 'c')]
    const name = (node: Node): string => sessionText(node.membership.self.session)
    await until('all are known', () => [a, b, c].every((node) => node.membership.members.length === 3))

    // The server is away for longer than a lease while a and b talk.
    let pushed = 0
    const push = (): void => {
      if (a.channels.push(b.membership.self.session, { kind: 'marker', cut: pushed + 1 }) === 'taken') pushed++
    }
    const talking = setInterval(push, 5)
    await until('they talk', () => b.got.length > 20)
    await server.kill()
    const since = timing.now()
    await until('a lease has passed', () => timing.now() - since > 1.3 * lease)
    expect([a, b, c].map((node) => node.membership.held)).toEqual([false, false, false])
    await server.start()
    await until('all act again', () => [a, b, c].every((node) => node.membership.held))
    const before = pushed
    await until('they talk again', () => b.got.length > before)
    clearInterval(talking)
    await until('all has arrived', () => b.got.length === pushed)
    expect(b.got).toEqual(Array.from({ length: pushed }, (_, i) => i + 1))
    expect([...a.events, ...b.events, ...c.events].filter((event) => event.includes('ended') || event.includes('closed'))).toEqual([])

    // c dies: its connection ends without a word.
    await until('a and b have been steady for a lease', () => [a, b].every((node) => node.membership.steadyFor > lease))
    await c.connection.close()
    await until('both have heard of it', () => [a, b].every((node) => node.events.includes(`${name(c)} ended`)))
    await a.membership.leave()
    await until('b has heard that a left', () => b.events.includes(`${name(a)} ended`))
    await b.membership.leave()
    await c.membership.leave().catch(() => {})
    for (const node of [a, b, c]) {
      await node.channels.close()
      await node.connection.close()
    }
  },
)

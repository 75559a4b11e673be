// What a member may send that no node of ours sends: with a session that is known and frames that can be read. It ends that connection, and neither
// the process nor anything that others do.

import { ActorSystem, receive, same } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { expect, test } from 'vitest'
import { connectTo } from '../../src/engines/memory/memory.ts'
import { ClusterNode } from '../../src/node/cluster-node.ts'
import { onStage, type Stage } from './stage.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, isLevelEnabled: () => false }

async function member(stage: Stage, node: string): Promise<ClusterNode> {
  const { hub, lease, sim } = stage.world
  const system = ActorSystem.create(node, { logger: silent, keepAlive: false, runtime: sim.place(node).runtime })
  system.spawn(
    receive(() => same),
    { name: 'actor' },
  )
  const engine = { name: 'simulated', connect: (joining: Parameters<typeof connectTo>[1]) => Promise.resolve(connectTo(hub, joining)) }
  return ClusterNode.start(coreOf(system), { name: 'sim', node, engine, lease })
}

const flow = { sent: 1, received: 1, brokenSent: 0, brokenReceived: 0 }
const counts = { sent: 0, handled: 0, failed: 0, unhandled: 0, dropped: 0, deadLettered: 0, unknown: 0 }
const ledger = { ...counts, queued: 0, stashed: 0, inProgress: 0 }

const records: readonly unknown[] = [
  { op: 'account', account: {} },
  { op: 'account', account: { beat: 1, ...counts, flows: { x: null } } },
  { op: 'account', account: { beat: 1, ...counts, sent: 'many', flows: {} } },
  { op: 'account', account: { beat: 1, ...counts, flows: { x: { ...flow, sent: Number.NaN } } } },
  { op: 'cut', id: 1, by: 'nobody' },
  { op: 'cut.part', id: 1, part: {} },
  { op: 'cut.part', id: 1, part: { session: 'x', ledger, flows: [], ended: {} } },
  { op: 'cut.part', id: 1, part: { session: 'x', ledger, flows: {}, ended: { x: {} } } },
  { op: 'hosted.stop', uid: 1, reason: 'normal', cause: undefined, within: 1 },
  { op: 'task', id: 1, definition: undefined, args: [] },
  { op: 'log', level: 'error', fields: {}, message: 'x' },
  { op: 'lost', epoch: 1, cause: undefined },
  { op: 'up', epoch: 1 },
  { op: 'nonsense' },
]

test('records that are none of a node end the connection they came by; the next one works, and what was counted still adds up', () =>
  onStage(async (stage) => {
    const [a, b] = [await member(stage, 'a'), await member(stage, 'b')]
    await stage.until('they have met', () => a.others().length === 1 && b.others().length === 1)
    let broken = 0
    // Both ends tell their directory again at once: that may meet the reset of the other, and end a connection that was only begun.
    a.core.events.listen((event) => {
      if ((event as unknown as { readonly cause: Error }).cause.message.includes('cannot be read')) broken++
    }, 'connection.lost')
    for (const [i, record] of records.entries()) {
      const before = broken
      b.border.exchange.reach(b.border.met(a.self.session), record as never)
      await stage.until(`record ${i} ended the connection: ${JSON.stringify(record)}`, () => broken > before, 5_000)
      // A reset that is overtaken by the next connection may cost that one, too.
      await stage.wait(100)
      expect(await b.find('a', '/user/actor')).toBeDefined()
    }
    expect(await a.find('b', '/user/actor')).toBeDefined()
    const l = await a.ledgers.count()
    expect(l.sent).toBe(l.handled + l.failed + l.unhandled + l.dropped + l.deadLettered + l.queued + l.stashed + l.inProgress + l.unknown)
  }))

test('mail that is none is a dead letter or nothing, whatever is in it', () =>
  onStage(async (stage) => {
    const [a, b] = [await member(stage, 'a'), await member(stage, 'b')]
    await stage.until('they have met', () => a.others().length === 1 && b.others().length === 1)
    const mails: readonly unknown[] = [
      ['letter', 'cart', -1, 1, 'x', 1, 'm'],
      ['letter', 'cart', 0, 1, 'x', 1, 'm'],
      ['barrier', 'cart', 0, 1, {}, 1],
      ['ready', 'cart', 'x', 'y'],
      ['leaving', 7, 8, 'cart', 'x'],
      ['left', b.self.session.node, 1, null, null],
      ['listing', 'b#1', '', []],
      ['listing', 7, 'k', [1, null, 'x']],
      ['listing', 'b#1', 'k', [1, null, 'x', { tell: 1 }]],
      ['topic', 7, undefined],
      ['pong', {}],
      ['unknown'],
      [],
      7,
    ]
    for (const mail of mails) b.post.send(a.self.session, mail as never)
    await stage.wait(1_000)
    expect(a.isMember(b.self.session)).toBe(true)
    expect(await b.find('a', '/user/actor')).toBeDefined()
    const l = await a.ledgers.count()
    expect(l.sent).toBe(l.handled + l.failed + l.unhandled + l.dropped + l.deadLettered + l.queued + l.stashed + l.inProgress + l.unknown)
  }))

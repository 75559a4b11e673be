// The ledger of a cluster whose nodes have threads: what is on them is counted too, a moment later than the rest.

import { ActorSystem, type LedgerReport, receive, same } from '@troupe/core'
import { coreOf, type OtherPlaces } from '@troupe/core/internal'
import { expect, test } from 'vitest'
import { connectTo } from '../../src/engines/memory/memory.ts'
import { Cluster, type Engine } from '../../src/index.ts'
import { addUp } from '../../src/ledger/adding-up.ts'
import type { SimPlace } from '@troupe/testkit'
import { onStage, type Stage } from './stage.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, isLevelEnabled: () => false }

function ends(l: LedgerReport): number {
  return l.handled + l.failed + l.unhandled + l.dropped + l.deadLettered + l.unknown + l.queued + l.stashed + l.inProgress
}

/** A node b whose threads answer as they are told to. */
async function withThreads(stage: Stage, ledger: (place: SimPlace) => OtherPlaces['ledger']): Promise<{ system: ActorSystem; cluster: Cluster }> {
  const { world } = stage
  const place = world.sim.place('b')
  const system = ActorSystem.create('b', { logger: silent, keepAlive: false, runtime: place.runtime })
  coreOf(system).otherPlaces = {
    died: () => {},
    breathe: () => {},
    ledger: ledger(place),
    inspect: (own) => Promise.resolve(own),
    whenQuiet: (then) => then(),
    close: () => Promise.resolve(),
  }
  const engine: Engine = { name: 'simulated', connect: (joining) => Promise.resolve(connectTo(world.hub, joining)) }
  return { system, cluster: await Cluster.join(system, { name: 'sim', node: 'b', engine, lease: world.lease }) }
}

test('threads that cannot be counted keep no node from leaving, and nothing escapes', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    const { cluster } = await withThreads(stage, () => () => Promise.reject(new Error('no answer')))
    await stage.until('they know each other', () => a!.cluster!.members.length === 2)
    await stage.wait(3_000)
    await cluster.leave()
    await stage.until('b is gone', () => a!.cluster!.members.length === 1)
  }))

test('K3: what is on the threads of a node is in the ledger of the cluster, and in what is known of it when it is gone', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    /** Threads that have had seven messages and handled five, which takes them a moment to say. */
    const { system, cluster } = await withThreads(
      stage,
      (place) => (own) =>
        new Promise((resolve) =>
          place.after(40, () => {
            const counted = own()
            place.after(40, () => resolve({ ...counted, sent: counted.sent + 7, handled: counted.handled + 5, queued: counted.queued + 2 }))
          }),
        ),
    )
    system.spawn(
      receive<number>(() => same),
      { name: 'member' },
    )
    await stage.until('they know each other', () => a!.cluster!.members.length === 2)
    const member = await a!.cluster!.find('b', '/user/member')
    const before = await a!.cluster!.ledger()
    expect([before.handled >= 5, before.queued]).toEqual([true, 2])
    expect(before.sent).toBe(ends(before))
    // While it is being counted a goes on sending: what comes between the mark and the count is counted, and never less than nothing.
    for (let n = 0; n < 20; n++) {
      const counting = a!.cluster!.ledger()
      for (let i = 0; i < 5; i++) {
        member!.tell(i as never)
        await stage.wait(10)
      }
      const ledger = await counting
      expect(ledger.sent).toBe(ends(ledger))
      expect(Object.values(ledger).every((count) => count >= 0)).toBe(true)
    }
    await stage.wait(2_000)
    await cluster.leave()
    await stage.until('b is gone', () => a!.cluster!.members.length === 1)
    const after = await a!.cluster!.ledger()
    expect(after.sent).toBe(ends(after))
    // All that was told, and what its threads had handled; what they still had nobody knows.
    expect(after.handled).toBeGreaterThanOrEqual(105)
    expect(after.unknown).toBe(2)
  }))

test('what came before its sender was written down as having sent it counts as sent', () => {
  const none = { sent: 0, handled: 0, failed: 0, unhandled: 0, dropped: 0, deadLettered: 0, queued: 0, stashed: 0, inProgress: 0, unknown: 0 }
  const flow = { sent: 0, received: 0, brokenSent: 0, brokenReceived: 0 }
  const sum = addUp([
    { session: 'a#1', ledger: { ...none, sent: 3 }, flows: { 'b#2': { ...flow, sent: 3 } }, ended: {} },
    { session: 'b#2', ledger: { ...none, handled: 5 }, flows: { 'a#1': { ...flow, received: 5 } }, ended: {} },
  ])
  expect(sum).toEqual({ ...none, sent: 5, handled: 5 })
})

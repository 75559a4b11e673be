// K6 for sharded refs: what waits for actors that nobody has, or that are not there yet, is bounded, and whoever sends more hears of it.

import { type ActorRef, receive, same } from '@troupe/core'
import { eventSourced, type Kind, memory as memoryJournal, persistence } from '@troupe/persistence'
import { expect, test } from 'vitest'
import type { Sharded } from '../../src/index.ts'
import { slowFence } from './slow-fence.ts'
import { onStage } from './stage.ts'

type Load = { readonly type: 'load'; readonly bytes: Uint8Array } | { readonly type: 'get'; readonly replyTo: ActorRef<number> }

const load = (): Load => ({ type: 'load', bytes: new Uint8Array(1_000_000) })
const silent = receive<Load>(() => same)

test('while no node has a kind 64 MiB wait for it; more are dead letters, asks are rejected and offers refused', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    // Nobody has the role.
    const kind = a!.cluster!.sharded<Load>('load', () => silent, { shards: 4, role: 'carrier' })
    await kind.ready
    for (let n = 0; n < 67; n++) await kind.ref(`id-${n % 8}`).offer(load())
    await expect(kind.ref('1').offer(load())).rejects.toMatchObject({ code: 'offer-refused' })
    expect(a!.system.deadLetters.list()).toEqual([])
    for (let n = 0; n < 5; n++) kind.ref(`id-${n}`).tell(load())
    expect(a!.system.deadLetters.list().map(({ reason }) => reason)).toEqual(Array.from({ length: 5 }, () => 'no-owner'))
    // What is small still finds room.
    kind.ref('small').tell({ type: 'load', bytes: new Uint8Array(1) })
    expect(a!.system.deadLetters.list()).toHaveLength(5)
    for (const size of [1_000, 1]) for (let n = 0; n < 100; n++) kind.ref('small').tell({ type: 'load', bytes: new Uint8Array(size) })
    await expect(kind.ref('1').ask({ type: 'get' }, { timeout: 1_000 })).rejects.toMatchObject({ code: 'ask-refused' })
    const l = await a!.system.ledger()
    expect(l.sent).toBe(l.handled + l.failed + l.unhandled + l.dropped + l.deadLettered + l.queued + l.stashed + l.inProgress + l.unknown)
  }))

test('a shard that does not start because its journal is slow keeps 64 MiB; more are dead letters on its node', () =>
  onStage(async (stage) => {
    const { world } = stage
    const journal = memoryJournal()
    let raised = (): void => {}
    const late = slowFence(journal, new Promise((resolve) => (raised = resolve)))
    world.nodeOptions = (name) => ({
      roles: name === 'b' ? ['carrier'] : [],
      system: { extensions: [persistence({ journal: name === 'b' ? late : journal, scope: name })] },
    })
    let handled = 0
    const kept: Kind<Load> = eventSourced('load', {
      initial: () => 0,
      events: { loaded: (n: number) => n + 1 },
      commands: { load: () => void handled++, get: (ctx, m) => ctx.tell(m.replyTo, ctx.state) },
    })
    const [a, b] = await stage.nodes('a', 'b')
    const options = { shards: 2, role: 'carrier', persistent: true } as const
    const kinds = [a!, b!].map((node) => node.cluster!.sharded<Load>('load', kept, options))
    const [kind] = kinds as [Sharded<Load>]
    await stage.until('b has both', () => kind.ownerOf('x') === 'b' && kind.ownerOf('y') === 'b')
    for (let n = 0; n < 80; n++) {
      // Each to an actor of its own: of those for one actor few are under way.
      kind.ref(`id-${n}`).tell(load())
      // As fast as the way takes it, so that nothing waits on this side.
      if (n % 8 === 7) await stage.wait(500)
    }
    await stage.wait(3_000)
    const refused = b!.system.deadLetters.list().map(({ reason }) => reason)
    expect(refused).toEqual(Array.from({ length: 13 }, () => 'no-owner'))
    expect(handled).toBe(0)
    raised()
    await stage.until('the rest was handled', () => handled === 67)
    expect(a!.system.deadLetters.list()).toEqual([])
    const l = await a!.cluster!.ledger()
    expect(l.sent).toBe(l.handled + l.failed + l.unhandled + l.dropped + l.deadLettered + l.queued + l.stashed + l.inProgress + l.unknown)
  }))

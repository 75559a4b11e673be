// How long an id is silent while nodes leave, come back and are killed, in virtual time: by what it answers to all nodes over a calm wire. Over a rough one an
// answer may be seconds late by itself, wherever the actor is: there it is silent while its shard runs on no node.

import { type ActorRef, type Behavior, receive, same } from '@troupe/core'
import { expect, test } from 'vitest'
import type { Sharded } from '../../src/index.ts'
import { shardOf } from '../../src/internal.ts'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage } from './stage.ts'

type Ask = { readonly type: 'ask'; readonly replyTo: ActorRef<number> }

const shards = 8
const ids = Array.from({ length: 8 }, (_, i) => `id-${i}`)
/** One and short here; more with TROUPE_RUNS. */
const seeds = Number(process.env['TROUPE_RUNS'] ?? 1)
const faults = process.env['TROUPE_RUNS'] === undefined ? 3 : 12

for (const wire of ['calm', 'rough'] as const)
  test(`K9, K12: over a ${wire} wire a leave silences an id for at most two seconds, and what follows for the lease and as long`, () =>
    onStage(
      async (stage) => {
        const { world } = stage
        const { sim } = world
        const last = new Map<string, number>()
        const gaps = new Map<string, number>()
        const kinds = new Map<SimulatedNode, Sharded<Ask>>()
        const heard = (id: string): void => {
          gaps.set(id, Math.max(gaps.get(id) ?? 0, sim.now - (last.get(id) ?? sim.now)))
          last.set(id, sim.now)
        }
        // The end of a node is recorded in time by those whose own renewals are answered within a sixth of the lease.
        world.hub.registryFaults = { ...world.hub.registryFaults, late: 0 }
        if (wire === 'rough')
          sim.always(() => {
            for (const [node, { active }] of kinds)
              if (node.isUp || node.state === 'leaving') for (const id of ids) if (active.includes(shardOf(id, shards))) heard(id)
          })
        const behavior = (): Behavior<Ask> =>
          receive<Ask>((_ctx, { replyTo }) => {
            replyTo.tell(1)
            return same
          })
        let over = false
        world.onJoin = (node) => {
          const kind = node.cluster!.sharded<Ask>('cart', behavior, { shards, stopTimeout: 500 })
          kinds.set(node, kind)
          const ask = (id: string): void => {
            if (!node.isUp || over) return
            const next = (): void => void node.place.after(50, () => ask(id))
            kind
              .ref(id)
              .ask({ type: 'ask' }, { timeout: 30_000 })
              .then(() => {
                if (wire === 'calm') heard(id)
                next()
              }, next)
          }
          for (const id of ids) ask(id)
        }
        const names = ['a', 'b', 'c']
        for (const name of names) world.start(name)
        await stage.until('all answer', () => ids.every((id) => last.has(id)))
        await stage.wait(3_000)
        const wrong: string[] = []
        for (let n = 0; n < faults; n++) {
          gaps.clear()
          const kill = sim.choose(3) === 0
          const node = world.up[sim.choose(world.up.length)]!
          const before = world.nodes.length
          if (kill) node.kill()
          else node.leave()
          const start = (): void => {
            const again = world.start(node.node)
            // Its name may not be free yet.
            sim.after(6_000, () => void (again.state === 'refused' && start()))
          }
          sim.after(sim.oneOf([100, 600, 2_000, 5_000]), start)
          await stage.until('it is back', () => world.nodes.length > before && world.up.length === 3, 60_000)
          // Often while shards still move.
          await stage.wait(sim.oneOf([200, 1_000, 4_000]))
          const now = sim.now
          const silent = ids.map((id) => Math.max(gaps.get(id) ?? 0, now - last.get(id)!))
          const most = kill || n > 0 ? world.lease + 2_000 : 2_000
          const longest = Math.max(...silent)
          if (longest > most) wrong.push(`${kill ? 'kill' : 'leave'} ${n} of ${node.name}: ${longest} ms`)
        }
        over = true
        expect(wrong).toEqual([])
      },
      { wire, seeds: Array.from({ length: seeds }, (_, i) => i + 1), duration: 300_000, maxSteps: 4_000_000 },
    ))

// A hand-over that is disturbed at each of its stages in turn: whenever a node asks the registry something, it is paused, or the engine is away, for
// less than a lease and for more. Whatever happens one node begins handlers of an id at a time, in order, and in the end each shard runs and answers.

import { type Behavior, receive, same } from '@troupe/core'
import { eventSourced, type Kind, memory as memoryJournal, persistence } from '@troupe/persistence'
import { expect, test } from 'vitest'
import type { Sharded } from '../../src/index.ts'
import { ownKey, readOwnership } from '../../src/sharding/ownership.ts'
import { shardOf } from '../../src/sharding/desired.ts'
import type { SimulatedNode } from '../../src/testing.ts'
import { sessionText } from '../../src/values/session.ts'
import { onStage } from './stage.ts'

type Note = { readonly type: 'note'; readonly n: number }

const shards = 4
const ids = ['ann', 'bob', 'cat', 'dan', 'eve', 'fay']

interface Disturbance {
  /** Who asks the registry, when. */
  readonly node: 'a' | 'c'
  readonly question: number
  readonly what: 'pause' | 'outage'
  readonly ms: number
  /** What goes on meanwhile: c joins and is handed its share, or a leaves. */
  readonly during: 'join' | 'leave'
  readonly persistent: boolean
}

function disturbed({ node, question, what, ms, during, persistent }: Disturbance): Promise<void> {
  return onStage(async (stage) => {
    const { world } = stage
    const { hub, sim } = world
    const journal = memoryJournal()
    if (persistent) world.nodeOptions = (name) => ({ system: { extensions: [persistence({ journal, scope: `${name}-${world.nodes.length}` })] } })
    const last = new Map<string, number>()
    const wrong: string[] = []
    const begins = (on: SimulatedNode, id: string, { n }: Note): void => {
      const entry = hub.store.read(ownKey('cart', shardOf(id, shards)))
      const owner = entry === undefined ? undefined : readOwnership(entry.value)
      if (owner === undefined || sessionText(owner.session) !== on.name) wrong.push(`${on.name} handles ${n} of ${id}, which is ${entry?.value}`)
      if (n <= (last.get(id) ?? 0)) wrong.push(`${id} got ${n} after ${last.get(id)}`)
      last.set(id, n)
    }
    const kindOn = (on: SimulatedNode): Sharded<Note> => {
      const plain = (id: string): Behavior<Note> =>
        receive<Note>((_ctx, message) => {
          begins(on, id, message)
          return same
        })
      const kept: Kind<Note> = eventSourced('cart', {
        initial: () => 0,
        events: { noted: (n: number) => n + 1 },
        commands: {
          note: (ctx, m) => {
            begins(on, ctx.key, m)
            ctx.persist({ type: 'noted' })
          },
        },
      })
      return on.cluster!.sharded<Note>('cart', persistent ? kept : plain, {
        shards,
        persistent,
        stopTimeout: 500,
      })
    }
    const [a, b] = await stage.nodes('a', 'b')
    const kinds = [kindOn(a!), kindOn(b!)]
    await stage.until('all run', () => kinds.reduce((sum, kind) => sum + kind.active.length, 0) === shards)
    const c = during === 'join' ? world.start('c') : undefined
    const victim = (): SimulatedNode => (node === 'a' ? a! : c!)
    if (c === undefined) a!.leave()
    else {
      await stage.until('c has joined', () => c.isUp)
      kinds.push(kindOn(c))
    }
    let asked = 0
    const toStore = hub.toStore.bind(hub)
    hub.toStore = (by, arrive) => {
      if (by === node && ++asked === question) {
        if (what === 'pause') victim().pause(ms)
        else {
          hub.outage(true)
          sim.after(ms, () => hub.outage(false))
        }
      }
      toStore(by, arrive)
    }
    let n = 0
    for (let at = 0; at < 30; at++) {
      n++
      for (const id of ids) kinds[1]!.ref(id).tell({ type: 'note', n })
      await stage.wait(20)
    }
    await stage.wait(ms + 3 * world.lease)
    n++
    for (const id of ids) kinds[1]!.ref(id).tell({ type: 'note', n })
    await stage.until('the last was handled', () => ids.every((id) => last.get(id) === n), 30_000)
    const alive = world.nodes.flatMap((one, i) => (one.isUp ? [kinds[i]!] : []))
    await stage.until('each shard runs once', () => alive.reduce((sum, kind) => sum + kind.active.length, 0) === shards, 30_000)
    if (during === 'leave') await stage.until('a has left', () => a!.state === 'left' || a!.state === 'ended')
    expect(wrong).toEqual([])
  })
}

/** TROUPE_RUNS=40 tries each of the first 40 questions. */
const runs = Number(process.env['TROUPE_RUNS'] ?? 0)
const questions = runs > 0 ? Array.from({ length: runs }, (_, i) => i + 1) : [3, 10]

for (const what of ['pause', 'outage'] as const)
  for (const during of ['join', 'leave'] as const)
    test(`a ${what} at any stage of a hand-over, when a node ${during}s, for less than a lease and for more`, async () => {
      for (const question of questions)
        for (const node of during === 'join' ? (['a', 'c'] as const) : (['a'] as const)) {
          const ms = question % 2 === 0 ? 1_500 : 7_000
          const persistent = question % 3 === 0
          for (const each of runs > 0 ? [1_500, 7_000] : [ms])
            for (const kept of runs > 0 ? [false, true] : [persistent])
              await disturbed({ node, question, what, ms: each, during, persistent: kept }).catch((cause: unknown) => {
                throw new Error(`question ${question} of ${node}, ${each} ms${kept ? ', persistent' : ''}`, { cause })
              })
        }
    })

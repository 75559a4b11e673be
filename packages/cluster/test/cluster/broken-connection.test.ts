// A connection that breaks between two nodes that live: what was under way may be lost, and what comes after goes by the next one.

import { type ActorRef, receive, same } from '@troupe/core'
import { simulate } from '@troupe/testkit'
import { expect, test } from 'vitest'
import type { SimulatedNode } from '../../src/testing.ts'
import { library } from '../sim-actors/index.ts'
import { onStage, type Stage } from './stage.ts'

const runs = Number(process.env['TROUPE_RUNS'] ?? 3)

type Note = { readonly type: 'note'; readonly n: number } | { readonly type: 'question'; readonly n: number; readonly replyTo: ActorRef<string> }

function sink(node: SimulatedNode, got: number[]): void {
  node.system.spawn(
    receive<Note>((_ctx, message) => {
      got.push(message.n)
      if (message.type === 'question') message.replyTo.tell('yes')
      return same
    }),
    { name: 'sink' },
  )
}

/** Ends the connection of two nodes, as bytes that are no frame do, and waits until both know. */
async function breakBetween(stage: Stage, a: SimulatedNode, b: SimulatedNode): Promise<void> {
  stage.world.expectsBreaks = true
  let broken = 0
  for (const node of [a, b]) node.system.events.listen(() => void broken++, 'connection.lost')
  stage.world.hub.frame(b.cluster!.self.session, a.cluster!.self.session, Uint8Array.of(1, 2, 3))
  await stage.until('both know', () => broken >= 2)
}

test('what is told and asked after a break arrives, also where the end of an actor is waited for over it', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const got: number[] = []
    sink(b!, got)
    const ref = (await a!.cluster!.find('b', '/user/sink')) as ActorRef<Note>
    const ended: unknown[] = []
    const watcher = a!.system.spawn(
      receive<Note>(
        () => same,
        (_ctx, signal) => {
          if (signal.type === 'Terminated') ended.push(signal.ref)
          return same
        },
      ),
    )
    a!.system.watch(ref, watcher)
    ref.tell({ type: 'note', n: 1 })
    await stage.until('it came', () => got.length === 1)
    for (let n = 2; n <= 5; n++) {
      await breakBetween(stage, a!, b!)
      ref.tell({ type: 'note', n })
      expect(await ref.ask({ type: 'question', n: -n }, { timeout: 5_000 })).toBe('yes')
    }
    expect(got).toEqual([1, 2, -2, 3, -3, 4, -4, 5, -5])
    b!.system.stop(b!.system.find('/user/sink')!)
    await stage.until('its end is known', () => ended.length === 1)
  }))

test('frames that are forged in the name of a node separate nobody, under seeds', async () => {
  const { run, options } = library.find(({ name }) => name === 'cluster forged')!
  const report = await simulate(run, { ...options, name: 'cluster forged', seeds: runs, shrinkTrials: 0 })
  expect(report.runs).toBe(runs)
})

// A connection that breaks between two nodes that live: what was under way may be lost, and what comes after goes by the next one.

import { type ActorRef, type Listing, receive, same, serviceKey } from '@troupe/core'
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

const workers = serviceKey<Note>('workers')
const others = serviceKey<Note>('others')

function spawnHearing(node: SimulatedNode, heard: number[]): ActorRef<Note> {
  return node.system.spawn(
    receive<Note>((_ctx, { n }) => {
      heard.push(n)
      return same
    }),
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
    // And the other way: each side has something to say at once.
    sink(a!, [])
    b!.system.watch((await b!.cluster!.find('a', '/user/sink'))!, b!.system.spawn<Note>(receive(() => same)))
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

test('who is registered on the other node, and who no longer is, is known after a break, and so are subscribers of topics', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const { hub } = stage.world
    const found = (): readonly string[] => a!.cluster!.receptionist.find(workers).map(({ path }) => path)
    const spawn = (name: string): ActorRef<Note> =>
      b!.system.spawn<Note>(
        receive(() => same),
        { name },
      )
    const leave = b!.cluster!.receptionist.register(workers, spawn('first'))
    const gone = b!.cluster!.receptionist.register(others, spawn('other'))
    await stage.until('both are known', () => found().length === 1 && a!.cluster!.receptionist.find(others).length === 1)
    const listings: number[] = []
    const subscriber = a!.system.spawn(
      receive<Listing<Note>>((_ctx, { refs }) => {
        listings.push(refs.length)
        return same
      }),
    )
    a!.cluster!.receptionist.subscribe(workers, subscriber)
    // What b tells of this is lost with the connection.
    hub.cut('a', 'b', true)
    b!.cluster!.receptionist.register(workers, spawn('second'))
    gone()
    const heard: number[] = []
    b!.cluster!.topic<Note>('news').subscribe(spawnHearing(b!, heard))
    await stage.wait(20)
    hub.cut('a', 'b', false)
    await breakBetween(stage, a!, b!)
    await stage.until('both workers are known', () => found().length === 2)
    await stage.until('the other one is not', () => a!.cluster!.receptionist.find(others).length === 0)
    a!.cluster!.topic<Note>('news').publish({ type: 'note', n: 7 })
    await stage.until('the subscriber of the topic heard', () => heard.length === 1)
    leave()
    await stage.until('one is left', () => found().length === 1)
    // Nobody who was there all the time was missing for a moment.
    expect(listings).toEqual([1, 2, 1])
  }))

test('a directory is the same on all nodes in the end, whatever connections break, under seeds', async () => {
  const { run, options } = library.find(({ name }) => name === 'cluster directory')!
  const report = await simulate(run, { ...options, name: 'cluster directory', seeds: runs, shrinkTrials: 0 })
  expect(report.runs).toBe(runs)
})

test('frames that are forged in the name of a node separate nobody, under seeds', async () => {
  const { run, options } = library.find(({ name }) => name === 'cluster forged')!
  const report = await simulate(run, { ...options, name: 'cluster forged', seeds: runs, shrinkTrials: 0 })
  expect(report.runs).toBe(runs)
})

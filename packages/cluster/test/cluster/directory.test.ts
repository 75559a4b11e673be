// The receptionist and topics of a whole cluster.

import { type ActorRef, type Listing, receive, same, serviceKey } from '@troupe/core'
import { expect, test } from 'vitest'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage, type Stage } from './stage.ts'

type Work = { readonly type: 'work'; readonly n: number }
const workers = serviceKey<Work>('workers')

function worker(node: SimulatedNode, got: unknown[] = []): ActorRef<Work> {
  return node.system.spawn(
    receive<Work>((_ctx, message) => {
      got.push(message)
      return same
    }),
  )
}

test('who is registered on any node is found on all, until it ends or its node does', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const got: unknown[] = []
    const own = worker(b!, got)
    b!.cluster!.receptionist.register(workers, own)
    const leave = b!.cluster!.receptionist.register(workers, worker(b!))
    a!.cluster!.receptionist.register(workers, worker(a!))
    const listings: number[] = []
    const subscriber = a!.system.spawn(
      receive<Listing<Work>>((_ctx, { refs }) => {
        listings.push(refs.length)
        return same
      }),
    )
    a!.cluster!.receptionist.subscribe(workers, subscriber)
    await stage.until('all are found', () => a!.cluster!.receptionist.find(workers).length === 3)
    expect(b!.cluster!.receptionist.find(workers)).toHaveLength(3)
    for (const ref of a!.cluster!.receptionist.find(workers)) ref.tell({ type: 'work', n: 1 })
    await stage.until('it was told', () => got.length === 1)
    leave()
    await stage.until('one is gone', () => a!.cluster!.receptionist.find(workers).length === 2)
    b!.system.stop(own)
    await stage.until('another is gone', () => a!.cluster!.receptionist.find(workers).length === 1)
    // Who comes later is told of all.
    const c = stage.world.start('c')
    await stage.until('c has joined', () => c.isUp)
    await stage.until('c knows', () => c.cluster!.receptionist.find(workers).length === 1)
    c.cluster!.receptionist.register(workers, worker(c))
    await stage.until('c is known', () => a!.cluster!.receptionist.find(workers).length === 2)
    c.kill()
    await stage.until('c is gone', () => a!.cluster!.receptionist.find(workers).length === 1)
    await stage.wait(100)
    expect(listings.at(-1)).toBe(1)
    expect(listings).toContain(3)
  }))

test('what is published on one node reaches the subscribers of all, once and in order', () =>
  onStage(async (stage) => {
    const nodes = await stage.nodes('a', 'b', 'c')
    const got: unknown[][] = [[], [], []]
    const ends = nodes.map((node, i) => node.cluster!.topic<Work>('news').subscribe(worker(node, got[i])))
    await stage.wait(500)
    for (let n = 0; n < 50; n++) nodes[0]!.cluster!.topic<Work>('news').publish({ type: 'work', n })
    await stage.until('all came', () => got.every((each) => each.length === 50))
    for (const each of got) expect(each.map((m) => (m as Work).n)).toEqual(Array.from({ length: 50 }, (_, n) => n))
    ends[1]!()
    await stage.wait(500)
    nodes[2]!.cluster!.topic<Work>('news').publish({ type: 'work', n: 50 })
    await stage.wait(500)
    expect(got.map((each) => each.length)).toEqual([51, 50, 51])
    expect(await nodes[0]!.cluster!.ledger()).toMatchObject({ unknown: 0, deadLettered: 0, queued: 0 })
    expect(() => nodes[0]!.cluster!.topic('')).toThrow(expect.objectContaining({ code: 'invalid-option' }))
    expect(() => nodes[0]!.cluster!.receptionist.find({} as never)).toThrow(expect.objectContaining({ code: 'invalid-option' }))
  }))

/** How many bytes nodes send from now on. */
function sentBytes({ world: { hub } }: Stage): () => number {
  const frame = hub.frame.bind(hub)
  let bytes = 0
  hub.frame = (from, to, payload) => {
    bytes += payload.length
    return frame(from, to, payload)
  }
  return () => bytes
}

test('thousands that register one by one are found on all nodes, in parts that fit a frame, and cost what they are and not its square', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const bytes = sentBytes(stage)
    const refs = Array.from({ length: 3_000 }, () => worker(b!))
    // Some at once, and some one by one.
    for (const ref of refs.slice(0, 2_000)) b!.cluster!.receptionist.register(workers, ref)
    for (const ref of refs.slice(2_000)) {
      b!.cluster!.receptionist.register(workers, ref)
      await stage.wait(1)
    }
    await stage.until('all are found', () => a!.cluster!.receptionist.find(workers).length === 3_000)
    expect(bytes()).toBeLessThan(3_000_000)
    const c = stage.world.start('c')
    await stage.until('who comes later finds them, too', () => c.isUp && c.cluster!.receptionist.find(workers).length === 3_000)
    for (const ref of refs.slice(1)) b!.system.stop(ref)
    await stage.until('one is left', () => [a!, c].every(({ cluster }) => cluster!.receptionist.find(workers).length === 1))
    expect(a!.cluster!.receptionist.find(workers)[0]!.path).toBe(`//b${refs[0]!.path}`)
  }))

test('thousands of subscribers of a topic cost others nothing, and each gets what is published', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const bytes = sentBytes(stage)
    const got: unknown[] = []
    const refs = Array.from({ length: 2_000 }, () => worker(b!, got))
    const ends = refs.map((ref) => b!.cluster!.topic<Work>('news').subscribe(ref))
    await stage.wait(500)
    a!.cluster!.topic<Work>('news').publish({ type: 'work', n: 1 })
    await stage.until('all got it', () => got.length === 2_000)
    expect(bytes()).toBeLessThan(50_000)
    // Who was first may go: others are there still.
    ends[0]!()
    for (const ref of refs.slice(1, 1_999)) b!.system.stop(ref)
    await stage.wait(500)
    a!.cluster!.topic<Work>('news').publish({ type: 'work', n: 2 })
    await stage.until('the last got it', () => got.length === 2_001)
    ends[1_999]!()
    await stage.wait(500)
    const before = bytes()
    for (let n = 0; n < 1_000; n++) a!.cluster!.topic<Work>('news').publish({ type: 'work', n })
    await stage.wait(500)
    expect(bytes() - before).toBeLessThan(10_000)
  }))

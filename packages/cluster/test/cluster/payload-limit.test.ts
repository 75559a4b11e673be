// Messages over a wire that carries small frames only, as a NATS server with a small `max_payload` does.

import { type ActorRef, receive, same } from '@troupe/core'
import { expect, test } from 'vitest'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage } from './stage.ts'

type Put = { readonly type: 'put'; readonly bytes: Uint8Array }

/** An actor that notes the sizes of what it gets. */
function sink(node: SimulatedNode, got: number[]): void {
  node.system.spawn(
    receive<Put>((_ctx, { bytes }) => {
      got.push(bytes.length)
      return same
    }),
    { name: 'sink' },
  )
}

test.each([16_384, 32_768, 61_440, 65_536])('with frames of at most %i bytes messages of every size arrive, in order', (maxFrame) =>
  onStage(async (stage) => {
    stage.world.hub.maxFrame = maxFrame
    const [a, b] = await stage.nodes('a', 'b')
    const got: number[] = []
    sink(b!, got)
    const ref = (await a!.cluster!.find('b', '/user/sink')) as ActorRef<Put>
    // More than the window of 1 MiB in all, so that what were lost would stop the rest.
    const sizes = [10, maxFrame - 100, maxFrame, 60_000, 61_500, 200_000, 900_000, 500_000, 10]
    for (const size of sizes) ref.tell({ type: 'put', bytes: new Uint8Array(size) })
    await stage.until('all came', () => got.length === sizes.length)
    expect(got).toEqual(sizes)
    expect(a!.system.deadLetters.list()).toEqual([])
  }),
)

test('a server whose limit is smaller than that of the last one ends the connection once, and the next one has smaller frames', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const got: number[] = []
    sink(b!, got)
    const ref = (await a!.cluster!.find('b', '/user/sink')) as ActorRef<Put>
    ref.tell({ type: 'put', bytes: new Uint8Array(100_000) })
    await stage.until('it came', () => got.length === 1)
    const lost: string[] = []
    stage.world.expectsBreaks = true
    for (const node of [a!, b!])
      node.system.events.listen((event) => void lost.push((event as unknown as { cause: Error }).cause.message), 'connection.lost')
    stage.world.hub.maxFrame = 16_384
    ref.tell({ type: 'put', bytes: new Uint8Array(100_001) })
    await stage.until('both have noticed', () => lost.length === 2)
    expect(lost.some((text) => text.includes('16384 bytes'))).toBe(true)
    ref.tell({ type: 'put', bytes: new Uint8Array(100_002) })
    await stage.until('the next one came', () => got.includes(100_002))
    await stage.wait(5_000)
    expect(lost).toHaveLength(2)
  }))

// memory() keeps the contracts of both ports, on virtual time; and its faults are what a simulation takes them for.

import { seeded } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { MemoryHub } from '../src/engines/memory/hub.ts'
import { connectTo, memory } from '../src/engines/memory/memory.ts'
import { RegistryUnavailable } from '../src/values/errors.ts'
import { macrotask, NodeTiming, VirtualTiming } from '../src/testing/virtual-timing.ts'
import { registryContract } from './contract/registry-contract.ts'
import { type EngineStage, session } from './contract/stage.ts'
import { wireContract } from './contract/wire-contract.ts'

async function stage(): Promise<EngineStage> {
  const timing = new VirtualTiming(seeded(1))
  const engine = memory()
  // Promises of the registry settle as virtual time goes on, so that it goes on by itself while a test waits for them.
  const life = { ended: false }
  const turn = async (): Promise<void> => {
    while (!life.ended) await timing.advance(1)
  }
  const turning = turn()
  return {
    connect: (node) => engine.connect({ cluster: 'shop', node, timing, onTrouble: () => {} }),
    async until(what, condition) {
      for (let i = 0; i < 20_000; i++) {
        if (await condition()) return
        await macrotask()
      }
      throw new Error(`waited in vain: ${what}`)
    },
    now: () => timing.now(),
    async end() {
      life.ended = true
      await turning
    },
  }
}

registryContract('memory', stage)
wireContract('memory', stage)

test('clusters of different names do not meet', async () => {
  const timing = new VirtualTiming(seeded(1))
  const engine = memory()
  const [shop, bank] = await Promise.all(['shop', 'bank'].map((cluster) => engine.connect({ cluster, node: 'a', timing, onTrouble: () => {} })))
  const made = shop!.registry.create('member.a', 'x')
  const read = bank!.registry.read('member.a')
  await timing.advance(10)
  expect(await made).toBe(1)
  expect(await read).toBeUndefined()
})

test('an outage fails operations after the patience of the node; a write whose answer was lost was done', async () => {
  const timing = new VirtualTiming(seeded(1))
  const hub = new MemoryHub(timing)
  const { registry } = connectTo(hub, { node: 'a', timing })
  hub.outage(true)
  const failed = registry.create('k', 'x').catch((cause: unknown) => cause)
  await timing.advance(hub.patience)
  expect(await failed).toBeInstanceOf(RegistryUnavailable)
  hub.outage(false)
  hub.registryFaults = { drop: 0, double: 0, delay: [10, 10], late: 0, latest: 0 }
  const unknown = registry.create('k', 'y').catch((cause: unknown) => cause)
  await timing.advance(15)
  hub.outage(true)
  await timing.advance(hub.patience)
  expect(await unknown).toBeInstanceOf(RegistryUnavailable)
  expect(hub.store.read('k')?.value).toBe('y')
})

test('a watch that was cut off is told that it may have missed anything', async () => {
  const timing = new VirtualTiming(seeded(1))
  const hub = new MemoryHub(timing)
  const { registry } = connectTo(hub, { node: 'a', timing })
  const seen: unknown[] = []
  const watch = registry.watch('k', (hint) => seen.push(hint))
  hub.isolate('a', true)
  hub.store.create('k.1', 'x', undefined)
  await timing.advance(10)
  expect(seen).toEqual([])
  hub.isolate('a', false)
  await timing.advance(10)
  expect(seen).toEqual(['anything'])
  watch.stop()
  expect(hub.idle).toBe(true)
})

test('the same seed gives the same faults: frames are lost, doubled and overtaken', async () => {
  const run = async (seed: number): Promise<number[]> => {
    const timing = new VirtualTiming(seeded(seed))
    const hub = new MemoryHub(timing)
    hub.wireFaults = { drop: 0.2, double: 0.2, delay: [1, 50], late: 0.05, latest: 8_000 }
    const [a, b] = [connectTo(hub, { node: 'a', timing }), connectTo(hub, { node: 'b', timing })]
    const got: number[] = []
    await a.wire.open(session('a'), () => {})
    await b.wire.open(session('b'), (_from, bytes) => got.push(bytes[0]!))
    for (let i = 0; i < 200; i++) a.wire.send(session('b'), Uint8Array.of(i))
    timing.advanceSync(10_000)
    return got
  }
  const [one, again, other] = [await run(3), await run(3), await run(4)]
  expect(again).toEqual(one)
  expect(other).not.toEqual(one)
  expect(new Set(one).size).toBeLessThan(200)
  expect(one.length).toBeGreaterThan(new Set(one).size)
  expect(one).not.toEqual(one.toSorted((x, y) => x - y))
})

test('a node that is paused hears nothing until it goes on, and one that was killed nothing at all', async () => {
  const timing = new VirtualTiming(seeded(1))
  const hub = new MemoryHub(timing)
  const own = new NodeTiming(timing)
  const [a, b] = [connectTo(hub, { node: 'a', timing }), connectTo(hub, { node: 'b', timing: own })]
  const got: number[] = []
  await a.wire.open(session('a'), () => {})
  await b.wire.open(session('b'), (_from, bytes) => got.push(bytes[0]!))
  let ticked = 0
  own.timer(50, () => ticked++)
  own.pause()
  a.wire.send(session('b'), Uint8Array.of(1))
  timing.advanceSync(100)
  expect([got, ticked]).toEqual([[], 0])
  own.resume()
  timing.advanceSync(0)
  expect([got, ticked]).toEqual([[1], 1])
  own.kill()
  a.wire.send(session('b'), Uint8Array.of(2))
  timing.advanceSync(100)
  expect(got).toEqual([1])
})

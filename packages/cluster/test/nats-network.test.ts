// nats() over a network that delays, splits, stalls, ends and resets its connection by a seed: every operation settles, what it said about a
// key is so, frames arrive whole or not at all, a watch learns that it may have missed something, and closing always ends.

import { HostRuntime } from '@troupe/core'
import { describe, expect, test } from 'vitest'
import { findNats, startNats } from '../../../tools/engines/nats.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'
import { chance, FaultProxy } from '../../../tools/fault-proxy.ts'
import { nats } from '../src/engines/nats/nats.ts'
import type { Connection } from '../src/ports/engine.ts'
import type { Hint } from '../src/ports/registry.ts'
import { EngineRefused, RegistryConflict, RegistryUnavailable } from '../src/values/errors.ts'
import { session } from './contract/stage.ts'

const found = engineOrSkip('nats', findNats, 'npm run engines -- --only nats fetches one.')
const timing = new HostRuntime()
const runs = Number(process.env['TROUPE_RUNS'] ?? 6)

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const until = async (what: string, condition: () => boolean | Promise<boolean>): Promise<void> => {
  const since = timing.now()
  while (!(await condition())) {
    if (timing.now() - since > 60_000) throw new Error(`waited in vain: ${what}`)
    await later(20)
  }
}
/** Fails where a promise hangs: nothing in this engine waits that long. */
const settled = <T>(what: string, promise: Promise<T>): Promise<T> =>
  Promise.race([
    promise,
    later(45_000).then(() => {
      throw new Error(`hangs: ${what}`)
    }),
  ])

/** The outcome of a write. */
async function outcomeOf(write: Promise<unknown>): Promise<'done' | 'refused' | 'unknown'> {
  try {
    await write
    return 'done'
  } catch (cause) {
    if (cause instanceof RegistryConflict) return 'refused'
    if (cause instanceof RegistryUnavailable) return 'unknown'
    throw cause
  }
}

/** Bytes that say how many they are and where they belong. */
const frameOf = (n: number, size: number): Uint8Array =>
  Uint8Array.from({ length: size + 4 }, (_, i) => (i < 2 ? (n >> (8 * i)) & 255 : i < 4 ? (size >> (8 * (i - 2))) & 255 : (i * 7 + n) & 255))

async function oneSeed(seed: number, port: number, url: string): Promise<{ done: number; unknown: number; frames: number }> {
  const cluster = `shop-${seed}`
  const random = chance(seed)
  const proxy = await FaultProxy.start(port, { seed, within: 30_000 })
  const connect = (servers: string, node: string, timeout: number): Promise<Connection> =>
    nats({ servers, timeout }).connect({ cluster, node, timing, onTrouble: () => undefined })
  // The way of this one is good: only a machine that is busy keeps it waiting.
  const b = await connect(url, 'b', 30_000)
  let a: Connection | undefined
  while (a === undefined)
    a = await settled(
      'connect',
      connect(`nats://127.0.0.1:${proxy.port}`, 'a', 1_000).catch((cause: unknown) => {
        // A network is no reason to say that the server is not fit.
        expect(cause instanceof EngineRefused ? cause.why : cause).toBe('unreachable')
        return undefined
      }),
    )
  const hints: Hint[] = []
  a.registry.watch('own', (hint) => hints.push(hint))
  const frames = { a: 0, b: 0 }
  const wrong: string[] = []
  const taking =
    (who: 'a' | 'b') =>
    (_from: unknown, bytes: Uint8Array): void => {
      frames[who]++
      const [n, size] = [bytes[0]! | (bytes[1]! << 8), bytes[2]! | (bytes[3]! << 8)]
      if (Buffer.compare(frameOf(n, size), bytes) !== 0) wrong.push(`${who} got ${bytes.length} bytes that were not sent`)
    }
  await settled('open', b.wire.open(session('b'), taking('b')))
  const opened = a.wire.open(session('a'), taking('a')).then(
    () => true,
    () => false,
  )
  const counts = { done: 0, unknown: 0 }
  const writing = async (): Promise<void> => {
    const key = 'own.k.1'
    let value = 0
    for (let i = 0; i < 15; i++) {
      const entry = await b.registry.read(key)
      const next = String(++value)
      const write = entry === undefined ? a.registry.create(key, next) : a.registry.update(key, next, entry.revision)
      const outcome = await settled('write', outcomeOf(write))
      // Something that is on its way still may arrive; it is refused where it has been overtaken.
      const now = await b.registry.read(key)
      const expected: readonly (string | undefined)[] = { done: [next], refused: [entry?.value], unknown: [next, entry?.value] }[outcome]
      expect([seed, i, outcome, expected.includes(now?.value)]).toEqual([seed, i, outcome, true])
      if (outcome !== 'refused') counts[outcome]++
      await settled(
        'read',
        a.registry.list('own').catch((cause: unknown) => expect(cause).toBeInstanceOf(RegistryUnavailable)),
      )
    }
  }
  const sending = async (): Promise<void> => {
    for (let n = 0; n < 200; n++) {
      const frame = frameOf(n, Math.floor(8_000 ** random()))
      a.wire.send(session('b'), frame)
      b.wire.send(session('a'), frame)
      await later(5)
    }
  }
  await Promise.all([writing(), sending(), settled('open', opened)])
  expect(wrong).toEqual([])
  proxy.heal()
  await until('a reads again', () =>
    a.registry.read('own.k.1').then(
      () => true,
      () => false,
    ),
  )
  hints.length = 0
  await until('the watch sees it', async () => {
    const entry = await b.registry.read('own.k.1')
    await (entry === undefined ? b.registry.create('own.k.1', 'x') : b.registry.update('own.k.1', 'x', entry.revision))
    await later(100)
    return hints.some((hint) => hint !== 'anything' && hint.value === 'x')
  })
  if (!(await opened)) await a.wire.open(session('a'), taking('a'))
  const before = frames.b
  await until('a frame comes through', async () => {
    a.wire.send(session('b'), frameOf(1, 10))
    await later(10)
    return frames.b > before
  })
  await settled('close', a.close())
  await settled('close', b.close())
  await proxy.close()
  return { ...counts, frames: frames.a + frames.b }
}

/** Closing a connection whose network has fallen silent. */
async function closingInSilence(port: number): Promise<void> {
  const proxy = await FaultProxy.start(port, { seed: 1, faults: ['none'] })
  const a = await nats({ servers: `nats://127.0.0.1:${proxy.port}`, timeout: 1_000 }).connect({
    cluster: 'quiet',
    node: 'a',
    timing,
    onTrouble: () => undefined,
  })
  await a.wire.open(session('a'), () => undefined)
  proxy.fallSilent()
  const reading = outcomeOf(a.registry.read('own.k.1'))
  await settled('close', a.close())
  expect(await settled('read', reading)).toBe('unknown')
  await proxy.close()
}

describe.skipIf(found === undefined)('on a real NATS server', () => {
  test('every operation settles, what it said is so, and all is well once the network is', async () => {
    const server = await startNats(found!)
    try {
      const port = Number(new URL(server.url).port)
      const counts: Awaited<ReturnType<typeof oneSeed>>[] = []
      // They wait more than they work.
      for (let seed = 1; seed <= runs; seed += 6)
        counts.push(...(await Promise.all(Array.from({ length: Math.min(6, runs + 1 - seed) }, (_, i) => oneSeed(seed + i, port, server.url)))))
      const sum = (of: keyof (typeof counts)[number]): number => counts.reduce((all, one) => all + one[of], 0)
      expect([sum('done') > runs, sum('unknown') > 0, sum('frames') > runs]).toEqual([true, true, true])
      await closingInSilence(port)
    } finally {
      await server.end()
    }
  })
})

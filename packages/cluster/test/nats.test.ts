// nats() keeps the contracts of both ports on a real server, and holds out where that server is killed, paused and started again.

import { rmSync } from 'node:fs'
import { join as pathOf } from 'node:path'
import { HostRuntime } from '@troupe/core'
import { describe, expect, test } from 'vitest'
import { findNats, type NatsServer, startNats } from '../../../tools/engines/nats.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'
import { nats } from '../src/engines/nats/nats.ts'
import type { Connection } from '../src/ports/engine.ts'
import type { Hint } from '../src/ports/registry.ts'
import { RegistryUnavailable } from '../src/values/errors.ts'
import { registryContract } from './contract/registry-contract.ts'
import { type EngineStage, session } from './contract/stage.ts'
import { wireContract } from './contract/wire-contract.ts'

const found = engineOrSkip('nats', findNats, 'npm run engines -- --only nats fetches one.')
const timing = new HostRuntime()

/** Looks again and again, for a while that no healthy machine needs. */
async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const since = timing.now()
  while (!(await condition())) {
    if (timing.now() - since > 50_000) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** A server that ends with the test, however that ends. */
async function started(onTestFinished: (end: () => Promise<void>) => void): Promise<NatsServer> {
  const server = await startNats(found!)
  onTestFinished(() => server.end())
  return server
}

async function stage(): Promise<EngineStage> {
  const server = await startNats(found!)
  return {
    connect: (node) => join(server, node),
    until,
    now: () => timing.now(),
    end: () => server.end(),
  }
}

function join(server: NatsServer, node: string, troubles: string[] = []): Promise<Connection> {
  return nats({ servers: server.url, timeout: 10_000 }).connect({ cluster: 'shop', node, timing, onTrouble: (text) => troubles.push(text) })
}

// All wait at the same time: each contract, and each test that harms its server, has a server of its own.
describe.skipIf(found === undefined)('on a real NATS server', { concurrent: true }, () => {
  registryContract('nats', stage, true)
  wireContract('nats', stage, true)

  describe('that fails', { concurrent: true }, () => {
    test('one server suggests a lease of 5 s', async ({ onTestFinished }) => {
      const server = await started(onTestFinished)
      const a = await join(server, 'a')
      expect(a.lease).toBe(5_000)
      await a.close()
    })

    test('while it is away nothing is taken; when it is back, keys, watches and frames are, too', async ({ onTestFinished }) => {
      const server = await started(onTestFinished)
      const a = await join(server, 'a')
      const b = await join(server, 'b')
      const hints: Hint[] = []
      const got: number[] = []
      b.registry.watch('own', (hint) => hints.push(hint))
      await a.wire.open(session('a'), () => {})
      await b.wire.open(session('b'), (_from, bytes) => got.push(bytes[0]!))
      const revision = await a.registry.create('own.k.1', 'before')
      await until('the watch has begun', () => hints.includes('anything'))
      await server.kill()
      await until('both have noticed', () => !a.wire.connected && !b.wire.connected)
      expect(a.wire.send(session('b'), Uint8Array.of(1))).toBe(false)
      await expect(a.registry.read('own.k.1')).rejects.toBeInstanceOf(RegistryUnavailable)
      hints.length = 0
      await server.start()
      await until('both are back', () => a.wire.connected && b.wire.connected)
      await until('the watch says so', () => hints.includes('anything'))
      expect(await a.registry.read('own.k.1')).toEqual({ key: 'own.k.1', value: 'before', revision })
      await a.registry.update('own.k.1', 'after', revision)
      await until('the watch sees it', () => hints.some((hint) => hint !== 'anything' && hint.value === 'after'))
      await until('a frame comes through', () => {
        a.wire.send(session('b'), Uint8Array.of(2))
        return got.includes(2)
      })
      expect(got).not.toContain(1)
      await a.close()
      await b.close()
    })

    test('a key whose time ran out while it was away is gone when it is back', async ({ onTestFinished }) => {
      const server = await started(onTestFinished)
      const a = await join(server, 'a')
      await a.registry.create('own.k.2', 'x', { ttl: 1_000 })
      await server.kill()
      const since = timing.now()
      await until('its time has passed', () => timing.now() - since > 1_500)
      await server.start()
      await until('the client is back', () =>
        a.registry.list('own').then(
          () => true,
          () => false,
        ),
      )
      await until('the key is gone', async () => (await a.registry.read('own.k.2')) === undefined)
      await a.close()
    })

    test('while it stands still what waits toward it is bounded', async ({ onTestFinished }) => {
      const server = await started(onTestFinished)
      const a = await join(server, 'a')
      await a.wire.open(session('a'), () => {})
      server.pause()
      const frame = new Uint8Array(256 * 1_024)
      let taken = 0
      while (taken < 1_000 && a.wire.send(session('b'), frame)) taken++
      server.resume()
      expect(taken * frame.length).toBeLessThan(18 * 1_048_576)
      await until('it takes more again', () => a.wire.send(session('b'), frame))
      await a.close()
    })

    test('that comes back with an empty store is given its bucket again: keys are gone, and can be made and watched', async ({ onTestFinished }) => {
      const alone = await started(onTestFinished)
      const troubles: string[] = []
      const a = await join(alone, 'a', troubles)
      await a.registry.create('own.k.3', 'x')
      const hints: Hint[] = []
      a.registry.watch('own', (hint) => hints.push(hint))
      await alone.kill()
      rmSync(pathOf(alone.folder, 'store'), { recursive: true, force: true })
      await alone.start()
      await until('it can be read', () =>
        a.registry.read('own.k.3').then(
          (entry) => entry === undefined,
          () => false,
        ),
      )
      expect(troubles.filter((text) => text.includes('lost what it kept'))).toHaveLength(1)
      await a.registry.create('own.k.4', 'y', { ttl: 60_000 })
      expect(await a.registry.list('own')).toMatchObject([{ key: 'own.k.4', value: 'y' }])
      // The watch begins again after a pause, and says that anything may have changed.
      await until('the watch says so', async () => {
        const { revision } = (await a.registry.read('own.k.4'))!
        await a.registry.update('own.k.4', 'y', revision)
        return hints.some((hint) => hint !== 'anything' && hint.key === 'own.k.4')
      })
      await a.close()
    })
  })
})

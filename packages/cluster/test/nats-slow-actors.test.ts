// K6 between two processes over NATS: that of a slow sharded actor holds little of what is sent to it.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { ActorSystem, receive, same } from '@troupe/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { findNats, startNats } from '../../../tools/engines/nats.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'
import { Cluster, nats } from '../src/index.ts'

const found = engineOrSkip('nats', findNats, 'npm run engines -- --only nats fetches one.')
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, isLevelEnabled: () => false }
const patient = { timeout: 60_000, interval: 20 }
const mebibyte = 1_048_576

interface Said {
  readonly handled: number
  readonly heap: number
}

test.skipIf(found === undefined)(
  'a process whose sharded actor takes nothing holds little of what is sent to it, and all of it arrives',
  async () => {
    const server = await startNats(found!)
    onTestFinished(() => server.end())
    const program = fileURLToPath(new URL('slow/owner.mjs', import.meta.url))
    const owner = spawn(process.execPath, [program, server.url], { stdio: ['pipe', 'pipe', 'inherit'] })
    onTestFinished(() => void owner.kill('SIGKILL'))
    owner.stdin.on('error', () => {})
    let said: Said = { handled: 0, heap: 0 }
    createInterface({ input: owner.stdout }).on('line', (line) => (said = JSON.parse(line) as Said))
    const system = ActorSystem.create('sender', { logger: silent })
    const cluster = await Cluster.join(system, { name: 'slow', node: 'sender', engine: nats({ servers: server.url }) })
    onTestFinished(async () => {
      await cluster.leave({ deadline: 1_000 })
      await system.shutdown()
    })
    const kind = cluster.sharded<string>('works', () => receive(() => same), { role: 'works', shards: 4 })
    await vi.waitFor(() => expect(kind.ownerOf('slow')).toBe('owner'), patient)
    await vi.waitFor(() => expect(said.heap).toBeGreaterThan(0), patient)
    const before = said.heap
    // 30 MB.
    for (let n = 0; n < 300; n++) kind.ref('slow').tell(`${n} ${'x'.repeat(100_000)}`)
    const last = kind.ref('quick').offer('another actor')
    await last
    await vi.waitFor(() => expect(cluster.report().kinds[0]!.waiting).toBeGreaterThan(290), patient)
    // What has gone by now would be there.
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    expect(said.heap - before).toBeLessThan(15 * mebibyte)
    expect([owner.exitCode, said.handled]).toEqual([null, 0])
    owner.stdin.write('open\n')
    await vi.waitFor(() => expect(said.handled).toBe(301), patient)
    expect(system.deadLetters.list()).toEqual([])
  },
)

// K6 between two processes over NATS: a slow sharded actor is sent more than its process may hold, and that process lives.

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

test.skipIf(found === undefined)('a process whose sharded actor takes nothing holds little of what is sent to it, and all of it arrives', async () => {
  const server = await startNats(found!)
  onTestFinished(() => server.end())
  // Less than what is sent.
  const program = fileURLToPath(new URL('slow/owner.mjs', import.meta.url))
  const owner = spawn(process.execPath, ['--max-old-space-size=48', program, server.url], { stdio: ['pipe', 'pipe', 'inherit'] })
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
  for (let n = 0; n < 600; n++) kind.ref('slow').tell(`${n} ${'x'.repeat(100_000)}`)
  const last = kind.ref('quick').offer('another actor')
  await last
  await vi.waitFor(() => expect(cluster.report().kinds[0]!.waiting).toBeGreaterThan(590), patient)
  // What has gone by now would be there.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  expect(said.heap - before).toBeLessThan(24 * mebibyte)
  expect([owner.exitCode, said.handled]).toEqual([null, 0])
  owner.stdin.write('open\n')
  await vi.waitFor(() => expect(said.handled).toBe(601), patient)
  expect(system.deadLetters.list()).toEqual([])
})

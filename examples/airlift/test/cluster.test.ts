// Airlift on three processes, where NATS is found: a node is killed by its button, others have its districts, and the sum holds. Run
// `npm run build` first; `npm test` does.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findNats } from '../../../tools/engines/nats.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'
import { Client, Run, type Status } from './client.ts'

const found = engineOrSkip('nats', findNats, 'npm run engines -- --only nats fetches one.')

const adds = ({ sum: { sent, delivered, inFlight, returned, lost } }: Status): void => {
  expect(lost).toBe(0)
  expect(sent).toBe(delivered + inFlight + returned)
}

describe.skipIf(found === undefined)('on three nodes', { timeout: 180_000 }, () => {
  let run: Run
  let client: Client
  beforeAll(async () => {
    run = new Run(['--cluster', '3', '--drones', '500', '--forever'])
    client = new Client((await run.printed(/http:\S+/))[0])
  }, 180_000)
  afterAll(() => void run.child.kill('SIGKILL'))

  test('districts are spread over all; those of one that is killed go on elsewhere, and not one parcel is lost', async () => {
    const owned = (status: Status, name: string): number => status.nodes!.owners.filter((owner) => owner === name).length
    const before = await client.until((status) => ['a', 'b', 'c'].every((name) => owned(status, name) > 0) && status.sum.delivered > 0)
    adds(before)
    expect(await client.do('node', { name: 'b' })).toMatch(/^Node b is killed/)
    // It is started again once the others have its districts, which may be at once where that took long: its state is looked at before.
    await client.until(({ nodes }) => nodes!.facts.map(({ name, state }) => `${name} ${state}`).join() === 'a up,b down,c up')
    const moved = await client.until((status) => owned(status, 'a') + owned(status, 'c') === 100)
    // They deliver there what had been sent here.
    const after = await client.until(({ sum }) => sum.delivered > moved.sum.delivered + 20)
    adds(after)
    const { sent, ...others } = after.ledger
    expect(Object.values(others).reduce((sum, count) => sum + count)).toBe(sent)
    expect(after.ledger['unknown']).toBeGreaterThanOrEqual(before.ledger['unknown']!)
  })

  test('what would have to be one process is refused', async () => {
    const refused = await client.post('/api/do', { what: 'kill' })
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('without --cluster')])
    const stranger = await client.post('/api/do', { what: 'node', name: 'z' })
    expect([stranger.status, await stranger.text()]).toEqual([400, expect.stringContaining('the name of a node')])
  })

  test('a signal stops all of them, with the sum', async () => {
    run.child.kill('SIGINT')
    expect(await run.exited).toBe(0)
    expect(run.out).toMatch(/^3 nodes, each a process, on NATS [\d.]+\n500 drones fly/)
    expect(run.out).toMatch(/✓ parcels sent [\d,]+ = .*; lost 0\n/)
  })
})

describe('where no NATS is found', () => {
  const engines = mkdtempSync(join(tmpdir(), 'troupe-no-engines-'))
  afterAll(() => rmSync(engines, { recursive: true, force: true }))

  test('it says so and flies in one process; without a page it ends by itself, with the sum', async () => {
    const run = new Run(['--cluster', '3', '--seconds', '1', '--headless', '--drones', '500'], { PATH: '', TROUPE_ENGINES: engines })
    expect(await run.exited).toBe(0)
    expect(run.out).toMatch(/^No NATS server was found: all is in one process\. npm run engines -- --only nats fetches one\.\n/)
    expect(run.out).toMatch(/\n500 drones fly, \d+ ms after the start\n(?:\d+ s: .*\n)*✓ parcels sent [1-9]/)
  })
})

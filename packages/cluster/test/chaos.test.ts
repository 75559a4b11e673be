// Two faults of `npm run chaos:cluster` with real processes and a real NATS server; the rest, and the control without a fence, is that command's,
// and under virtual time that of sim/cluster.sim.test.ts. How long an id is silent is checked by that command, and on virtual time by
// cluster/silence.test.ts: here other tests use the machine.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { findNats } from '../../../tools/engines/nats.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'

const main = fileURLToPath(new URL('./chaos/main.mjs', import.meta.url))
const found = engineOrSkip('nats', findNats, 'npm run engines -- --only nats fetches one.')

async function chaos(...args: string[]): Promise<{ status: number | null; out: string }> {
  const child = spawn(process.execPath, [main, '--lease', '1000', '--store', 'sqlite', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { status, out }
}

test.skipIf(found === undefined)(
  'nodes that are killed, stopped and cut off lose nothing that was acknowledged, and write nothing of the past',
  async () => {
    const { status, out } = await chaos('--faults', '2', '--nodes', '2', '--seed', '3', '--pace', '200', '--untimed')
    expect(out).toContain('0 lost, 0 double writers.\n')
    expect(out).toMatch(/2 faults .*\n[1-9]\d* acknowledged/)
    expect(status).toBe(0)
  },
  180_000,
)

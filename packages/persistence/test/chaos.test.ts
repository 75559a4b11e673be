// A few rounds of `npm run chaos:journal`, and its control: what is killed in the middle loses nothing, and a store that would is noticed.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { findPostgres } from '../../../tools/engines/postgres.mjs'
import { engineOrSkip } from '../../../tools/engines/require.mjs'

const main = fileURLToPath(new URL('./chaos/main.mjs', import.meta.url))
const found = engineOrSkip('postgres', findPostgres, 'npm run engines -- --only postgres fetches one.')

function chaos(...args: string[]): { status: number | null; out: string } {
  const { status, stdout } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', timeout: 170_000 })
  return { status, out: stdout }
}

// Generous, because each starts processes one after the other.
describe('chaos', { timeout: 180_000 }, () => {
  test.each(['actors', 'port'])(
    'a process that is killed, stopped, out of disk or without its thread while it writes by %s has lost nothing that it acknowledged',
    (through) => {
      const { status, out } = chaos('--rounds', '4', '--through', through)
      expect(out).toMatch(
        /4 kills, 1 takeovers of a stopped one, 1 full disks, 1 ended threads; acknowledged [1-9]\d* events, recovered [1-9]\d*, lost 0\n$/,
      )
      expect(status).toBe(0)
    },
  )

  test('one that acknowledges before it hands over is caught', () => {
    const { status, out } = chaos('--rounds', '20', '--leaky')
    expect(out).toMatch(/lost [1-9]\d*\nThe leak was caught, as it must be\.\n$/)
    expect(status).toBe(0)
  })

  test.skipIf(found === undefined)('the same with PostgreSQL, whose server crashes meanwhile', () => {
    const { status, out } = chaos('--rounds', '3', '--store', 'postgres')
    expect(out).toMatch(/3 kills, 1 crashes of the server; acknowledged [1-9]\d* events, recovered [1-9]\d*, lost 0\n$/)
    expect(status).toBe(0)
  })
})

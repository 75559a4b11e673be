// The servers that other tests use, where they are there: each starts, survives a crash and a restart with its data, and ends without a trace.

import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { once } from 'node:events'
import { expect, test, vi } from 'vitest'
import { findNats, startNats } from './engines/nats.mjs'
import { findPostgres, startPostgres } from './engines/postgres.mjs'
import { engineOrSkip } from './engines/require.mjs'

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

const postgres = engineOrSkip('postgres', findPostgres, 'npm run engines -- --only postgres fetches one.')
const nats = engineOrSkip('nats', findNats, 'npm run engines -- --only nats fetches one.')

test.skipIf(postgres === undefined)('a PostgreSQL of its own starts, comes back after a crash, and ends', async () => {
  const server = await startPostgres(postgres!)
  try {
    expect(await accepts(server.port)).toBe(true)
    await server.crash()
    expect(await accepts(server.port)).toBe(false)
    await server.start()
    expect(await accepts(server.port)).toBe(true)
  } finally {
    await server.end()
  }
  expect(await accepts(server.port)).toBe(false)
})

test.skipIf(nats === undefined)('a NATS server of its own starts, comes back after a kill, and ends', async () => {
  const server = await startNats(nats!)
  try {
    expect(await accepts(server.port)).toBe(true)
    await server.kill()
    expect(await accepts(server.port)).toBe(false)
    await server.start()
    expect(await accepts(server.port)).toBe(true)
  } finally {
    await server.end()
  }
  expect(existsSync(server.folder)).toBe(false)
})

test('an engine that TROUPE_REQUIRE names and that is not there is an error that says how to get it; one that it does not name is skipped aloud', () => {
  const before = process.env['TROUPE_REQUIRE']
  process.env['TROUPE_REQUIRE'] = 'nats, oracle'
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    expect(() => engineOrSkip('oracle', () => undefined, 'Buy one.')).toThrow('TROUPE_REQUIRE names oracle, and none was found. Buy one.')
    expect(engineOrSkip('postgres', () => undefined, 'Get one.')).toBe(undefined)
    expect(said.mock.calls).toEqual([['\nSKIPPED: tests with a real postgres: none was found. Get one.\n']])
  } finally {
    said.mockRestore()
    if (before === undefined) delete process.env['TROUPE_REQUIRE']
    else process.env['TROUPE_REQUIRE'] = before
  }
})

// `troupe run` in this process: what is loaded, what it says, what it ends with, and what health says meanwhile.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listSystems } from '@troupe/observer'
import { register } from 'prom-client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runCommand } from '../src/program.ts'
import type { SignalName } from '../src/running/interrupts.ts'
import { addressIn } from '../src/running/health.ts'
import { release } from './modules/stubborn.mjs'

const modules = join(import.meta.dirname, 'modules')
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tr-'))
  process.env['TROUPE_RUNTIME_DIR'] = folder
})
afterEach(() => {
  delete process.env['TROUPE_RUNTIME_DIR']
  rmSync(folder, { recursive: true, force: true })
})

interface Running {
  readonly lines: string[]
  /** The first line, from now on or before, that has this in it. */
  said(part: string): Promise<string>
  signal(name: SignalName): void
  readonly killedBy: SignalName[]
  readonly code: Promise<number>
}

function start(...argv: readonly string[]): Running {
  const lines: string[] = []
  const killedBy: SignalName[] = []
  let told: ((signal: SignalName) => void) | undefined
  let heard = (): void => {}
  const code = runCommand(argv, {
    screen: { isTTY: false, columns: 100, rows: 30, colours: false, write: (text) => void lines.push(text) },
    keys: undefined,
    complain: (text) => {
      lines.push(text)
      heard()
    },
    version: '1.2.3',
    interrupts: { listen: (on) => ((told = on), () => (told = undefined)), end: (signal) => void killedBy.push(signal) },
  })
  const said = async (part: string): Promise<string> => {
    for (;;) {
      const found = lines.find((line) => line.includes(part))
      if (found !== undefined) return found
      await new Promise<void>((resolve) => (heard = resolve))
    }
  }
  return { lines, said, signal: (name) => told?.(name), killedBy, code }
}

const ready = async (url: string): Promise<string> => {
  const response = await fetch(url)
  return `${response.status} ${(await response.text()).trim()}`
}
const untilReady = (url: string, says: string | RegExp = /^200 ok$/): Promise<void> =>
  vi.waitFor(async () => expect(await ready(`${url}/readyz`)).toMatch(says), { timeout: 30_000, interval: 10 })

describe('an application', () => {
  test('whose root is a behavior runs under the name of its package, is ready, can be attached to, and stops in order when told', async () => {
    const running = start('run', join(modules, 'clock.mjs'), '--health', '0')
    const [url] = /http:\S+(?=\/livez)/.exec(await running.said('health at'))!
    await untilReady(url)
    expect(await ready(`${url}/livez`)).toBe('200 ok')
    expect(await ready(`${url}/metrics`)).toMatch(/^404/)
    expect((await fetch(`${url}/readyz`, { method: 'POST' })).status).toBe(405)
    expect(listSystems().map(({ system }) => system)).toEqual(['cli'])
    running.signal('SIGTERM')
    expect(await running.code).toBe(0)
    expect(running.lines.join('\n')).toMatch(/SIGTERM: stopping cli; .*\ncli ended after .*: 2 stopped, 0 killed at the deadline\n/)
    expect(listSystems()).toEqual([])
  })

  test('that is stopping is not ready, and a second signal ends the process', async () => {
    const running = start('run', join(modules, 'stubborn.mjs'), '--deadline', '60s', '--name', 'shop', '--no-socket', '--health', '0')
    const [url] = /http:\S+(?=\/livez)/.exec(await running.said('health at'))!
    await untilReady(url)
    expect(listSystems()).toEqual([])
    running.signal('SIGINT')
    expect(await ready(`${url}/readyz`)).toBe('503 stopping')
    running.signal('SIGINT')
    expect(running.killedBy).toEqual(['SIGINT'])
    // A process would have ended. This one stops in order, once its actor does.
    release()
    expect(await running.code).toBe(0)
  })

  test('that does not end in time is killed, which is said with its path, and ends with 1', async () => {
    const running = start('run', join(modules, 'stubborn.mjs'), '--deadline', '100ms', '--name', 'shop', '--no-socket')
    await running.said('shop runs')
    running.signal('SIGINT')
    expect(await running.code).toBe(1)
    expect(running.lines.join('\n')).toContain('shop ended after')
    expect(running.lines).toContain('  killed /user/stuck')
  })

  test('whose journal cannot be opened is not ready, and is once it can be', async () => {
    const directory = join(folder, 'journal')
    writeFileSync(directory, 'in the way')
    process.env['TROUPE_TEST_JOURNAL'] = join(directory, 'shop.db')
    try {
      const running = start('run', join(modules, 'keeping.mjs'), '--no-socket', '--health', '0')
      const [url] = /http:\S+(?=\/livez)/.exec(await running.said('health at'))!
      await running.said('cli runs')
      await untilReady(url, /^503 journal sqlite\(.*\) cannot be opened$/)
      rmSync(directory)
      await untilReady(url)
      running.signal('SIGTERM')
      expect(await running.code).toBe(0)
    } finally {
      delete process.env['TROUPE_TEST_JOURNAL']
    }
  })

  test('whose session in a cluster has ended is to be restarted: neither ready nor alive', async () => {
    const running = start('run', join(modules, 'member.mjs'), '--no-socket', '--health', '0')
    const [url] = /http:\S+(?=\/livez)/.exec(await running.said('health at'))!
    await running.said('cli runs')
    await untilReady(url)
    expect(await ready(`${url}/livez`)).toBe('200 ok')
    await (globalThis as unknown as { endSession(): Promise<void> }).endSession()
    await vi.waitFor(async () => expect(await ready(`${url}/livez`)).toBe('503 the session of node a has ended'), { timeout: 30_000, interval: 10 })
    expect(await ready(`${url}/readyz`)).toBe('503 not a member of its cluster')
    running.signal('SIGTERM')
    // A process that stops ends by itself.
    expect(await ready(`${url}/livez`).catch(() => '200 ok')).toBe('200 ok')
    expect(await running.code).toBe(0)
  })

  test('that serves metrics does so by the observer that the command made, also where its socket cannot be opened', async () => {
    const running = start('run', join(modules, 'measured.mjs'), '--name', 'shop')
    await running.said('shop runs')
    expect(await register.metrics()).toContain('troupe_actors{system="shop",kind="till"} 1')
    running.signal('SIGTERM')
    expect(await running.code).toBe(0)
    process.env['TROUPE_RUNTIME_DIR'] = join(folder, 'x'.repeat(200))
    const deaf = start('run', join(modules, 'measured.mjs'), '--name', 'deaf')
    await deaf.said('troupe cannot attach to it')
    await deaf.said('deaf runs')
    expect(await register.metrics()).toContain('troupe_actors{system="deaf",kind="till"} 1')
    deaf.signal('SIGTERM')
    expect(await deaf.code).toBe(0)
  })

  test('finds the threads that the command gave it by threadsOf', async () => {
    const running = start('run', join(modules, 'threaded.mjs'), '--name', 'shop', '--threads', '3', '--no-socket')
    await running.said('shop runs')
    running.signal('SIGTERM')
    expect(await running.code).toBe(0)
    const without = start('run', join(modules, 'threaded.mjs'), '--no-socket')
    expect(await without.code).toBe(1)
    expect(without.lines[0]).toContain('no threads')
  })

  test('that ends by itself ends the command: with 0, or with 1 and why', async () => {
    const done = start('run', join(modules, 'ending.mjs'), '--no-socket')
    expect(await done.code).toBe(0)
    process.env['TROUPE_TEST_FAILS'] = 'yes'
    try {
      const failed = start('run', join(modules, 'ending.mjs'))
      expect(await failed.code).toBe(1)
      expect(failed.lines.join('\n')).toContain('no disk')
    } finally {
      delete process.env['TROUPE_TEST_FAILS']
    }
  })

  test.each(['failing.mjs', 'throwing.mjs'])('whose function fails is stopped, and ends with 1: %s', async (module) => {
    const running = start('run', join(modules, module), '--no-socket')
    expect(await running.code).toBe(1)
    expect(running.lines[0]).toBe('cli failed to start: Error: no database')
    expect(running.lines[1]).toContain(join('modules', module))
  })
})

describe('what cannot be run ends with 2, and says what to do', () => {
  test.each([
    [['nope.mjs'], 'There is no module nope.mjs'],
    [[modules], 'is a folder without index.js'],
    [[join(modules, 'nothing.mjs')], 'has no default export'],
    [[join(modules, 'object.mjs')], 'is neither a behavior nor a function'],
    [[join(modules, 'clock.mjs'), '--drain', '40s'], '--drain must leave time'],
    [[join(modules, 'clock.mjs'), '--health', 'everywhere'], 'Use a port, or an address'],
    [[join(modules, 'clock.mjs'), '--threads', '1'], 'Use a whole number from 2'],
  ])('%j', async (argv, says) => {
    const running = start('run', ...argv)
    expect(await running.code).toBe(2)
    expect(running.lines.join('\n')).toContain(says)
  })
})

test.each([
  ['8080', '127.0.0.1', 8080],
  [':0', '127.0.0.1', 0],
  ['0.0.0.0:80', '0.0.0.0', 80],
  ['[::1]:80', '::1', 80],
])('an address %s is read', (text, host, port) => expect(addressIn(text)).toEqual({ host, port }))

test.each(['', 'x', '70000', 'host:', '::1:80', 'a b:1'])('%j is no address', (text) => expect(addressIn(text)).toBeUndefined())

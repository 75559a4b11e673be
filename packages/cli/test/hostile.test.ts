// Actors that are called what they should not be: nothing of it is a command to a terminal, in any command, and no line is endless.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ActorSystem, mailboxOf, receive, same, unbounded } from '@troupe/core'
import { capsuleRecorder, observe } from '@troupe/observer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../src/program.ts'

/** A title and a colour, all of the screen away, the same by one byte, a bell, a line drawn over, and an order of letters turned around. */
const nasty = '\u001B]0;mine\u0007\u001B[31m\u001B[2J\u009B2J\u0007\rover\u202Eexe.txt\u2066\u2028'
const long = 'x'.repeat(10_000)
const bad = /(?![\n])\p{Cc}|[\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/u
const path = '/user/<img_src=x_onerror=alert(1)>\u202E'

let folder: string
let system: ActorSystem
let again: NodeJS.Timeout
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tr-'))
  process.env['TROUPE_RUNTIME_DIR'] = folder
  system = ActorSystem.create('shop', {
    logger: false,
    keepAlive: false,
    supervision: 'resume',
    dispatchers: { [nasty]: {} },
    flightRecorder: capsuleRecorder({ capacity: 20 }),
  })
  await observe(system, { every: 100 }).ready
  const sly = system.spawn(
    receive<{ type: string }>((ctx, { type }) => {
      ctx.label(`${nasty}${long}`)
      ctx.timers.once(`${nasty}${long}`, 3_600_000, { type: `${nasty}timer` })
      if (type.startsWith('fail')) throw new Error(`${nasty} ${long}`)
      if (type.startsWith('ask')) return new Promise<never>(() => {})
      return same
    }),
    { name: path.slice(6), kind: `${nasty}${long}` },
  )
  const stuck = system.spawn(
    receive<unknown>(() => new Promise<never>(() => {})),
    { name: 'stuck', kind: nasty },
  )
  const held = system.spawn(
    receive<unknown>(() => same),
    { name: 'held', dispatcher: nasty, mailbox: mailboxOf({ kind: nasty, create: (owner) => unbounded().create(owner) }) },
  )
  system.suspend(held, `${nasty}${long}`)
  const gone = system.spawn(
    receive<unknown>(() => same),
    { name: 'gone' },
  )
  gone.stop()
  await system.whenTerminated(gone)
  stuck.ask({ type: `ask${nasty}${long}` } as never, { timeout: 3_600_000 }).catch(() => {})
  const read = {
    get type(): string {
      throw new Error(nasty)
    },
  }
  again = setInterval(() => {
    sly.tell({ type: `fail${nasty}${long}` })
    sly.tell({ type: `next${nasty}` })
    sly.tell(read)
    gone.tell({ type: `dead${nasty}${long}` })
  }, 5)
})
afterAll(async () => {
  clearInterval(again)
  await system.shutdown({ deadline: 1 })
  delete process.env['TROUPE_RUNTIME_DIR']
  rmSync(folder, { recursive: true, force: true })
})

async function troupe(argv: readonly string[]): Promise<{ readonly out: string; readonly err: string }> {
  let out = ''
  let err = ''
  await runCommand(argv, {
    screen: { isTTY: false, columns: 100, rows: 30, colours: false, write: (text) => void (out += text) },
    keys: undefined,
    complain: (text) => void (err += `${text}\n`),
    version: '1.2.3',
  })
  return { out, err }
}

test.each([
  ['ls'],
  ['top'],
  ['tree'],
  ['inspect', path],
  ['inspect', '/user/held'],
  ['waits'],
  ['dead'],
  ['events', '-n', '5'],
  ['flow', '--for', '300ms'],
  ['doctor', '--for', '300ms'],
  ['trace', '--next', `next${nasty}`, '--settle', '0s'],
  ['profile', '--for', '100ms'],
])('troupe %s', async (...argv) => {
  const { out, err } = await troupe(argv)
  expect(out).not.toBe('')
  expect(out + err).not.toMatch(bad)
  for (const line of `${out}${err}`.split('\n')) expect(line.length).toBeLessThan(1200)
  const json = await troupe([...argv, '--json'])
  expect(json.err).toBe('')
  expect(json.out).not.toMatch(bad)
  for (const line of json.out.trim().split('\n')) JSON.parse(line)
})

test('what is wrong is said without it, too, and at once', async () => {
  expect((await troupe(['trace', '--next', long])).err).toMatch(/^x{199}… cannot be followed: .*type must be a text/)
  for (const argv of [
    ['inspect', nasty],
    ['tree', nasty],
    ['capsule', nasty],
    ['ls', `--${nasty}`],
    [nasty],
    ['replay', nasty],
    ['top', '--system', nasty],
  ]) {
    const { out, err } = await troupe(argv)
    expect(err).not.toBe('')
    expect(out + err).not.toMatch(bad)
  }
})

test('a capsule of it is a file that is called nothing odd, and is told of and replayed without it', async () => {
  const file = join(folder, 'x.capsule.json')
  const written = await troupe(['capsule', path, '--to', file])
  expect(written.err).toBe('')
  expect(written.out).not.toMatch(bad)
  const replayed = await troupe(['replay', file, '--with', `${join(import.meta.dirname, 'modules/till.mjs')}#mended`])
  expect(replayed.out + replayed.err).not.toMatch(bad)
})

test('a report of it has no markup but its own', async () => {
  const file = join(folder, 'report.html')
  await troupe(['report', '--for', '200ms', '--to', file])
  expect(readdirSync(folder)).toContain('report.html')
  expect(readFileSync(file, 'utf8')).not.toMatch(/<img|<script/)
})

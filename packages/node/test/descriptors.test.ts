// Descriptors that are open already: sockets, pipes and terminals are adopted as they are; whatever else is refused.

import { type ChildProcess, execFileSync, spawn, type StdioOptions } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { closeSync, constants, existsSync, fstatSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { adopt, type ConnectionEvent, type ReadinessEvent } from '@troupe/node'
import type { ActorRef } from '@troupe/core'
import { afterAll, describe, expect, test } from 'vitest'
import { hostSystem, inbox, leakless, until } from './inbox.ts'

const main = fileURLToPath(new URL('../dist-test/fd-main.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'troupe-fd-'))
afterAll(() => rmSync(folder, { recursive: true }))

let fifos = 0
/** Both ends of a pipe. */
function fifo(): { readonly reading: number; readonly writing: number } {
  const path = join(folder, `fifo-${++fifos}`)
  execFileSync('mkfifo', [path])
  const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return { reading, writing: openSync(path, 'w') }
}
function isOpen(fd: number): boolean {
  try {
    fstatSync(fd)
    return true
  } catch {
    return false
  }
}

describe('a program that adopts what it was started with', () => {
  const run = (fd: number, stdio: StdioOptions): ChildProcess => spawn(process.execPath, [main, String(fd)], { stdio })

  test('talks over a pair of local sockets', async () => {
    const child = run(3, ['ignore', 'pipe', 'inherit', 'pipe'])
    const line = child.stdio[3] as Duplex
    line.end('hello, world')
    expect(await text(line)).toBe('HELLO, WORLD')
    expect(await text(child.stdout!)).toBe('closed: ended\n')
  })

  test('talks over a TCP connection that another process accepted', async () => {
    const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = connect((server.address() as { port: number }).port, '127.0.0.1')
    const [accepted] = (await once(server, 'connection')) as [Socket]
    const child = run(3, ['ignore', 'pipe', 'inherit', accepted])
    await once(child, 'spawn')
    accepted.destroy()
    client.end('by tcp')
    expect(await text(client)).toBe('BY TCP')
    expect(await text(child.stdout!)).toBe('closed: ended\n')
    server.close()
  })

  test.skipIf(!existsSync('/usr/bin/script'))('reads and writes its terminal', async () => {
    const child = spawn('/usr/bin/script', ['-qec', `"${process.execPath}" "${main}" 0`, '/dev/null'])
    let shown = ''
    let errors = ''
    child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    child.stdin.write('to the terminal.\n')
    await until(() => shown.includes('INAL.'))
    // The terminal ends with its input, and the program with the terminal. Killed, `script` would wait for two seconds and say so.
    child.stdin.end()
    await once(child, 'close')
    expect(errors).toBe('')
    // Whatever the terminal echoes is in small letters.
    expect(shown.replaceAll(/[^A-Z]/g, '')).toBe('TOTHETERMINAL')
  })
})

test('the ends of a pipe are told by what they can do, and closed with their actors', () =>
  leakless(async () => {
    const system = hostSystem()
    const { reading, writing } = fifo()
    const owner = inbox<ReadinessEvent>(system)
    const reader = system.spawn(adopt(reading, { owner: owner.ref, interest: ['readable', 'closed'] }))
    const writer = system.spawn(adopt(writing, { owner: owner.ref, interest: ['writable'] }))
    expect((await owner.next('writable')).connection).toBe(writer)
    writer.tell({ type: 'write', data: 'through the pipe' })
    expect((await owner.next('readable')).connection).toBe(reader)
    expect(await reader.ask({ type: 'read', n: 7 })).toEqual({ type: 'bytes', chunk: Buffer.from('through') })
    await owner.next('readable')
    expect(await reader.ask({ type: 'read' })).toEqual({ type: 'bytes', chunk: Buffer.from(' the pipe') })
    expect(await reader.ask({ type: 'read' })).toEqual({ type: 'nothing' })
    writer.stop()
    // The writing end is closed, which is the end for the reading one.
    await owner.next('readable')
    expect((await owner.next('closed')).reason).toBe('ended')
    await system.whenTerminated(reader)
    await until(() => !isOpen(reading) && !isOpen(writing))
    await system.shutdown()
  }))

test('without `readable` or `writable` a descriptor is read, and told as any connection', () =>
  leakless(async () => {
    const system = hostSystem()
    const { reading, writing } = fifo()
    const owner = inbox<ConnectionEvent>(system)
    system.spawn(adopt(reading, { owner: owner.ref }))
    // The writing end has nobody to hear: it is not taken for one whose peer has ended.
    const writer = system.spawn(adopt(writing, { owner: owner.ref }))
    writer.tell({ type: 'write', data: 'one' })
    expect((await owner.next('data')).chunk.toString()).toBe('one')
    writer.tell({ type: 'write', data: 'two' })
    expect((await owner.next('data')).chunk.toString()).toBe('two')
    expect(owner.seen).toEqual([])
    writer.tell({ type: 'end' })
    await owner.next('half-closed')
    await Promise.all([owner.next('closed'), owner.next('closed')])
    await system.shutdown()
  }))

describe('is refused, with what to use instead', () => {
  const owner = { tell: () => {} } as unknown as ActorRef<never>
  const refusal = (fd: unknown, interest: readonly string[] = ['readable']): unknown => {
    try {
      adopt(fd as number, { owner, interest } as never)
    } catch (cause) {
      return cause
    }
    return undefined
  }
  test.each<[string, () => number, RegExp]>([
    ['a file', () => openSync(main, 'r'), /file\.read/],
    ['a directory', () => openSync(folder, 'r'), /file\.watch/],
    ['a device without a stream', () => openSync('/dev/null', 'r'), /sockets, pipes and terminals/],
  ])('%s', (_what, open, remedy) => {
    const fd = open()
    expect(refusal(fd)).toMatchObject({ code: 'invalid-option', option: 'fd', message: expect.stringMatching(remedy) as unknown })
    // It was not taken.
    expect(isOpen(fd)).toBe(true)
    closeSync(fd)
  })
  test('a socket for datagrams', async () => {
    const socket = createSocket('udp4')
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    // Node does not publish the descriptor of such a socket, and warns about `_handle`.
    const state = Object.getOwnPropertySymbols(socket).find((key) => key.description === 'state symbol')!
    const { fd } = (Reflect.get(socket, state) as { handle: { fd: number } }).handle
    expect(refusal(fd)).toMatchObject({ code: 'invalid-option', message: expect.stringContaining('udp.bind') as unknown })
    socket.close()
  })
  // Only Linux says which way a pipe goes.
  test.skipIf(!existsSync('/proc/self/fdinfo'))('the wrong end of a pipe', () => {
    const { reading, writing } = fifo()
    expect(refusal(writing)).toMatchObject({ code: 'invalid-option', message: expect.stringContaining('only be written') as unknown })
    expect(refusal(writing, ['data'])).toMatchObject({ code: 'invalid-option' })
    expect(refusal(reading, ['writable'])).toMatchObject({ code: 'invalid-option', message: expect.stringContaining('only be read') as unknown })
    closeSync(reading)
    closeSync(writing)
  })
  test.each([-1, 1.5, Number.NaN, Infinity, 2 ** 31, 1_000_000])('%d, which is no open descriptor', (fd) => {
    expect(refusal(fd)).toMatchObject({ code: 'invalid-option', option: 'fd' })
  })
})

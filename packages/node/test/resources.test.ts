import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { PassThrough } from 'node:stream'
import {
  childProcess,
  type ConnectionEvent,
  file,
  type LineEvent,
  type OsSignal,
  osSignals,
  type ProcessEvent,
  stdinLines,
  udp,
  type UdpEvent,
  type WatchEvent,
} from '@troupe/node'
import { receive, same } from '@troupe/core'
import { expect, test } from 'vitest'
import { scriptArguments } from '../../core/test/script.ts'
import { hostSystem, inbox, leakless, until } from './inbox.ts'

function folder(): { readonly path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), 'troupe-io-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

test('datagrams go both ways, and the socket closes with its owner', () =>
  leakless(async () => {
    const system = hostSystem()
    const [a, b] = [inbox<UdpEvent>(system), inbox<UdpEvent>(system)]
    const left = system.spawn(udp.bind({ owner: a.ref }))
    const right = system.spawn(udp.bind({ owner: b.ref }))
    const { port } = (await right.ask({ type: 'address' })) as { port: number }
    left.tell({ type: 'send', data: 'ping', port })
    const { data, from } = await b.next('datagram')
    expect(data.toString()).toBe('ping')
    right.tell({ type: 'send', data: 'pong', port: from.port })
    expect((await a.next('datagram')).data.toString()).toBe('pong')
    left.tell({ type: 'close' })
    await a.next('closed')
    b.ref.stop()
    await system.whenTerminated(right)
    await system.shutdown()
  }))

test('datagrams beyond the credits are dropped and told', () =>
  leakless(async () => {
    const system = hostSystem()
    const b = inbox<UdpEvent>(system)
    const target = system.spawn(udp.bind({ owner: b.ref, credits: 2 }))
    const { port } = (await target.ask({ type: 'address' })) as { port: number }
    system.suspend(b.ref, 'busy')
    const a = inbox<UdpEvent>(system)
    const sender = system.spawn(udp.bind({ owner: a.ref }))
    await a.next('bound')
    for (let i = 0; i < 10; i++) sender.tell({ type: 'send', data: String(i), port })
    for (let i = 0; i < 100; i++) await new Promise((resolve) => setImmediate(resolve))
    system.resume(b.ref)
    const { count } = await b.next('datagrams-dropped')
    expect(count).toBe(8)
    expect(b.seen.filter((m) => m.type === 'datagram').length).toBe(2)
    await system.shutdown()
  }))

test('a port in use is an error with its code', () =>
  leakless(async () => {
    const system = hostSystem()
    const [a, b] = [inbox<UdpEvent>(system), inbox<UdpEvent>(system)]
    system.spawn(udp.bind({ owner: a.ref }))
    const { address } = await a.next('bound')
    const second = system.spawn(udp.bind({ owner: b.ref, port: address.port }))
    expect((await b.next('error')).code).toBe('EADDRINUSE')
    await system.whenTerminated(second)
    await system.shutdown()
  }))

test('a file is read in chunks, then closed', () =>
  leakless(async () => {
    using dir = folder()
    const path = join(dir.path, 'a.txt')
    writeFileSync(path, 'x'.repeat(200_000))
    const system = hostSystem()
    let size = 0
    const done = new Promise<string>((resolve) => {
      const owner = system.spawn(
        receive<ConnectionEvent>((_ctx, m) => {
          if (m.type === 'data') size += m.chunk.length
          if (m.type === 'closed') resolve(m.reason)
          return same
        }),
      )
      system.spawn(file.read(path, { owner, credits: 1, chunkSize: 1000 }))
    })
    expect(await done).toBe('ended')
    expect(size).toBe(200_000)
    await system.shutdown()
  }))

test('a missing file is an error with its code; unowned, it fails the actor', () =>
  leakless(async () => {
    using dir = folder()
    const system = hostSystem()
    const owner = inbox<ConnectionEvent>(system)
    system.spawn(file.read(join(dir.path, 'none'), { owner: owner.ref }))
    const { code, error } = await owner.next('error')
    expect(code).toBe('ENOENT')
    expect(error.message).toMatch(/^Cannot read .*none/)
    const careless = inbox<ConnectionEvent>(system, ['error'])
    const actor = system.spawn(file.read(join(dir.path, 'none'), { owner: careless.ref }), { supervision: 'stop' })
    expect((await system.whenTerminated(actor)).reason).toBe('failure')
    await system.shutdown()
  }))

test('append writes in order, flush tells when it has left, and a stop loses nothing', () =>
  leakless(async () => {
    using dir = folder()
    const path = join(dir.path, 'log')
    const system = hostSystem()
    const log = system.spawn(file.append(path))
    log.tell({ type: 'write', data: 'one\n' })
    await log.ask({ type: 'flush' })
    expect(readFileSync(path, 'utf8')).toBe('one\n')
    for (let i = 0; i < 1000; i++) log.tell({ type: 'write', data: `${i}\n` })
    log.stop({ after: 'queued' })
    await system.whenTerminated(log)
    await system.shutdown()
    await until(() => readFileSync(path, 'utf8').split('\n').length === 1002)
  }))

test('lines of a file arrive one by one, with the last that has no end', () =>
  leakless(async () => {
    using dir = folder()
    const path = join(dir.path, 'lines')
    writeFileSync(path, Array.from({ length: 5000 }, (_, i) => `line ${i}`).join('\n'))
    const system = hostSystem()
    const lines: string[] = []
    await new Promise<void>((resolve) => {
      const owner = system.spawn(
        receive<LineEvent>((_ctx, m) => {
          if (m.type === 'line') lines.push(m.line)
          if (m.type === 'lines-ended') resolve()
          return same
        }),
      )
      system.spawn(file.lines(path, { owner, credits: 10 }))
    })
    expect(lines.length).toBe(5000)
    expect(lines[4999]).toBe('line 4999')
    await system.shutdown()
  }))

test('standard input is a stream of lines, paused while its owner is behind', () =>
  leakless(async () => {
    const system = hostSystem()
    const input = new PassThrough()
    const owner = inbox<LineEvent>(system)
    system.spawn(stdinLines({ owner: owner.ref, input, credits: 2 }))
    system.suspend(owner.ref, 'busy')
    input.write('a\nb\n')
    await until(() => input.isPaused())
    input.end('c')
    system.resume(owner.ref)
    await owner.next('lines-ended')
    expect(owner.seen.map((m) => (m.type === 'line' ? m.line : m.type))).toEqual(['a', 'b', 'c'])
    await system.shutdown()
  }))

test('a watched folder tells of changes, a burst as one', () =>
  leakless(async () => {
    using dir = folder()
    const path = join(dir.path, 'seen')
    writeFileSync(path, '')
    const system = hostSystem()
    const owner = inbox<WatchEvent>(system)
    const watcher = system.spawn(file.watch(dir.path, { owner: owner.ref }))
    await system.started(watcher)
    system.suspend(owner.ref, 'busy')
    for (let i = 0; i < 50; i++) appendFileSync(path, 'x')
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
    system.resume(owner.ref)
    expect((await owner.next('changed')).name).toBe('seen')
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
    expect(owner.seen.length).toBeLessThan(5)
    await system.shutdown()
  }))

test('watching what is not there is an error with its code', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<WatchEvent>(system)
    const watcher = system.spawn(file.watch('/no/such/folder', { owner: owner.ref }))
    expect((await owner.next('error')).code).toBe('ENOENT')
    await system.whenTerminated(watcher)
    await system.shutdown()
  }))

test('a child process hears its input, tells its output, and its exit last', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<ProcessEvent>(system)
    const code = 'process.stdin.pipe(process.stdout); process.stdin.on("end", () => { process.stderr.write("bye"); process.exitCode = 3 })'
    const child = system.spawn(childProcess(process.execPath, { args: ['-e', code], owner: owner.ref }))
    expect((await owner.next('started')).pid).toBeGreaterThan(0)
    child.tell({ type: 'write', data: 'hello' })
    expect((await owner.next('stdout')).chunk.toString()).toBe('hello')
    child.tell({ type: 'end' })
    const exited = await owner.next('exited')
    expect(exited.code).toBe(3)
    expect(owner.seen.map((m) => (m.type === 'stderr' ? m.chunk.toString() : m.type))).toEqual(['bye'])
    expect((await system.whenTerminated(child)).reason).toBe('normal')
    await system.shutdown()
  }))

test('a command that is not there is an error with its code', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<ProcessEvent>(system)
    const child = system.spawn(childProcess('no-such-command', { owner: owner.ref }))
    expect((await owner.next('error')).code).toBe('ENOENT')
    await system.whenTerminated(child)
    await system.shutdown()
  }))

test('a child that ignores SIGTERM is killed after its time when its actor stops', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<ProcessEvent>(system)
    const code = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); process.stdout.write("up")'
    system.spawn(childProcess(process.execPath, { args: ['-e', code], owner: owner.ref, killAfter: 20 }))
    const { pid } = await owner.next('started')
    await owner.next('stdout')
    await system.shutdown()
    const alive = (): boolean => spawnSync('kill', ['-0', String(pid)]).status === 0
    await until(() => !alive())
  }))

test('a child that floods its output is held while its owner is behind', () =>
  leakless(async () => {
    const system = hostSystem()
    const owner = inbox<ProcessEvent>(system)
    const code = 'const b = Buffer.alloc(65536); const go = () => { while (process.stdout.write(b)); process.stdout.once("drain", go) }; go()'
    const child = system.spawn(childProcess(process.execPath, { args: ['-e', code], owner: owner.ref, credits: 4, killAfter: 100 }))
    await owner.next('stdout')
    system.suspend(owner.ref, 'busy')
    for (let i = 0; i < 300; i++) await new Promise((resolve) => setImmediate(resolve))
    const { queued } = await system.ledger()
    expect(queued).toBeLessThanOrEqual(5)
    system.resume(owner.ref)
    await owner.next('stdout')
    child.stop()
    await system.whenTerminated(child)
    await system.shutdown()
  }))

test('signals of the operating system are told, and their handler goes with the actor', () =>
  leakless(async () => {
    const before = process.listenerCount('SIGUSR2')
    const system = hostSystem()
    const owner = inbox<OsSignal>(system)
    const actor = system.spawn(osSignals({ signals: ['SIGUSR2'], owner: owner.ref }))
    await system.started(actor)
    process.kill(process.pid, 'SIGUSR2')
    expect((await owner.next('os-signal')).signal).toBe('SIGUSR2')
    await system.shutdown()
    expect(process.listenerCount('SIGUSR2')).toBe(before)
  }))

test('SIGTERM shuts the system down gracefully, messages drained', async () => {
  const { spawn } = await import('node:child_process')
  const core = new URL('../../core/dist/index.js', import.meta.url).href
  const io = new URL('../dist/index.js', import.meta.url).href
  const code = `
    const { ActorSystem, receive, same } = await import(${JSON.stringify(core)})
    const { osSignals } = await import(${JSON.stringify(io)})
    const system = ActorSystem.create('term')
    const worker = system.spawn(receive(async (ctx, n) => { await null; if (n === 99) console.log('drained'); return same }, (_c, s) => { if (s.type === 'PostStop') console.log('stopped'); return same }))
    await system.started(system.spawn(osSignals({ shutdown: system })))
    // Before the listener that shuts the system down: what is told after that is a dead letter.
    process.prependListener('SIGTERM', () => { for (let i = 0; i < 100; i++) worker.tell(i) })
    console.log('up')
  `
  const child = spawn(process.execPath, scriptArguments(code), { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
    if (out === 'up\n') child.kill('SIGTERM')
  })
  // Closed, not just ended: what it printed has come by then.
  const [exit] = (await once(child, 'close')) as [number | null]
  expect(errors).toBe('')
  expect(exit).toBe(0)
  expect(out).toBe('up\ndrained\nstopped\n')
})

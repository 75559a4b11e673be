// The socket: where it is, who may open it, what can be asked, and that no client hurts the process whatever it sends.

import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ActorSystem, type ActorRef, entities, NotAllowed, receive, same, setup } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { attach, type Attached, listSystems, observe, observerOf, type Observer, type Watched } from '@troupe/observer'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDirectory, socketPath } from '../src/attach/directory.ts'

let folder: string
const systems: ActorSystem[] = []
const clients: { close(): void }[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tr-'))
  process.env['TROUPE_RUNTIME_DIR'] = folder
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.close()
  for (const system of systems.splice(0)) await system.shutdown()
  delete process.env['TROUPE_RUNTIME_DIR']
  rmSync(folder, { recursive: true, force: true })
})

async function opened(every = 100): Promise<{ readonly system: ActorSystem; readonly observer: Observer }> {
  const system = ActorSystem.create('shop', { logger: false, keepAlive: false })
  systems.push(system)
  const observer = observe(system, { every })
  await observer.ready
  return { system, observer }
}
async function attached(): Promise<Attached> {
  const client = await attach(listSystems()[0]!)
  clients.push(client)
  return client
}
async function first(of: AsyncIterable<Watched>, is: (told: Watched) => boolean): Promise<Watched> {
  for await (const told of of) if (is(told)) return told
  throw new Error('it ended')
}
/** A client that says what it likes; what came back, once the other side has closed or `until` holds. */
function raw(observer: Observer): { readonly socket: Socket; readonly heard: () => string; readonly closed: Promise<void> } {
  const socket = connect(observer.socket!)
  clients.push({ close: () => socket.destroy() })
  let text = ''
  socket.setEncoding('utf8')
  socket.on('data', (more: string) => (text += more))
  socket.on('error', () => {})
  return { socket, heard: () => text, closed: new Promise((resolve) => socket.once('close', () => resolve())) }
}
async function until(is: () => boolean): Promise<void> {
  const end = performance.now() + 30_000
  while (!is()) {
    if (performance.now() > end) throw new Error('never came about')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('where it is', () => {
  test('socket and descriptor are files of mine alone, in a directory of mine alone, and are gone with the system', async () => {
    const { system, observer } = await opened()
    expect(lstatSync(folder).mode & 0o077).toBe(0)
    expect(lstatSync(observer.socket!).mode & 0o077).toBe(0)
    expect(readdirSync(folder).toSorted()).toEqual([`${process.pid}-${system.id}.json`, `${process.pid}-${system.id}.sock`])
    expect(listSystems()).toMatchObject([{ system: 'shop', pid: process.pid, socket: observer.socket, protocol: 1 }])
    await system.shutdown()
    await until(() => readdirSync(folder).length === 0)
    expect(listSystems()).toEqual([])
  })

  test('whoever lists what is not there makes nothing', () => {
    const missing = join(folder, 'missing')
    expect(listSystems(missing)).toEqual([])
    expect(existsSync(missing)).toBe(false)
  })

  test('a directory that is not mine, or is a link, is refused; one that others may open is closed to them', () => {
    const real = join(folder, 'real')
    mkdirSync(real, { mode: 0o755 })
    symlinkSync(real, join(folder, 'link'))
    expect(() => openDirectory(join(folder, 'link'))).toThrow(/not a directory of yours/)
    openDirectory(real)
    expect(lstatSync(real).mode & 0o077).toBe(0)
  })

  test('a path that is too long for a socket is refused with what to do', () => {
    expect(() => socketPath(`/${'x'.repeat(120)}`, 1, 1)).toThrow(/TROUPE_RUNTIME_DIR/)
  })

  test('what a killed process left is cleared away, and what is no descriptor is not believed', async () => {
    await opened()
    // No process has this number: it is beyond what the system gives.
    const dead = { protocol: 1, system: 'gone', id: 1, pid: 2 ** 30, socket: join(folder, `${2 ** 30}-1.sock`), since: '2020-01-01', program: 'x' }
    writeFileSync(join(folder, `${2 ** 30}-1.json`), JSON.stringify(dead))
    writeFileSync(dead.socket, '')
    writeFileSync(join(folder, '1-1.json'), '{ "protocol": 1, "pid": "x" }')
    writeFileSync(join(folder, '1-2.json'), 'nothing')
    expect(listSystems().map((d) => d.system)).toEqual(['shop'])
    expect(existsSync(dead.socket)).toBe(false)
  })

  test('whoever waits until others can attach is told where the system ends first', async () => {
    const system = ActorSystem.create('brief', { logger: false })
    const observer = observe(system)
    await Promise.all([observer.close(), expect(observer.ready).rejects.toThrow(NotAllowed)])
    await system.shutdown()
  })

  test('a system is observed once, and can be observed again afterwards', async () => {
    const { system, observer } = await opened()
    expect(() => observe(system)).toThrow(/observed already/)
    await observer.close()
    const again = observe(system)
    await again.ready
    expect(listSystems()).toHaveLength(1)
    await again.close()
  })

  test('whoever is given a system gets the observer that it has, whoever made it, and who observes once more is told so', async () => {
    const { system, observer } = await opened()
    expect(observerOf(system)).toBe(observer)
    expect(() => observe(system)).toThrow(/observerOf\(system\)/)
    await observer.close()
    expect(observerOf(system)).toBeUndefined()
    const again = observe(system, { socket: false })
    // Closing twice takes nothing from the one after it.
    await observer.close()
    expect(observerOf(system)).toBe(again)
    await system.shutdown()
    await until(() => observerOf(system) === undefined)
  })

  test('an observer that could not be made, because there is no room for its socket, is not in the way of another', () => {
    const system = ActorSystem.create('shop', { logger: false, keepAlive: false })
    systems.push(system)
    process.env['TROUPE_RUNTIME_DIR'] = join(folder, 'x'.repeat(200))
    expect(() => observe(system)).toThrow(/too long/)
    expect(observerOf(system)).toBeUndefined()
    expect(observerOf(system) ?? observe(system, { socket: false })).toBe(observerOf(system))
  })

  test('an observer that was closed is kept by nobody while the system lives', async () => {
    const system = ActorSystem.create('shop', { logger: false, keepAlive: false })
    systems.push(system)
    const once = async (): Promise<WeakRef<object>> => {
      const observer = observe(system, { socket: false, every: 100 })
      await new Promise<void>((resolve) => observer.source.subscribe(() => resolve()))
      await observer.close()
      return new WeakRef(observer.source)
    }
    const closed = [await once(), await once()]
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    await until(() => (collect(), closed.every((one) => one.deref() === undefined)))
    expect(system.phase).toBe('open')
  })
})

describe('what can be asked', () => {
  test('greeting, tree, one actor, who waits, dead letters, failures', async () => {
    const { system } = await opened()
    type Work = { type: 'work'; replyTo?: ActorRef<string> }
    const worker = system.spawn(
      receive<Work>(() => new Promise<never>(() => {})),
      { name: 'worker', stopTimeout: 0 },
    )
    worker.tell({ type: 'work' })
    worker.ask({ type: 'work' } as never, { timeout: 60_000 }).catch(() => {})
    const gone = system.spawn(
      receive<string>(() => same),
      { name: 'gone' },
    )
    gone.stop()
    await system.whenTerminated(gone)
    gone.tell('late')
    const client = await attached()
    expect(await client.ask('hello')).toMatchObject({ protocol: 1, system: 'shop', pid: process.pid, metrics: { active: 1 } })
    expect(await client.ask('tree')).toMatchObject({ path: '/user', children: [{ name: 'worker', queued: 1, pending: { what: 'work' } }] })
    expect(await client.ask('inspect', { path: '/user/worker' })).toMatchObject({
      kind: 'worker',
      queued: 1,
      childCount: 0,
      waits: [{ state: 'queued' }],
    })
    expect(await client.ask('inspect', { path: '/user/nobody' })).toBeNull()
    expect(await client.ask('waits')).toMatchObject([{ targetPath: '/user/worker', type: 'work', state: 'queued' }])
    expect(await client.ask('dead')).toMatchObject({ count: 1, letters: [{ recipient: '/user/gone', reason: 'stopped' }] })
    expect(await client.ask('failures')).toMatchObject({ count: 0 })
    system.kill(worker)
  })

  test('an entity is known by its key, which takes nothing until somebody looks', async () => {
    const { system } = await opened()
    const rooms = system.spawn(
      entities<string>({
        keyOf: (m) => m,
        create: (key) =>
          setup((ctx) => {
            if (key === 'attic') ctx.label('under the roof')
            return receive<string>(() => new Promise<never>(() => {}))
          }),
        idle: 60_000,
        options: { stopTimeout: 0 },
      }),
      { name: 'rooms' },
    )
    rooms.tell('hall')
    rooms.tell('attic')
    const client = await attached()
    await until(() => [...system.children].length === 1 && system.metrics().active === 3)
    const tree = await client.ask('tree', { path: '/user/rooms' })
    const labels = new Set(tree!.children.map(({ label }) => label))
    expect([tree!.label, labels]).toEqual([undefined, new Set(['hall', 'under the roof'])])
    const hall = tree!.children.find(({ label }) => label === 'hall')!
    expect(hall.name).toMatch(/^\$/)
    expect((await client.ask('inspect', { path: hall.path }))!.label).toBe('hall')
    const { rows } = await first(client.watch({ rows: 10 }), (told) => told.rows.length >= 2)
    expect(rows.find(({ path }) => path === hall.path)!.label).toBe('hall')
  })

  test('a watch tells of rounds with the first actors, findings and events, and what nobody watches is not armed', async () => {
    const { system } = await opened()
    const core = coreOf(system)
    const failing = system.spawn(
      receive<string>(() => {
        throw new Error('broken')
      }),
      { name: 'failing' },
    )
    const client = await attached()
    const watch = client.watch({ rows: 5 })
    // Events come with every round, rows with those that looked at actors.
    const paths = new Set<string>()
    const events: Watched['events'][number][] = []
    await first(watch, (told) => {
      if (told.seq === 1) failing.tell('x')
      for (const { path } of told.rows) paths.add(path)
      events.push(...told.events)
      return paths.has('/user/failing') && events.some((event) => event.type === 'actor.failed')
    })
    expect(events.find((event) => event.type === 'actor.failed')).toMatchObject({ path: '/user/failing', cause: 'broken', directive: 'restart' })
    await until(() => core.stirred === undefined)
    expect(system.metrics().subscriptions).toBe(0)
  })

  test('a client that goes without a word leaves nothing armed', async () => {
    const { system, observer } = await opened()
    const { socket, heard } = raw(observer)
    socket.write('{"id":1,"op":"watch","rows":3}\n')
    await until(() => heard().includes('"seq":1'))
    expect(coreOf(system).stirred).toBeDefined()
    socket.destroy()
    await until(() => coreOf(system).stirred === undefined)
  })

  test('no payload leaves the process: neither messages nor what errors carry', async () => {
    const { system } = await opened()
    const secret = 'hunter2'
    const ref = system.spawn(
      receive<{ type: string; password: string }>((_ctx, m) => {
        throw Object.assign(new Error('broken'), { password: m.password })
      }),
      { name: 'vault' },
    )
    ref.tell({ type: 'login', password: secret })
    await until(() => system.failures.count === 1)
    system.stop(ref)
    await system.whenTerminated(ref)
    ref.tell({ type: 'login', password: secret })
    const client = await attached()
    const all = [
      await client.ask('hello'),
      await client.ask('tree'),
      await client.ask('dead'),
      await client.ask('failures'),
      await client.ask('waits'),
    ]
    expect(JSON.stringify(all)).not.toContain(secret)
    expect(JSON.stringify(all)).toContain('login')
  })
})

describe('hostile clients', () => {
  test.each([
    ['what is not JSON', 'GET / HTTP/1.1\r\n\r\n', 'bad-line'],
    ['a line without an end', 'x'.repeat(200_000), 'bad-line'],
    ['a long line', `${JSON.stringify({ id: 1, op: 'hello', x: 'x'.repeat(100_000) })}\n`, 'bad-line'],
    ['no object', '17\n', 'bad-request'],
    ['null', 'null\n', 'bad-request'],
    ['a list', '[1,2]\n', 'bad-request'],
    ['no id', '{"op":"hello"}\n', 'bad-request'],
    ['an id that is a text', '{"id":"1","op":"hello"}\n', 'bad-request'],
    ['an unknown op', '{"id":1,"op":"eval"}\n', 'unknown-op'],
    ['an op of every object', '{"id":1,"op":"constructor"}\n', 'unknown-op'],
    ['a prototype', '{"id":1,"op":"__proto__"}\n', 'unknown-op'],
    ['a path that is no text', '{"id":1,"op":"inspect","path":{}}\n', 'bad-request'],
    ['a huge depth', '{"id":1,"op":"tree","depth":1e9}\n', 'bad-request'],
    ['a negative limit', '{"id":1,"op":"dead","limit":-1}\n', 'bad-request'],
    ['rows without end', '{"id":1,"op":"watch","rows":1e12}\n', 'bad-request'],
    ['an order that there is not', '{"id":1,"op":"watch","by":"password"}\n', 'bad-request'],
  ])('%s is refused, and the process goes on', async (_what, text, code) => {
    const { system, observer } = await opened()
    const { socket, heard } = raw(observer)
    socket.write(text)
    await until(() => heard().includes(code))
    const client = await attached()
    expect(await client.ask('hello')).toMatchObject({ system: 'shop' })
    expect(system.phase).toBe('open')
  })

  test('more requests at once than are allowed are refused, and those before them answered', async () => {
    const { observer } = await opened(60_000)
    const { socket, heard } = raw(observer)
    for (let id = 1; id <= 20; id++) socket.write(`{"id":${id},"op":"watch"}\n`)
    await until(() => heard().split('too-many').length - 1 === 12)
    expect(heard()).toContain('"id":20')
  })

  test('more clients than are allowed are turned away', async () => {
    const { observer } = await opened()
    const all = Array.from({ length: 20 }, () => raw(observer))
    await Promise.race(all.slice(-1).map(({ closed }) => closed))
    const client = all[0]!
    client.socket.write('{"id":1,"op":"hello"}\n')
    await until(() => client.heard().includes('"shop"'))
  })

  test('a client that watches and does not read is not kept in memory, and is told that it missed some', async () => {
    const { system, observer } = await opened(100)
    // Long names, so that a round is large. They change in every round, but leave the thread to others.
    for (let i = 0; i < 400; i++)
      system.spawn(
        setup<string>((ctx) => {
          ctx.timers.every('again', 50, 'again')
          return receive(() => same)
        }),
        { name: `a${'x'.repeat(240)}${i}` },
      )
    const { socket, heard } = raw(observer)
    socket.write('{"id":1,"op":"watch","rows":400}\n')
    socket.pause()
    await until(() => observer.source.onlookers === 1)
    const before = observer.source
    // Until rounds were left out; what waits for the client stays bounded.
    let rounds = 0
    const count = before.subscribe(() => void rounds++)
    await until(() => rounds >= 12)
    socket.resume()
    await until(() => /"skipped":[1-9]/.test(heard()))
    count()
    for (const child of system.children) system.kill(child)
  })

  test('names of actors come as text, whatever is in them', async () => {
    const { system } = await opened()
    const name = '<img src=x onerror=alert(1)>\u001B[2J'
    try {
      system.spawn(
        receive<string>(() => same),
        { name },
      )
    } catch {
      system.spawn(
        receive<string>(() => same),
        { name: '<img>' },
      )
    }
    const client = await attached()
    const tree = await client.ask('tree')
    expect(tree!.children).toHaveLength(1)
  })
})

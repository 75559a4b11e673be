// What the page is told, without a browser: rounds and cells in a stream, lists in parts, one actor in words; and that nothing is looked at
// when nobody looks.

import { ActorSystem, buffered, receive, same } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { threads } from '@troupe/node'
import { expect, test, vi } from 'vitest'
import { laborer } from '../../../node/dist-test/laborer.js'
import { CellField } from '../../src/feed/cells.ts'
import type { FeedFrame } from '../../src/feed/frames.ts'
import type { Lines, LinesWish } from '../../src/feed/news.ts'
import type { ActorNews, LettersNews } from '../../src/server/desk.ts'
import type { Page } from '../../src/server/page-server.ts'
import { observe } from '../../src/attach/observe.ts'
import { feed, openPage, proper, send } from './client.ts'

const sink = receive<unknown>(() => same)
const all: LinesWish = { mode: 'flat', sort: 'trouble', filter: '', offset: 0, count: 100, opened: [], closed: [], full: [] }

async function asked<T>(page: Page, path: string, body: object): Promise<T> {
  const answer = await send(page, { path, body: JSON.stringify(body) })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body}`)
  return JSON.parse(answer.body) as T
}
const rounds = (frames: readonly FeedFrame[]): Extract<FeedFrame, { kind: 'round' }>[] => frames.filter((frame) => frame.kind === 'round')

async function withPage(use: (page: Page, system: ActorSystem) => Promise<void>, options: { control?: boolean } = {}): Promise<void> {
  const system = ActorSystem.create('town', { logger: false })
  const page = await openPage(system, options)
  try {
    await use(page, system)
  } finally {
    await page.close()
    await system.shutdown()
  }
}

test('a stream begins with who it is, then tells of all actors, once, and then of what changed', () =>
  withPage(async (page, system) => {
    for (let i = 0; i < 20; i++) system.spawn(sink, { name: `a${i}` })
    const frames = await feed(page, 'overview', (got) => got.filter(({ kind }) => kind === 'cells').length >= 2)
    expect(frames[0]).toMatchObject({ kind: 'hello', hello: { system: 'town', control: false } })
    expect(rounds(frames)[0]!.round).toMatchObject({ skipped: 0, lost: 0, findings: [] })
    const cells = frames.filter((frame) => frame.kind === 'cells')
    expect(cells[0]!.cells.whole).toBe(true)
    expect(cells[0]!.cells.uids.length).toBe(20)
    expect(cells[1]!.cells.whole).toBe(false)
    expect(cells[1]!.cells.uids.length).toBeLessThan(20)
  }))

test('actors are as many in cells, in the list and on all threads as the header says, and the top is none', async () => {
  await using system = ActorSystem.create('town', { logger: false })
  threads(system, { size: 2 })
  const page = await openPage(system)
  for (let i = 0; i < 5; i++) system.spawn(sink, { name: `a${i}` }).tell('begin')
  await system.started(system.spawn(laborer(), { name: 'far', dispatcher: 'parallel' }))
  // A round goes without a thread that does not answer in time: some rounds later every count has all six, and none ever has more.
  const counts = async (view: string, countOf: (frames: readonly FeedFrame[]) => number | undefined): Promise<readonly number[]> => {
    const seen: number[] = []
    await feed(page, view, (got) => {
      const count = countOf(got)
      if (count !== undefined) seen.push(count)
      return rounds(got).length >= 3 && rounds(got).at(-1)!.round.figures.actors === 6 && count === 6
    })
    return seen
  }
  const inCells = await counts('overview', (frames) => {
    const field = new CellField()
    for (const frame of frames) if (frame.kind === 'cells') field.take(frame.cells)
    return field.size
  })
  expect(Math.max(...inCells)).toBe(6)
  const onThreads = await counts('runtime', (frames) =>
    rounds(frames)
      .at(-1)
      ?.round.runtime!.threads.reduce((sum, { actors }) => sum + actors, 0),
  )
  expect(Math.max(...onThreads)).toBe(6)
  expect((await asked<Lines>(page, '/api/lines', all)).actors).toBe(6)
})

test('only the view that is open is told of: cells, waits, flow and threads each in their own', () =>
  withPage(async (page) => {
    const once = (view: string): Promise<readonly FeedFrame[]> => feed(page, view, (got) => rounds(got).length >= 1)
    const told = await Promise.all(['actors', 'waits', 'flow', 'runtime'].map(once))
    const has = told.map((frames) => {
      const [{ round }] = rounds(frames) as [Extract<FeedFrame, { kind: 'round' }>]
      return [frames.some(({ kind }) => kind === 'cells'), round.waits !== undefined, round.flow !== undefined, round.runtime !== undefined]
    })
    expect(has).toEqual([
      [false, false, false, false],
      [false, true, false, false],
      [false, false, true, false],
      [false, false, false, true],
    ])
  }))

test('the ledger that is told adds up', () =>
  withPage(async (page, system) => {
    const ref = system.spawn(sink, { name: 'sink' })
    for (let i = 0; i < 50; i++) ref.tell(i)
    const frames = await feed(page, 'overview', (got) => rounds(got).some(({ round }) => round.ledger !== undefined))
    const { sent, ...where } = rounds(frames).find(({ round }) => round.ledger !== undefined)!.round.ledger!
    expect(Object.values(where).reduce((a, b) => a + b)).toBe(sent)
    expect(sent).toBeGreaterThanOrEqual(50)
  }))

test('nothing is looked at before a page is open, and closing the page ends it', () =>
  withPage(async (page, system) => {
    const core = coreOf(system)
    expect([core.stirred !== undefined, system.metrics().subscriptions]).toEqual([false, 0])
    await feed(page, 'overview', (got) => rounds(got).length > 0)
    expect(core.stirred !== undefined).toBe(true)
    await page.close()
    expect([core.stirred !== undefined, system.metrics().subscriptions]).toEqual([false, 0])
  }))

test('siblings beyond a few are put together in the tree, and shown when they are asked for', () =>
  withPage(async (page, system) => {
    const parent = system.spawn(
      receive<string>((ctx) => {
        for (let i = 0; i < 30; i++) ctx.spawn(sink, { name: `child-${i}` })
        return same
      }),
      { name: 'parent' },
    )
    parent.tell('go')
    const end = feed(page, 'actors', (got) => rounds(got).length >= 2)
    await feed(page, 'actors', (got) => rounds(got).length >= 1)
    const lines = await asked<Lines>(page, '/api/lines', { ...all, mode: 'tree' })
    const more = lines.lines.find((line) => line.more !== undefined)!.more!
    expect(more).toMatchObject({ parent: parent.uid, actors: 24 })
    const full = await asked<Lines>(page, '/api/lines', { ...all, mode: 'tree', full: [parent.uid] })
    expect(full.lines.filter(({ name }) => name.startsWith('child-'))).toHaveLength(30)
    const shut = await asked<Lines>(page, '/api/lines', { ...all, mode: 'tree', closed: [parent.uid] })
    expect(shut.lines.map(({ name }) => name)).toEqual(['user', 'parent'])
    const found = await asked<Lines>(page, '/api/lines', { ...all, filter: 'CHILD-17' })
    expect(found.lines.map(({ path }) => path)).toEqual(['/user/parent/child-17'])
    await end
  }))

test('one that cannot keep up is at the top of the list, and it is said why', () =>
  withPage(async (page, system) => {
    system.spawn(sink, { name: 'fine' })
    const stuck = system.spawn(
      receive<string>(() => new Promise<never>(() => {})),
      { name: 'stuck', stopTimeout: 0 },
    )
    for (let i = 0; i < 150; i++) stuck.tell('work')
    await feed(page, 'actors', (got) => rounds(got).length >= 1)
    const { lines } = await asked<Lines>(page, '/api/lines', all)
    expect(lines[0]).toMatchObject({ name: 'stuck', queued: 149, state: 2 })
    const news = await asked<ActorNews>(page, '/api/actor', { uid: stuck.uid })
    expect(news.why[0]).toMatch(/^Its handler for .* is pending for /)
    expect(news.why.join(' ')).toContain('149 wait')
  }))

test('getters of messages, and names with HTML in them, are told as text or not at all', () =>
  withPage(async (page, system) => {
    const name = '<img src=x onerror=alert(1)>'
    const trap = {
      type: '<script>steal()</script>',
      get payload(): string {
        throw new Error('a getter was run')
      },
    }
    const gone = system.spawn(sink, { name: 'gone' })
    gone.stop()
    await system.whenTerminated(gone)
    gone.tell(trap)
    gone.tell(new Proxy({}, { get: () => name, ownKeys: () => [name] }))
    await vi.waitFor(() => expect(system.deadLetters.count).toBe(2), { timeout: 30_000 })
    const { letters } = await asked<LettersNews>(page, '/api/letters', {})
    expect(letters.map(({ message }) => message)).toEqual(['<script>steal()</script>', name])
    const answer = await send(page)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.body).not.toContain('payload')
  }))

test('where control was allowed an actor is stopped, and that is an observation', () =>
  withPage(
    async (page, system) => {
      const channel = buffered(100)
      channel.attach(system.events)
      const ref = system.spawn(sink, { name: 'victim' })
      expect(await asked(page, '/api/stop', { path: ref.path })).toEqual({ stopped: '/user/victim' })
      await system.whenTerminated(ref)
      expect(system.find('/user/victim')).toBeUndefined()
      expect(channel.drain().filter(({ type }) => type === 'control')).toMatchObject([{ verb: 'stop', by: 'the page' }])
      channel.close()
      expect((await send(page, { path: '/api/stop', body: '{"path":"/user/nobody"}', headers: proper(page) })).status).toBe(403)
    },
    { control: true },
  ))

test.each([
  [{ port: -1 }, /port is -1: use a port/],
  [{ port: 'x' }, /port is "x": use a port/],
  [{ hosts: [] }, /hosts is .*name at least one/],
  [{ hosts: ['a/b'] }, /hosts is .*use an array of names/],
  [{ control: 'yes' }, /control is "yes": use true or false/],
  [{ adress: '0.0.0.0' }, /openPage.*adress|adress.*openPage/],
  [{ address: '' }, /address is .*use an IP address/],
  [null, /options/],
])('options %j are refused', async (options, message) => {
  const system = ActorSystem.create('town', { logger: false })
  await expect(openPage(system, options as never)).rejects.toThrow(message)
  await system.shutdown()
})

test('a page that observe was asked for is there with it, and goes with it, however soon', async () => {
  const system = ActorSystem.create('town', { logger: false })
  const observer = observe(system, { socket: false, page: { hosts: ['here.example'] } })
  await observer.ready
  const page = await observer.page
  expect(page.url).toMatch(/^http:\/\/here\.example:\d+\/#.{30,}/)
  expect((await send(page)).status).toBe(200)
  await observer.close()
  await expect(send(page)).rejects.toThrow(/ECONNREFUSED|ECONNRESET|socket hang up/)
  const hasty = observe(system, { socket: false, page: true })
  await hasty.close()
  await expect(hasty.page).rejects.toThrow(/closed before its page was served/)
  expect(() => observe(system, { page: { port: 70_000 } })).toThrow(/port is 70000: use a port/)
  await system.shutdown()
})

test('when the system closes, streams end with a word and the port is free', async () => {
  const system = ActorSystem.create('town', { logger: false })
  const page = await openPage(system)
  const stream = feed(page, 'overview', (got) => got.some(({ kind }) => kind === 'end'))
  await feed(page, 'overview', (got) => rounds(got).length > 0)
  await system.shutdown()
  expect((await stream).at(-1)!.kind).toBe('end')
  await expect(send(page)).rejects.toThrow(/ECONNREFUSED|ECONNRESET|socket hang up/)
})

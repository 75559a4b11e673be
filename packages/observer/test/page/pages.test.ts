// Pages of somebody's own, what others who joined a system tell of themselves, and what a thread did by whose turn it was.

import { ActorSystem, receive, same } from '@troupe/core'
import { type Cell, coreOf } from '@troupe/core/internal'
import { expect, test } from 'vitest'
import type { FeedFrame } from '../../src/feed/frames.ts'
import { checkedParts, type TablePart } from '../../src/feed/parts.ts'
import type { ActorNews, OwnNews } from '../../src/server/desk.ts'
import { partsOfOthers } from '../../src/server/doors.ts'
import { flameOf, takeProfile } from '../../src/server/profile.ts'
import { feed, openPage, send } from './client.ts'

async function asked<T>(page: Parameters<typeof send>[0], path: string, body: object): Promise<T> {
  const answer = await send(page, { path, body: JSON.stringify(body) })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body}`)
  return JSON.parse(answer.body) as T
}

test('a page of your own is asked when it is open, tells what it was given, and says what is wrong with it', async () => {
  const system = ActorSystem.create('shop', { logger: false })
  let shown = 0
  const page = await openPage(system, {
    pages: {
      Orders: () => [
        { kind: 'figure', title: 'open', value: ++shown },
        { kind: 'table', title: 'late', columns: ['order'], rows: [['<b>1</b>']] },
      ],
      Broken: () => Promise.reject(new Error('no database')),
      Odd: () => [{ kind: 'html', html: '<script>' }] as never,
    },
  })
  try {
    const frames = await feed(page, 'own', (got) => got.some(({ kind }) => kind === 'round'))
    expect(frames[0]).toMatchObject({ kind: 'hello', hello: { pages: ['Orders', 'Broken', 'Odd'] } })
    expect(shown).toBe(0)
    const orders = await asked<OwnNews>(page, '/api/own', { title: 'Orders' })
    expect(orders).toMatchObject({
      parts: [
        { kind: 'figure', value: 1 },
        { kind: 'table', rows: [['<b>1</b>']] },
      ],
    })
    expect(await asked(page, '/api/own', { title: 'Broken' })).toEqual({ wrong: 'no database' })
    expect(await asked<{ wrong: string }>(page, '/api/own', { title: 'Odd' })).toMatchObject({
      wrong: expect.stringMatching(/neither a figure, a table nor a text/) as string,
    })
    expect((await send(page, { path: '/api/own', body: '{"title":"constructor"}' })).status).toBe(400)
  } finally {
    await page.close()
    await system.shutdown()
  }
})

test.each([
  [{ pages: { '': () => [] } }, /pages\. is/],
  [{ pages: { Orders: 7 } }, /pages\.Orders is 7: use a function/],
  [{ pages: 'x' }, /pages is "x": use an object/],
  [{ payloads: 'yes' }, /payloads is "yes": use true, false, or a function/],
])('options %j are refused', async (options, message) => {
  const system = ActorSystem.create('shop', { logger: false })
  await expect(openPage(system, options as never)).rejects.toThrow(message)
  await system.shutdown()
})

test('parts are copied field by field and cut to what fits a screen', () => {
  const trap = { kind: 'text', text: 'x'.repeat(10_000), toJSON: () => 'never' }
  const [text, table] = checkedParts([
    trap,
    { kind: 'table', title: 7, columns: Array(50).fill('c'), rows: Array.from({ length: 2000 }, () => [NaN, {}, 'a']) },
  ])
  expect(text).toEqual({ kind: 'text', title: undefined, text: `${'x'.repeat(500)}…`, tone: undefined })
  expect(table).toMatchObject({ title: '7', columns: Array(20).fill('c') })
  const { rows } = table as TablePart
  expect(rows).toHaveLength(500)
  expect(rows[0]).toEqual(['NaN', '', 'a'])
  for (const wrong of [undefined, {}, [null], [{ kind: 'figure', value: '1' }]]) expect(() => checkedParts(wrong)).toThrow(TypeError)
})

test('a cluster and journals that joined the system are shown, without their packages; what is odd there is left out', async () => {
  const system = ActorSystem.create('shop', {
    logger: false,
    extensions: [
      {
        name: 'persistence',
        open: (): object => ({
          survey: () => [
            {
              name: 'sqlite(./data/shop.db)',
              phase: 'open',
              actors: 3,
              commits: { groups: 12, latency: { p50: 2, p99: 9 } },
              circuit: { state: 'open', retryIn: 500 },
              trouble: 'disk full',
            },
          ],
        }),
      },
      {
        name: 'cluster',
        open: (): object => ({
          report: () => ({
            name: 'shops',
            heldFor: 4000,
            nodes: [{ self: true, up: true, member: { session: { node: 'a' } }, shards: { cart: 64 } }, 7, { member: null }],
          }),
        }),
      },
    ],
  })
  const parts = partsOfOthers(coreOf(system))
  expect(parts.map(({ title }) => title)).toEqual(['Nodes of shops', 'Journals', 'sqlite(./data/shop.db)'])
  expect(parts[0]).toMatchObject({ rows: [['a (this one)', '✓ up', '–', '64 cart', 0, '–'], expect.arrayContaining(['◆ down']), expect.anything()] })
  expect(parts[1]).toMatchObject({
    rows: [expect.arrayContaining(['sqlite(./data/shop.db)', '✓ open', 3, 12, '2 ms', '◆ open, tried again in 500 ms'])],
  })
  const page = await openPage(system)
  const frames = await feed(page, 'runtime', (got) => got.some(({ kind }) => kind === 'round'))
  const round = frames.find((frame): frame is Extract<FeedFrame, { kind: 'round' }> => frame.kind === 'round')
  expect(round!.round.runtime!.others).toHaveLength(3)
  await page.close()
  await system.shutdown()
  const broken = ActorSystem.create('shop', {
    logger: false,
    extensions: [
      {
        name: 'cluster',
        open: (): object => ({
          report: () => {
            throw new Error('not now')
          },
        }),
      },
    ],
  })
  expect(partsOfOthers(coreOf(broken))).toEqual([])
  await broken.shutdown()
})

test('samples of a profile are put to the actor whose turn they fell into, and machinery is left out', () => {
  const frame = (
    functionName: string,
    url: string,
  ): { functionName: string; url: string; scriptId: string; lineNumber: number; columnNumber: number } => ({
    functionName,
    url,
    scriptId: '',
    lineNumber: 4,
    columnNumber: 0,
  })
  const node = (id: number, functionName: string, url: string, children: number[] = []): object => ({
    id,
    callFrame: frame(functionName, url),
    children,
  })
  const profile = {
    nodes: [
      node(1, '(root)', '', [2, 6]),
      node(2, 'drain', 'file:///app/node_modules/@troupe/core/dist/core.js', [3]),
      node(3, 'onOrder', 'file:///app/src/orders.js', [4]),
      node(4, 'sum', 'file:///app/src/orders.js'),
      node(6, '(idle)', ''),
    ],
    startTime: 0,
    endTime: 0,
    samples: [2, 3, 4, 4, 6, 3],
    timeDeltas: [0, 1000, 1000, 1000, 1000, 1000, 1000],
  }
  const cell = (kind: string): Cell => ({ options: { kind }, ref: { path: `/user/${kind}` }, initial: undefined }) as unknown as Cell
  const log = { at: [100.5, 102.5, 104.5], who: [cell('order'), cell('bill'), undefined], full: false }
  const { flame, idle, ms } = flameOf(profile as never, log, 100)
  expect(idle).toBe(1)
  expect(ms).toBe(6)
  const said = (n: typeof flame): unknown => [n.name, n.ms, ...n.below.map(said)]
  expect(said(flame)).toEqual([
    'all',
    5,
    ['outside of turns', 2, ['drain', 2, ['onOrder', 1]]],
    ['order', 2, ['onOrder', 2, ['sum', 1]]],
    ['bill', 1, ['onOrder', 1, ['sum', 1]]],
  ])
})

test('a profile of a real system names the kind that was busy, and leaves nothing behind', async () => {
  const system = ActorSystem.create('shop', { logger: false })
  let busy = true
  const hog = system.spawn(
    receive<'go on'>((ctx, message) => {
      const until = performance.now() + 5
      while (performance.now() < until);
      if (busy) ctx.self.tell(message)
      return same
    }),
    { name: 'hog', kind: 'hog' },
  )
  const page = await openPage(system, { payloads: true })
  const frames = feed(page, 'runtime', (got) => got.filter(({ kind }) => kind === 'round').length >= 2)
  hog.tell('go on')
  const { flame } = await asked<ReturnType<typeof flameOf>>(page, '/api/profile', { ms: 400 })
  busy = false
  expect(flame.below[0]!.name).toBe('hog')
  await frames
  const news = await asked<ActorNews>(page, '/api/actor', { uid: hog.uid })
  expect(news.close).toMatchObject({ payloads: true })
  await page.close()
  expect([...coreOf(system).dispatchers.all].map(({ witness }) => witness)).toEqual([undefined])
  expect(coreOf(system).mine(hog, 'look').extras?.flight).toBeUndefined()
  await system.shutdown({ deadline: 3000 })
})

test('a second request for a profile gets the one that is being taken, and one after it a new one', async () => {
  const system = ActorSystem.create('shop', { logger: false })
  const core = coreOf(system)
  const [first, second] = [takeProfile(core, 100), takeProfile(core, 100)]
  expect(await second).toBe(await first)
  expect(await takeProfile(core, 100)).not.toBe(await first)
  await system.shutdown()
})

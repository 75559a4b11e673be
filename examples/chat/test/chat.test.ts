import { createTestKit } from '@troupe/testkit'
import type { Page } from 'playwright-core'
import { type ActorRef, ActorSystem } from '@troupe/core'
import { expect, test } from 'vitest'
import { chromium, flags } from '../../../packages/observer/test/page/chromium.ts'
import { lobby, type Lobby, type LobbyNews } from '../src/lobby.ts'
import { readBrowser, type ToBrowser } from '../src/protocol.ts'
import type { Room, RoomNews } from '../src/room.ts'
import { chat } from '../src/web.ts'

test.each([
  ['{', 'that is no JSON'],
  ['null', 'that is not a message'],
  ['{"type":"join","room":"","name":"a"}', 'a room needs a name'],
  ['{"type":"join","room":"a","name":7}', 'you need a name'],
  ['{"type":"say","text":"  "}', 'say something'],
  ['{"type":"dance"}', 'that is not a message'],
])('what a browser sends is checked: %s', (text, problem) => {
  expect(readBrowser(text)).toBe(problem)
})

function news<K extends ToBrowser['type']>(message: RoomNews | LobbyNews, type: K): Extract<ToBrowser, { type: K }> {
  expect(message.news.type).toBe(type)
  return message.news as Extract<ToBrowser, { type: K }>
}

test('people in one room hear each other; two of one name get apart', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(lobby({ sleepAfter: 1000, clock: () => 7 }))
  const [ann, bob] = [kit.probe<RoomNews>(), kit.probe<RoomNews>()]
  ref.tell({ type: 'enter', room: 'tea', name: 'Ann', visitor: ann.ref })
  ref.tell({ type: 'enter', room: 'tea', name: 'Ann', visitor: bob.ref })
  await kit.settle()
  const first = ann.expectType('news')
  expect(news(first, 'entered').people).toEqual(['Ann'])
  expect(news(ann.expectType('news'), 'people').change).toEqual({ name: 'Ann 2', came: true })
  expect(news(bob.expectType('news'), 'entered').name).toBe('Ann 2')
  first.room.tell({ type: 'say', visitor: ann.ref, text: 'hello' })
  await kit.settle()
  for (const probe of [ann, bob]) expect(news(probe.expectType('news'), 'said')).toEqual({ type: 'said', id: 1, name: 'Ann', text: 'hello', at: 7 })
  bob.ref.stop()
  await kit.settle()
  expect(news(ann.expectType('news'), 'people').people).toEqual(['Ann'])
  await kit.end()
})

test('an empty room falls asleep after its time, wakes when someone enters, and remembers what was said', async () => {
  const kit = createTestKit()
  const ref: ActorRef<Lobby> = kit.system.spawn(lobby({ sleepAfter: 1000, clock: () => 0 }), { name: 'lobby' })
  const watcher = kit.probe<LobbyNews>()
  const ann = kit.probe<RoomNews>()
  ref.tell({ type: 'look', visitor: watcher.ref })
  ref.tell({ type: 'enter', room: 'tea', name: 'Ann', visitor: ann.ref })
  await kit.settle()
  const room: ActorRef<Room> = ann.expectType('news').room
  room.tell({ type: 'say', visitor: ann.ref, text: 'remember me' })
  await kit.advance(5000)
  expect(kit.system.phaseOf(room)).toBe('running')
  room.tell({ type: 'leave', visitor: ann.ref })
  await kit.advance(999)
  expect(kit.system.phaseOf(room)).toBe('running')
  await kit.advance(1001)
  expect(kit.system.phaseOf(room)).toBe('terminated')
  expect(news(watcher.messages.at(-1)!, 'rooms').rooms).toEqual([{ name: 'tea', people: 0, awake: false }])
  const bob = kit.probe<RoomNews>()
  ref.tell({ type: 'enter', room: 'tea', name: 'Bob', visitor: bob.ref })
  await kit.settle()
  expect(news(bob.expectType('news'), 'entered').history.map((s) => s.text)).toEqual(['remember me'])
  await kit.end()
})

test('a room that someone is on the way to does not fall asleep', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(lobby({ sleepAfter: 1000, clock: () => 0 }))
  const ann = kit.probe<RoomNews>()
  ref.tell({ type: 'enter', room: 'tea', name: 'Ann', visitor: ann.ref })
  await kit.settle()
  const { room } = ann.expectType('news')
  // As if the room had said so just before the lobby sent Bob.
  ref.tell({ type: 'enter', room: 'tea', name: 'Bob', visitor: kit.probe<RoomNews>().ref })
  ref.tell({ type: 'sleepy', room: 'tea', entered: 1, history: [] })
  await kit.settle()
  expect(kit.system.phaseOf(room)).toBe('running')
  await kit.end()
})

test.skipIf(chromium === undefined)('in a browser: two tabs talk, one leaves, the room falls asleep and wakes again', async () => {
  const { chromium: driver } = await import('playwright-core')
  const system = ActorSystem.create('chat-test', { keepAlive: false, logger: false })
  const server = system.spawn(chat({ port: 0, sleepAfter: 200, clock: Date.now }))
  const { port } = await server.ask({ type: 'address' })
  const browser = await driver.launch({
    executablePath: chromium!,
    timeout: 30_000,
    args: flags,
  })
  try {
    const context = await browser.newContext({ viewport: { width: 1000, height: 640 } })
    context.setDefaultTimeout(25_000)
    const problems: string[] = []
    const open = async (name: string): Promise<Page> => {
      const page = await context.newPage()
      page.on('console', (line) => {
        if (line.type() === 'error') problems.push(line.text())
      })
      page.on('pageerror', (cause) => problems.push(cause.message))
      await page.goto(`http://127.0.0.1:${port}/`)
      await page.fill('#name', name)
      await page.fill('#room', 'tea')
      await page.click('#join button')
      await page.waitForSelector('#say:not([hidden])')
      return page
    }
    const ann = await open('Ann')
    const bob = await open('Bob')
    await ann.waitForSelector('#people li:nth-child(2)')
    await ann.fill('#text', 'Hello <b>Bob</b>')
    await ann.press('#text', 'Enter')
    await bob.waitForSelector('#talk li:not(.mine):not(.note) >> text=Hello <b>Bob</b>')
    await bob.fill('#text', 'Hello Ann! Is that you?')
    await bob.press('#text', 'Enter')
    await ann.waitForSelector('#talk li >> text=Hello Ann!')
    const shot = process.env['CHAT_SCREENSHOT']
    if (shot !== undefined) await ann.screenshot({ path: shot })
    await bob.close()
    await ann.waitForSelector('#talk .note >> text=Bob left.')
    await ann.click('#leave')
    await ann.waitForSelector('#rooms .asleep >> text=tea')
    if (shot !== undefined) await ann.screenshot({ path: shot.replace('.png', '-asleep.png') })
    await ann.click('#rooms .asleep button')
    await ann.waitForSelector('#talk li >> text=Hello Ann!')
    expect(problems).toEqual([])
  } finally {
    await browser.close()
    await system.shutdown()
  }
})

// The command as it is built, and each button by what it does: pressed in a browser where there is one, else asked for as the page does. What
// takes its time, such as a thread that hangs, takes it together. Run `npm run build` first; `npm test` does.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client, Run, type Status } from './client.ts'
import { type Hands, handsFor, Visitor } from './hands.ts'

let run: Run
let client: Client
let hands: Hands
let url = ''

beforeAll(async () => {
  run = new Run(['--drones', '1000', '--forever'])
  url = (await run.printed(/http:\S+/))[0]
  client = new Client(url)
  hands = await handsFor(client, url)
}, 180_000)
afterAll(async () => {
  run.child.kill('SIGKILL')
  await hands?.end()
})

const adds = ({ sum: { sent, delivered, inFlight, returned, lost } }: Status): void => {
  expect(lost).toBe(0)
  expect(sent).toBe(delivered + inFlight + returned)
}

test('a page is told of every drone, the key is out of the address, and the observer is a click away', async () => {
  const status = await client.until((_status, rows) => rows > 1000)
  expect(Object.values(status.drones).reduce((sum, count) => sum + count)).toBe(1000)
  adds(status)
  if (!(hands instanceof Visitor)) return
  const { page } = hands
  await page.locator('#count-stopped', { hasText: /\d/ }).waitFor()
  const counts = await page.evaluate<number[]>(
    `[...document.querySelectorAll('#legend b')].map((one) => Number(one.textContent.replaceAll(',', '')))`,
  )
  expect(counts.reduce((sum, count) => sum + count)).toBe(1000)
  expect(page.url()).not.toContain('#')
  expect(await page.locator('#observer').getAttribute('href')).toMatch(/^http:\/\/localhost:\d+\/#/)
})

test('what is wrong is refused, with what would be right', async () => {
  const refused = async (body: unknown): Promise<[number, string]> => {
    const answer = await client.post('/api/do', body)
    return [answer.status, await answer.text()]
  }
  expect(await refused({ what: 'fly' })).toEqual([400, expect.stringContaining('use one of crash, storm')])
  expect(await refused({ what: 'crash', drone: 1000 })).toEqual([400, expect.stringContaining('from 0 to 999')])
  expect(await refused({ what: 'storm', x: -1, y: 5 })).toEqual([400, expect.stringContaining('from 0 to 1600')])
  expect(await refused({ what: 'node', name: 'a' })).toEqual([400, expect.stringContaining('--cluster')])
  expect(await refused([])).toEqual([400, expect.stringContaining('what')])
  const stranger = await new Client(`${url}x`).post('/api/do', { what: 'kill' })
  expect(stranger.status).toBe(401)
})

test('a hung thread, a flood, a click, a storm and a burnt charger do what they say, and the sum holds', async () => {
  expect(await hands.press('hang')).toMatch(/^A planning thread hangs/)
  const before = await client.until(({ drones }) => drones['carrying']! > 100)
  expect(await hands.storm(800, 500)).toMatch(/threw down [1-9]\d* drones/)
  expect(await hands.press('flood')).toMatch(/^Depot \d+ got 200,000 inquiries/)
  expect(await hands.click(340, 340)).toMatch(/^Drone \d+ failed|^The charger of district/)
  expect(await client.do('charger', { district: 5 })).toMatch(/^The charger of district 5/)
  const after = await client.until(
    ({ restarts, ledger, threadsLost }) => restarts > before.restarts + 4 && ledger['dropped']! > 100_000 && threadsLost > 0,
  )
  adds(after)
  const { queued, stashed, inProgress, unhandled, sent, ...others } = after.ledger
  expect(sent).toBe(Object.values(others).reduce((sum, count) => sum + count, queued! + stashed! + inProgress! + unhandled!))
})

test('without supervision those that fail stay down until it is on again', async () => {
  expect(await hands.press('supervision', { on: false })).toMatch(/off: drones that fail stay down/)
  await hands.storm(400, 500)
  adds(await client.until(({ drones, supervised }) => !supervised && drones['stopped']! > 0))
  if (hands instanceof Visitor) {
    await hands.page.locator('[data-deed=supervision][aria-pressed=true]').waitFor()
    await hands.page.keyboard.press('s')
  } else await hands.press('supervision', { on: true })
  adds(await client.until(({ drones }) => drones['stopped'] === 0))
})

test('who accuses whom the observer names finds the saboteur', async () => {
  expect(await hands.press('hide')).toMatch(/^One of the drones holds the loop now/)
  adds(await client.until(({ game }) => game.phase === 'hidden'))
  for (let said = await hands.accuse(); !said?.startsWith('That was it'); said = await hands.accuse());
  const { game } = await client.until(({ game: { phase } }) => phase !== 'hidden')
  expect(game.phase).toBe('found')
  expect(game.who).toMatch(/^\/user\/district-\d+\/drone-\d+$/)
})

test('the process is killed by its button, and the page goes on with the next one', async () => {
  const before = await client.until(() => true)
  expect(await hands.press('kill')).toMatch(/killed with SIGKILL/)
  const again = await client.until(({ pid, sum }) => pid !== before.pid && sum.sent >= before.sum.sent)
  adds(again)
  expect(again.sum.delivered).toBeGreaterThanOrEqual(before.sum.delivered)
  if (hands instanceof Visitor) {
    await hands.page.locator('#vitals', { hasText: `process ${again.pid} ` }).waitFor()
    expect(await hands.page.locator('#down').isHidden()).toBe(true)
    expect(await hands.page.locator('#lost').innerText()).toBe('0')
  }
  expect(hands.errors).toEqual([])
})

test('a signal that comes twice at once, as npm sends it on, stops it once: it says the sum, and the ledger below it', async () => {
  run.child.kill('SIGTERM')
  run.child.kill('SIGINT')
  expect(await run.exited).toBe(0)
  expect(run.out).toMatch(/✓ parcels sent [\d,]+ = delivered [\d,]+ \+ in flight [\d,]+ \+ returned [\d,]+; lost 0\n {2}messages [\d,]+ = handled/)
})

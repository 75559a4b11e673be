// The command as it is built, and each button by what it does: without a browser, by what the page would ask; then with one, where there is
// one. Run `npm run build` first; `npm test` does.

import { type Browser, chromium as playwright, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromium, flags } from '../../../packages/observer/test/page/chromium.ts'
import { Client, Run, type Status } from './client.ts'

let run: Run
let client: Client
let url = ''

beforeAll(async () => {
  run = new Run('--drones', '1000', '--forever')
  url = (await run.printed(/http:\S+/))[0]
  client = new Client(url)
})
afterAll(() => void run.child.kill('SIGKILL'))

const adds = ({ sum: { sent, delivered, inFlight, returned, lost } }: Status): void => {
  expect(lost).toBe(0)
  expect(sent).toBe(delivered + inFlight + returned)
}

test('a page is told of every drone, and then of those that changed', async () => {
  const status = await client.until((_status, rows) => rows > 1000)
  expect(Object.values(status.drones).reduce((sum, count) => sum + count)).toBe(1000)
  adds(status)
})

test('what is wrong is refused, with what would be right', async () => {
  const refused = async (body: unknown): Promise<[number, string]> => {
    const answer = await client.post('/api/do', body)
    return [answer.status, await answer.text()]
  }
  expect(await refused({ what: 'fly' })).toEqual([400, expect.stringContaining('use one of crash, storm')])
  expect(await refused({ what: 'crash', drone: 1000 })).toEqual([400, expect.stringContaining('from 0 to 999')])
  expect(await refused({ what: 'storm', x: -1, y: 5 })).toEqual([400, expect.stringContaining('from 0 to 1600')])
  expect(await refused([])).toEqual([400, expect.stringContaining('what')])
  const stranger = await new Client(`${url}x`).post('/api/do', { what: 'kill' })
  expect(stranger.status).toBe(401)
})

test('storm, flood, supervision, hang and kill do what they say, and the sum holds', async () => {
  const before = await client.until(({ drones }) => drones['carrying']! > 100)
  expect(await client.do('storm', { x: 800, y: 500 })).toMatch(/threw down [1-9]\d* drones/)
  await client.do('flood', { district: 3 })
  await client.do('hang')
  await client.do('crash', { drone: 17 })
  await client.do('charger', { district: 5 })
  const after = await client.until(
    ({ restarts, ledger, threadsLost }) => restarts > before.restarts + 4 && ledger['dropped']! > 100_000 && threadsLost > 0,
  )
  adds(after)
  const { queued, stashed, inProgress, unhandled, sent, ...others } = after.ledger
  expect(sent).toBe(Object.values(others).reduce((sum, count) => sum + count, queued! + stashed! + inProgress! + unhandled!))

  await client.do('supervision', { on: false })
  await client.do('storm', { x: 400, y: 500 })
  adds(await client.until(({ drones, supervised }) => !supervised && drones['stopped']! > 0))
  await client.do('supervision', { on: true })
  adds(await client.until(({ drones }) => drones['stopped'] === 0))

  await client.do('hide')
  expect(await client.do('accuse', { path: '/user/district-0/drone-0' })).toMatch(/innocent|That was it/)
  adds(await client.until(({ game }) => game.phase !== 'none'))

  await client.do('kill')
  const again = await client.until(({ pid, sum }) => pid !== after.pid && sum.sent >= after.sum.sent)
  adds(again)
  expect(again.sum.delivered).toBeGreaterThanOrEqual(after.sum.delivered)
})

describe.skipIf(chromium === undefined)('in a browser', () => {
  let browser: Browser
  let page: Page
  const errors: string[] = []
  beforeAll(async () => {
    browser = await playwright.launch({ executablePath: chromium!, args: flags })
    page = await browser.newPage({ viewport: { width: 1200, height: 800 } })
    page.on('pageerror', (error) => void errors.push(error.message))
    await page.goto(url)
    await page.locator('#sent', { hasText: /\d/ }).waitFor()
  })
  afterAll(() => browser.close())
  const text = (selector: string): Promise<string> => page.locator(selector).innerText()
  const figure = async (selector: string): Promise<number> => Number((await text(selector)).replaceAll(',', ''))
  const said = (pattern: RegExp): Promise<void> => page.locator('#said', { hasText: pattern }).waitFor()
  const pressed = (deed: string, is: boolean): Promise<void> => page.locator(`[data-deed=${deed}][aria-pressed=${is}]`).waitFor()

  test('every drone is a dot, the key is out of the address, and the observer is a click away', async () => {
    await page.locator('#count-stopped', { hasText: /\d/ }).waitFor()
    const counts = await page.evaluate<number[]>(
      `[...document.querySelectorAll('#legend b')].map((one) => Number(one.textContent.replaceAll(',', '')))`,
    )
    expect(counts.reduce((sum, count) => sum + count)).toBe(1000)
    expect(page.url()).not.toContain('#')
    expect(await page.locator('#observer').getAttribute('href')).toMatch(/^http:\/\/localhost:\d+\/#/)
  })

  test('a click crashes the drone below it, a drag is a storm, and a key switches supervision', async () => {
    const at = await page.evaluate<{ left: number; top: number }>(
      `const { sky } = window.airlift; const drone = sky.nearest({ x: 340, y: 340 }, 400); sky.spot({ x: sky.xs[drone], y: sky.ys[drone] })`,
    )
    const box = (await page.locator('#sky').boundingBox())!
    await page.mouse.click(box.x + at.left, box.y + at.top)
    await said(/^Drone \d+ failed|^The charger of district/)
    await page.mouse.move(box.x + 300, box.y + 300)
    await page.mouse.down()
    await page.mouse.move(box.x + 420, box.y + 330, { steps: 6 })
    await said(/^The storm threw down/)
    await page.mouse.up()
    await page.keyboard.press('s')
    await pressed('supervision', true)
    await page.click('[data-deed=supervision]')
    await pressed('supervision', false)
  })

  test('the process is killed by its button, and the page goes on with the next one', async () => {
    const before = await figure('#delivered')
    const pid = /process (\d+)/.exec(await text('#vitals'))![1]!
    await page.click('[data-deed=kill]')
    await page.locator('#vitals', { hasText: new RegExp(`process (?!${pid} )`) }).waitFor()
    expect(await page.locator('#down').isHidden()).toBe(true)
    expect(await figure('#delivered')).toBeGreaterThanOrEqual(before)
    expect(await figure('#lost')).toBe(0)
    expect(errors).toEqual([])
  })
})

test('a signal stops it: it says the sum, and the ledger below it', async () => {
  run.child.kill('SIGINT')
  expect(await run.exited).toBe(0)
  expect(run.out).toMatch(/✓ parcels sent [\d,]+ = delivered [\d,]+ \+ in flight [\d,]+ \+ returned [\d,]+; lost 0\n {2}messages [\d,]+ = handled/)
})

test('without a page it ends by itself, with the sum', async () => {
  const short = new Run('--seconds', '2', '--headless', '--drones', '500')
  expect(await short.exited).toBe(0)
  expect(short.out).toMatch(/^500 drones fly, \d+ ms after the start\n✓ parcels sent [1-9]/)
})

// The page in a real browser, on a real system: what happens there is seen here. One browser and one system for all of it.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium as driver, type Page as Tab } from 'playwright-core'
import { ActorSystem, receive, same, supervise } from '@troupe/core'
import { threads } from '@troupe/node'
import { capsuleRecorder } from '@troupe/observer'
import { laborer } from '../../../node/dist-test/laborer.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Page } from '../../src/server/page-server.ts'
import { chromium, flags } from './chromium.ts'
import { feed, openPage } from './client.ts'
import { town, type Town } from './troubled.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const views = ['overview', 'actors', 'failures', 'waits', 'flow', 'traces', 'runtime']

describe.skipIf(chromium === undefined)('in Chromium', () => {
  let browser: Browser
  let tab: Tab
  let page: Page
  let place: Town
  const complaints: string[] = []

  beforeAll(async () => {
    place = town({ drones: 300, deadlock: true })
    page = await openPage(place.system, {
      payloads: true,
      pages: {
        Parcels: () => [
          { kind: 'figure', title: 'In the air', value: 17 },
          { kind: 'table', title: 'Districts', columns: ['name'], rows: [['<img src=x onerror=alert(2)>']] },
        ],
      },
    })
    browser = await driver.launch({ executablePath: chromium!, args: flags })
    tab = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', acceptDownloads: true })
    tab.setDefaultTimeout(15_000)
    tab.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())))
    tab.on('pageerror', (cause) => void complaints.push(cause.message))
    tab.on('dialog', (dialog) => {
      complaints.push(`a dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    await tab.goto(page.url)
  })
  afterAll(async () => {
    await browser?.close()
    await page?.close()
    await place?.end()
  })

  const open = (view: string): Promise<void> =>
    tab
      .locator('nav')
      .getByRole('link', { name: new RegExp(view, 'i') })
      .click()
  const main = (): ReturnType<Tab['locator']> => tab.locator('main')

  test('the key leaves the address, and the page is live', async () => {
    await tab.getByText('live', { exact: true }).waitFor()
    expect(tab.url()).not.toContain(new URL(page.url).hash.slice(1))
  })

  test('a deadlock is the first finding, and Waits shows its cycle', async () => {
    await main().getByText('It needs you').waitFor()
    await main().locator('.findings li').first().getByText('Deadlock').waitFor()
    await main().locator('.findings li').first().getByRole('link', { name: 'Waits →' }).click()
    await main().getByText('A cycle: none of these will go on').waitFor()
    await main().locator('svg.picture').getByText('/user/hangar').first().waitFor()
  })

  test('a crash is seen as a restart, and Failures says why', async () => {
    await open('Overview')
    const restarts = main().locator('.plot', { hasText: 'Restarts' }).locator('.value')
    await restarts.getByText('0 while you look').waitFor()
    // A round a second: the one that is being made may miss it, the next one tells. Counted in rounds, for a second is as long as the machine makes it.
    let rounds = 0
    let crashed: number | undefined
    const told = feed(page, 'overview', (frames) => {
      const all = frames.flatMap((frame) => (frame.kind === 'round' ? [frame.round] : []))
      rounds = all.length
      if (rounds > 0 && crashed === undefined) {
        crashed = rounds
        place.crash()
      }
      return all.some(({ figures }) => figures.restarts > 0)
    })
    await restarts.getByText('1 while you look').waitFor()
    await told
    expect(rounds - crashed!).toBeLessThanOrEqual(2)
    await open('Failures')
    await main().locator('table').getByText('ECONNRESET weather.example').waitFor()
    await main()
      .locator('.log')
      .getByText(/restart 1/)
      .first()
      .waitFor()
  })

  test('a flood is a queue that grows: at the top of Actors, in words, and in Flow', async () => {
    place.flood()
    await open('Actors')
    const row = tab.getByRole('row', { name: /map running [\d ]+k?/ })
    await row.first().click()
    await tab.getByText('Why is it behind?').waitFor()
    await tab
      .locator('.why')
      .getByText(/wait\. It takes/)
      .waitFor()
    await tab
      .locator('.why')
      .getByText(/The oldest message, position, has waited/)
      .waitFor()
    await tab.locator('.partners').getByText('outside').waitFor()
    // What it holds is shown, for payloads are on; as text.
    place.system.find('/user/audit')!.tell({ type: 'note', text: '<img src=x onerror=alert(3)>' } as never)
    await tab
      .getByRole('row', { name: /audit running/ })
      .first()
      .click()
    await tab.locator('aside h2').getByText('/user/audit').waitFor()
    await tab.locator('.payload').first().waitFor()
    await open('Flow')
    await main().locator('svg.picture').getByText('map').first().waitFor()
    await main()
      .locator('svg.picture')
      .getByText(/▲ .*queued/)
      .first()
      .waitFor()
  })

  test('Traces says where the time went, Runtime which threads there are', async () => {
    await open('Traces')
    await main()
      .getByText(/Where did .* go\?/)
      .waitFor()
    await open('Runtime')
    await main().locator('table').first().getByText('main').waitFor()
    await main().getByRole('button', { name: 'Profile 5 s' }).click()
    await main().locator('svg.flame text', { hasText: 'map' }).first().waitFor()
  })

  test('a thread that hangs is said on every view, and Runtime shows which', async () => {
    const system = ActorSystem.create('mill', { logger: false })
    threads(system, { size: 2, hangAfter: 60_000 })
    const here = await openPage(system)
    const other = await browser.newPage()
    other.setDefaultTimeout(15_000)
    try {
      const hand = system.spawn(laborer(), { name: 'hand', dispatcher: 'parallel', placement: { thread: 1 } })
      await hand.ask({ type: 'state' })
      await other.goto(here.url)
      await other.getByText('Nothing needs you').waitFor()
      const done = hand.ask({ type: 'burn', ms: 5000 }, { timeout: 60_000 })
      await other.getByText('Thread 1 does not answer').waitFor()
      await other.getByRole('link', { name: 'Runtime →' }).click()
      await other.getByRole('row', { name: /thread 1 .*does not answer/ }).waitFor()
      await done
      await other.getByRole('row', { name: /thread 1 .*✓/ }).waitFor()
    } finally {
      await other.close()
      await here.close()
      await system.shutdown({ deadline: 5000 })
    }
  })

  test('what led to a failure is saved by a button, as a file that can be read', async () => {
    const system = ActorSystem.create('till', { logger: false, flightRecorder: capsuleRecorder() })
    const here = await openPage(system, { payloads: true })
    const other = await browser.newPage({ acceptDownloads: true })
    other.setDefaultTimeout(15_000)
    try {
      const till = system.spawn(
        receive<{ type: 'pay'; sum: number }>((ctx, { sum }) => {
          ctx.timers.every('count the coins', 60_000, { type: 'pay', sum: 0 })
          if (sum < 0) throw new Error('no money')
          return same
        }),
        { name: 'till', supervision: supervise({ limit: { restarts: 100, within: 10_000 } }) },
      )
      for (const sum of [5, -1]) till.tell({ type: 'pay', sum })
      await expect.poll(() => system.failures.count).toBe(1)
      till.tell({ type: 'pay', sum: 7 })
      await other.goto(here.url)
      await other.locator('nav').getByRole('link', { name: 'Actors' }).click()
      await other
        .getByRole('row', { name: /till running/ })
        .first()
        .click()
      await other.locator('aside').getByText('count the coins').waitFor()
      const [download] = await Promise.all([other.waitForEvent('download'), other.getByRole('button', { name: 'Capsule…' }).click()])
      expect(download.suggestedFilename()).toBe('till.capsule.json')
      const capsule = JSON.parse(readFileSync(await download.path(), 'utf8')) as {
        path: string
        failure: { message: string }
        entries: { type: string }[]
      }
      expect(capsule).toMatchObject({ path: '/user/till', failure: { message: 'no money' } })
      expect(capsule.entries.filter(({ type }) => type === 'pay')).toHaveLength(2)
      await other
        .locator('aside')
        .getByText(/It is partial: where its code is/)
        .waitFor()
      // Traces opens it again.
      await other.locator('nav').getByRole('link', { name: 'Traces' }).click()
      await other.locator('input[type=file]').setInputFiles(await download.path())
      await other.getByText('It failed at pay: Error: no money').waitFor()
      await other.getByRole('button', { name: 'Back to the system' }).click()
    } finally {
      await other.close()
      await here.close()
      await system.shutdown({ deadline: 5000 })
    }
  })

  test('a page of your own shows figures and tables, and nothing of it is HTML', async () => {
    await open('Parcels')
    await main().locator('.plot', { hasText: 'In the air' }).getByText(/^17/).waitFor()
    await main().locator('td').getByText('<img src=x onerror=alert(2)>').waitFor()
    await tab.keyboard.press('1')
    await tab.keyboard.press('8')
    await main().locator('.plot', { hasText: 'In the air' }).waitFor()
  })

  test('a search finds by part of a name; keys choose, pause and go on', async () => {
    await tab.keyboard.press('/')
    await tab.getByRole('searchbox').fill('drone-17')
    await tab.getByText('10 match').waitFor()
    await tab.locator('.grid .body').focus()
    await tab.keyboard.press('ArrowDown')
    await tab
      .locator('aside')
      .getByText(/\/user\/district-\d\/drone-17/)
      .first()
      .waitFor()
    await tab.keyboard.press('p')
    await tab.getByRole('button', { name: 'Go live' }).waitFor()
    await tab.keyboard.press('p')
    await tab.getByRole('button', { name: 'Pause' }).waitFor()
    await tab.getByRole('searchbox').fill('')
  })

  test('names and types with HTML in them are text', async () => {
    const gone = place.system.find('/user/billing')!
    gone.stop()
    await expect.poll(() => place.system.find('/user/billing')).toBeUndefined()
    ;(gone as { tell(message: unknown): void }).tell({ type: '<img src=x onerror=alert(1)>' })
    await open('Failures')
    await main().locator('td').getByText('<img src=x onerror=alert(1)>').first().waitFor()
  })

  test('a moment of the past can be looked at, and all of it saved and opened as a file', async () => {
    await open('Overview')
    const slider = tab.getByRole('slider')
    await slider.press('Home')
    await tab.getByRole('button', { name: 'Go live' }).waitFor()
    const early = await main().locator('.plot', { hasText: 'Restarts' }).locator('.value').innerText()
    expect(early).toMatch(/^0 /)
    await tab.getByRole('button', { name: 'Go live' }).click()
    const [download] = await Promise.all([tab.waitForEvent('download'), tab.getByRole('button', { name: 'Save report' }).click()])
    const file = await download.path()
    expect(readFileSync(file, 'utf8')).not.toContain(new URL(page.url).hash.slice(1))
    const report = await browser.newPage()
    const wrong: string[] = []
    report.on('pageerror', (cause) => void wrong.push(cause.message))
    report.on('console', (message) => void (message.type() === 'error' && wrong.push(message.text())))
    // A file without an extension is shown as text.
    await download.saveAs(`${file}.html`)
    await report.goto(pathToFileURL(`${file}.html`).href)
    await report.getByText('saved report').waitFor()
    await report.getByText('It needs you').waitFor()
    await report.locator('nav').getByRole('link', { name: 'Actors' }).click()
    await report.getByRole('row', { name: /map/ }).first().waitFor()
    expect(wrong).toEqual([])
    await report.close()
  })

  // In the dark only colours are others, and every colour is in one of three views.
  test.each(['light', 'dark'] as const)('axe finds nothing in any view, %s', async (colorScheme) => {
    await tab.emulateMedia({ colorScheme })
    for (const view of colorScheme === 'dark' ? ['overview', 'actors', 'waits'] : views) {
      await tab.evaluate(`location.hash = '#/${view}'`)
      await tab.locator(`nav a[aria-current=page]`, { hasText: new RegExp(view, 'i') }).waitFor()
      await tab.evaluate(axe)
      const found = (await tab.evaluate(
        `axe.run(document, { resultTypes: ['violations']${colorScheme === 'dark' ? ", runOnly: ['color-contrast']" : ''} })`,
      )) as {
        readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[] }[]
      }
      const said = found.violations.map(({ id, nodes }) => `${view}: ${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`)
      expect(said).toEqual([])
    }
  })

  test('a phone shows it without scrolling sideways', async () => {
    await tab.setViewportSize({ width: 390, height: 844 })
    for (const view of views) {
      await tab.evaluate(`location.hash = '#/${view}'`)
      await tab.locator(`nav a[aria-current=page]`, { hasText: new RegExp(view, 'i') }).waitFor()
      expect([view, await tab.evaluate('document.documentElement.scrollWidth')]).toEqual([view, 390])
    }
    await tab.setViewportSize({ width: 1280, height: 800 })
  })

  test('a stream that ends is said, and nothing was complained about before', async () => {
    expect(complaints).toEqual([])
    await page.close()
    await tab.getByText('The system has closed').waitFor()
  })
})

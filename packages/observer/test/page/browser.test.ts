// The page in a real browser, on a real system. One browser for all tests. Most share one system and one tab; those with their own run at once.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium as driver, type Page as Tab } from 'playwright-core'
import { ActorSystem, receive, same, supervise } from '@troupe/core'
import { threads } from '@troupe/node'
import { capsuleRecorder } from '@troupe/observer'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { FeedFrame } from '../../src/feed/frames.ts'
import type { Page } from '../../src/server/page-server.ts'
import { axe, fading, violations } from './axe.ts'
import { chromium, flags } from './chromium.ts'
import { feed, openPage } from './client.ts'
import { holder } from './holder.mjs'
import { busyFor, town, type Town } from './troubled.ts'

/** Milliseconds between rounds: often enough that tests do not wait, seldom enough that Chromium can draw each. */
const every = 250
const views = ['overview', 'actors', 'failures', 'waits', 'flow', 'traces', 'runtime']

/** Milliseconds that the page may take to show something. Generous: a busy machine makes the observer look at actors less often. */
const pageTimeout = 60_000

describe.skipIf(chromium === undefined)('in Chromium', { timeout: 3 * pageTimeout }, () => {
  let browser: Browser
  let tab: Tab
  let page: Page
  let place: Town
  const complaints: string[] = []

  beforeAll(async () => {
    place = town({ drones: 300, deadlock: true })
    page = await openPage(
      place.system,
      {
        payloads: true,
        pages: {
          Parcels: () => [
            { kind: 'figure', title: 'In the air', value: 17 },
            { kind: 'table', title: 'Districts', columns: ['name'], rows: [['<img src=x onerror=alert(2)>']] },
          ],
        },
      },
      every,
    )
    browser = await driver.launch({ executablePath: chromium!, args: flags })
    tab = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', acceptDownloads: true })
    tab.setDefaultTimeout(pageTimeout)
    tab.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())))
    tab.on('pageerror', (cause) => void complaints.push(cause.message))
    tab.on('dialog', (dialog) => {
      complaints.push(`a dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    await tab.goto(page.url)
  }, 2 * pageTimeout)
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
  const show = async (view: string): Promise<void> => {
    await tab.evaluate(`location.hash = '#/${view}'`)
    await tab.locator('nav a[aria-current=page]', { hasText: new RegExp(view, 'i') }).waitFor()
  }
  /** Chooses an actor of the list. Rows move with every round: a click may hit the one that took its place. */
  const choose = (row: RegExp, path: string): Promise<void> =>
    vi.waitFor(
      async () => {
        await tab.getByRole('row', { name: row }).first().click({ timeout: 5000 })
        await tab.locator('aside h2').getByText(path, { exact: true }).waitFor({ timeout: 5000 })
      },
      { timeout: pageTimeout },
    )
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
    // The round that is being made may miss it, the next one has it. Counted in rounds: how long one takes is up to the machine.
    const restartsTold = (frames: readonly FeedFrame[]): number[] =>
      frames.flatMap((frame) => (frame.kind === 'round' ? [frame.round.figures.restarts] : []))
    let before = 0
    const told = feed(page, 'overview', (frames) => {
      const all = restartsTold(frames)
      if (before === 0 && all.length > 0) {
        before = all.length
        place.crash()
      }
      return all.some((n) => n > 0)
    })
    await restarts.getByText('1 while you look').waitFor()
    expect(restartsTold(await told).findIndex((n) => n > 0) - before).toBeLessThan(2)
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
    await choose(/map running [\d ]+k?/, '/user/map')
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
    await choose(/audit running/, '/user/audit')
    await tab.locator('.payload').first().waitFor()
    await open('Flow')
    await main().locator('svg.picture').getByText('map').first().waitFor()
    await main()
      .locator('svg.picture')
      .getByText(/▲ .*queued/)
      .first()
      .waitFor()
  })

  // Before its first rounds are dropped: the page keeps 300.
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
    report.setDefaultTimeout(pageTimeout)
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

  test.concurrent('Traces says where the time went, Runtime which threads there are', async () => {
    await open('Traces')
    await main()
      .getByText(/Where did .* go\?/)
      .waitFor()
    await open('Runtime')
    await main().locator('table').first().getByText('main').waitFor()
    // Takes about half of the thread, so that its bar has room for its name whatever else the machine does.
    const mill = place.system.spawn(
      receive<'turn'>((ctx) => {
        busyFor(10)
        ctx.timers.once('turn', 10, 'turn')
        return same
      }),
      { name: 'mill' },
    )
    try {
      mill.tell('turn')
      await main().getByRole('button', { name: 'Profile 5 s' }).click()
      await main().locator('svg.flame').waitFor()
      await main().locator('svg.flame text', { hasText: 'mill' }).first().waitFor()
    } finally {
      mill.stop()
    }
  })

  test.concurrent('a thread that hangs is said on every view, and Runtime shows which', async () => {
    const system = ActorSystem.create('mill', { logger: false })
    threads(system, { size: 2, hangAfter: 3 * pageTimeout })
    const here = await openPage(system)
    const folder = mkdtempSync(join(tmpdir(), 'troupe-hang-'))
    const release = join(folder, 'release')
    const other = await browser.newPage()
    other.setDefaultTimeout(pageTimeout)
    try {
      const hand = system.spawn(holder(), { name: 'hand', dispatcher: 'parallel', placement: { thread: 1 } })
      await other.goto(here.url)
      await other.getByText('Nothing needs you').waitFor()
      const released = hand.ask({ type: 'hold', until: release }, { timeout: 3 * pageTimeout })
      await other.getByText('Thread 1 does not answer').waitFor()
      await other.getByRole('link', { name: 'Runtime →' }).click()
      await other.getByRole('row', { name: /thread 1 .*does not answer/ }).waitFor()
      // Rounds go on, also those that count the ledger, which is every fifth.
      await feed(here, 'runtime', (frames) => frames.filter(({ kind }) => kind === 'round').length > 6)
      writeFileSync(release, '')
      await released
      await other.getByRole('row', { name: /thread 1 .*✓/ }).waitFor()
    } finally {
      writeFileSync(release, '')
      await other.close()
      await here.close()
      await system.shutdown({ deadline: 5000 })
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test.concurrent('what led to a failure is saved by a button, as a file that can be read', async () => {
    const system = ActorSystem.create('till', { logger: false, flightRecorder: capsuleRecorder() })
    const here = await openPage(system, { payloads: true })
    const other = await browser.newPage({ acceptDownloads: true })
    other.setDefaultTimeout(pageTimeout)
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
      await expect.poll(() => system.failures.count, { timeout: pageTimeout }).toBe(1)
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
    await expect.poll(() => place.system.find('/user/billing'), { timeout: pageTimeout }).toBeUndefined()
    ;(gone as { tell(message: unknown): void }).tell({ type: '<img src=x onerror=alert(1)>' })
    await open('Failures')
    await main().locator('td').getByText('<img src=x onerror=alert(1)>').first().waitFor()
  })

  test('colors change at once with the color scheme: no text fades over a background of the other scheme', async () => {
    for (const view of views) {
      await show(view)
      for (const colorScheme of ['dark', 'light'] as const) {
        await tab.emulateMedia({ colorScheme })
        expect([view, colorScheme, await tab.evaluate(fading)]).toEqual([view, colorScheme, []])
      }
    }
  })

  // The dark scheme differs in colors only, and these three views have every color.
  test.each(['light', 'dark'] as const)('axe finds nothing in any view, %s', async (colorScheme) => {
    await tab.emulateMedia({ colorScheme })
    await tab.evaluate(axe)
    for (const view of colorScheme === 'dark' ? ['overview', 'actors', 'waits'] : views) {
      await show(view)
      expect(await violations(tab, colorScheme === 'dark' ? ['color-contrast'] : undefined)).toEqual([])
    }
  })

  test('a phone shows it without scrolling sideways', async () => {
    await tab.setViewportSize({ width: 390, height: 844 })
    for (const view of views) {
      await show(view)
      // Pictures are drawn again once they know their new width.
      await expect.poll(() => tab.evaluate('document.documentElement.scrollWidth'), { message: view, timeout: pageTimeout }).toBe(390)
    }
    await tab.setViewportSize({ width: 1280, height: 800 })
  })

  test('a stream that ends is said, and nothing was complained about before', async () => {
    expect(complaints).toEqual([])
    await page.close()
    await tab.getByText('The system has closed').waitFor()
  })
})

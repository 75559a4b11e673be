// Who presses the buttons: a visitor in a browser, where there is one, or whoever speaks as the page does. A test says what is pressed once.

import { type Browser, chromium as playwright, type Page } from 'playwright-core'
import { vi } from 'vitest'
import { chromium, flags } from '../../../packages/observer/test/page/chromium.ts'
import type { Client } from './client.ts'

export interface Hands {
  /** In words, for the name of a test. */
  readonly name: string
  /** Presses a button; gives what is said then. */
  press(deed: string, more?: object): Promise<string>
  /** Crashes whatever is near a place of the world. */
  click(x: number, y: number): Promise<string>
  storm(x: number, y: number): Promise<string>
  /**
   * Accuses the first drone that the observer names and that was not accused before; undefined while it names none. Others are named too on a busy
   * machine, and a planner that is killed again and again stays named.
   */
  accuse(): Promise<string | undefined>
  /** Whatever went wrong in the page. */
  readonly errors: readonly string[]
  end(): Promise<void>
}

/** Generous: a busy machine takes its time. */
const saidTimeoutMs = 120_000
/** After this a click that may have hit nothing is taken for lost. */
const lostClickMs = 30_000
const drone = /^\/user\/district-\d+\/drone-\d+$/

/** Speaks as the page does. */
class Voice implements Hands {
  readonly name = 'without a browser'
  readonly errors = []
  readonly #client: Client
  readonly #accused = new Set<string>()
  constructor(client: Client) {
    this.#client = client
  }
  press(deed: string, more?: object): Promise<string> {
    return this.#client.do(deed, more)
  }
  click(x: number, y: number): Promise<string> {
    return this.#client.do('crash', { drone: Math.floor(y / 100) * 100 + Math.floor(x / 160) * 10 })
  }
  storm(x: number, y: number): Promise<string> {
    return this.#client.do('storm', { x, y })
  }
  async accuse(): Promise<string | undefined> {
    const { findings } = await this.#client.until(() => true)
    const path = findings.map(({ subject }) => subject).find((subject) => drone.test(subject) && !this.#accused.has(subject))
    if (path === undefined) return undefined
    this.#accused.add(path)
    return this.#client.do('accuse', { path })
  }
  async end(): Promise<void> {}
}

export class Visitor implements Hands {
  readonly name = 'in a browser'
  readonly errors: string[] = []
  readonly #browser: Browser
  readonly #accused = new Set<string>()
  readonly page: Page

  private constructor(browser: Browser, page: Page) {
    this.#browser = browser
    this.page = page
    page.on('pageerror', (error) => void this.errors.push(error.message))
  }
  static async open(program: string): Promise<Visitor> {
    const browser = await playwright.launch({ executablePath: program, args: flags })
    return new Visitor(browser, await browser.newPage({ viewport: { width: 1200, height: 800 } }))
  }
  async visit(url: string): Promise<void> {
    await this.page.goto(url)
    await this.page.locator('#sent', { hasText: /\d/ }).waitFor()
    await this.page.evaluate(
      `window.heard = []
       const said = document.getElementById('said')
       new MutationObserver(() => said.textContent !== '' && window.heard.push({ of: said.dataset.of, text: said.textContent })).observe(said, { childList: true })`,
    )
  }

  /** What is said next about one of these deeds. A storm is several requests, and the answers to the last may come when something else was done. */
  async #said(deeds: readonly string[], act: () => Promise<unknown>, timeout = saidTimeoutMs): Promise<string> {
    await this.page.evaluate(`window.heard.length = 0`)
    await act()
    return await vi.waitFor(
      async () => {
        const heard = await this.page.evaluate<{ of: string; text: string }[]>('window.heard')
        const found = heard.find(({ of }) => deeds.includes(of))
        if (found === undefined) throw new Error(`The page says nothing of ${deeds.join(' or ')}, but: ${JSON.stringify(heard)}`)
        return found.text
      },
      { timeout },
    )
  }
  press(deed: string): Promise<string> {
    return this.#said([deed], () => this.page.click(`[data-deed=${deed}]`))
  }
  async click(x: number, y: number): Promise<string> {
    const at = await this.page.evaluate<{ left: number; top: number }>(
      `const { sky } = window.airlift; const drone = sky.nearest({ x: ${x}, y: ${y} }, 400); sky.spot({ x: sky.xs[drone], y: sky.ys[drone] })`,
    )
    const box = (await this.page.locator('#sky').boundingBox())!
    return await this.#said(['crash', 'charger'], () => this.page.mouse.click(box.x + at.left, box.y + at.top))
  }
  async storm(x: number, y: number): Promise<string> {
    const at = await this.page.evaluate<{ left: number; top: number }>(`window.airlift.sky.spot({ x: ${x}, y: ${y} })`)
    const box = (await this.page.locator('#sky').boundingBox())!
    const said = await this.#said(['storm'], async () => {
      await this.page.mouse.move(box.x + at.left - 60, box.y + at.top)
      await this.page.mouse.down()
      await this.page.mouse.move(box.x + at.left, box.y + at.top, { steps: 3 })
    })
    await this.page.mouse.up()
    return said
  }
  async accuse(): Promise<string | undefined> {
    const named = await this.page.locator('#findings li:has(button) code').allInnerTexts()
    const path = named.find((subject) => drone.test(subject) && !this.#accused.has(subject))
    if (path === undefined) {
      await this.page.waitForTimeout(100)
      return undefined
    }
    // A row that is drawn anew takes the click with it: then nobody was accused, and whoever is named next is.
    const press = (): Promise<void> => this.page.click(`#findings li:has(code:text-is("${path}")) button`, { timeout: 5000 })
    const said = await this.#said(['accuse'], press, lostClickMs).catch(() => undefined)
    if (said !== undefined) this.#accused.add(path)
    return said
  }
  end(): Promise<void> {
    return this.#browser.close()
  }
}

/** A browser, where there is one. */
export async function handsFor(client: Client, url: string): Promise<Hands> {
  if (chromium === undefined) return new Voice(client)
  const visitor = await Visitor.open(chromium)
  await visitor.visit(url)
  return visitor
}

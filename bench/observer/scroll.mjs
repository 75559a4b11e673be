// The page with a hundred thousand actors in a browser: frames a second while the list of all of them, and the cells of the overview, are scrolled and redrawn. Prints JSON, or
// null where there is no Chromium. The system is in this process, the browser in its own.
//   node scroll.mjs <actors> <seconds>

import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { ActorSystem, receive, same } from '@troupe/core'
import { observe } from '@troupe/observer'
import { chromium } from 'playwright-core'

const [actors, seconds] = process.argv.slice(2).map(Number)
const families = 100
const programs = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']
const folders = (process.env.PATH ?? '').split(delimiter)
const executablePath = process.env.TROUPE_CHROMIUM ?? programs.flatMap((one) => folders.map((folder) => join(folder, one))).find(existsSync)
if (executablePath === undefined) {
  process.stdout.write('null\n')
  process.exit(0)
}

const system = ActorSystem.create('crowd', { logger: false })
const person = () => receive(() => same)
const family = (size) =>
  receive((ctx) => {
    for (let i = 0; i < size; i++) ctx.spawn(person(), { name: `person-${i}`, kind: 'person' })
    return same
  })
for (let i = 0; i < families; i++) system.spawn(family(actors / families), { name: `family-${i}`, kind: 'family' }).tell({ type: 'begin' })
while (system.metrics().active < actors) await new Promise((resolve) => setImmediate(resolve))

const observer = observe(system, { socket: false })
const page = await observer.openPage()
const browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run'] })
const tab = await browser.newPage({ viewport: { width: 1280, height: 800 } })

/** Frames a second while something is done before each of them. In the page. */
const frames = ([selector, ms]) =>
  new Promise((resolve) => {
    const element = selector === undefined ? undefined : document.querySelector(selector)
    let count = 0
    let longest = 0
    const began = performance.now()
    let last = began
    const step = (now) => {
      longest = Math.max(longest, now - last)
      last = now
      count++
      // A fortieth of a second of a wheel that is turned hard; from the end it begins again.
      if (element !== undefined) element.scrollTop = (element.scrollTop + 900) % (element.scrollHeight - element.clientHeight)
      if (performance.now() - began < ms) requestAnimationFrame(step)
      else resolve({ fps: (count * 1000) / (performance.now() - began), longest })
    }
    requestAnimationFrame(step)
  })

await tab.goto(page.url)
await tab
  .getByText(`All ${(actors + families).toLocaleString('en-US')} actors`)
  .first()
  .waitFor({ timeout: 60_000 })
const overview = await tab.evaluate(frames, [undefined, seconds * 1000])
await tab.evaluate(() => void (location.hash = '#/actors'))
await tab.getByRole('button', { name: 'List' }).click()
await tab
  .getByRole('row', { name: /family-/ })
  .first()
  .waitFor()
const list = await tab.evaluate(frames, ['.grid .body', seconds * 1000])
process.stdout.write(`${JSON.stringify({ overview, list })}\n`)
await browser.close()
process.exit(0)

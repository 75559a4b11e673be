// Pictures of every view of the observer's page, for the guide: light, dark and on a phone, of a real system in real trouble. Takes about a
// minute; writes docs/guide/observer.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve as resolved } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { chromium as driver } from 'playwright-core'
import { withPalette } from './palette.mjs'
import { anyText, commandLine, someOf, whole } from '@troupe/testkit/internal'

const root = fileURLToPath(new URL('../..', import.meta.url))
const names = ['overview', 'actors', 'failures', 'waits', 'flow', 'traces', 'runtime', 'own']
const {
  to,
  only,
  settle: settling,
} = commandLine({
  name: 'npm run pictures',
  about: 'Draws every view of the observer: light, dark and on a phone, of a real system in real trouble. Needs Chromium.',
  options: {
    to: anyText('folder', 'where they go', 'docs/guide/observer'),
    only: someOf('view', names, 'these alone', 'all of them'),
    settle: whole('seconds that the system has before the first picture', 14),
  },
})
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** The program of a picture is TypeScript, and Node 20 reads none. */
async function load(path) {
  const folder = mkdtempSync(join(root, 'node_modules/.pictures-'))
  const outfile = join(folder, 'program.mjs')
  try {
    await build({ entryPoints: [join(root, path)], bundle: true, packages: 'external', platform: 'node', format: 'esm', outfile, logLevel: 'error' })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const { scene, views } = await load('packages/observer/test/page/scene.ts')
const { chromium, flags } = await load('packages/observer/test/page/chromium.ts')
if (chromium === undefined) process.exit(1)
const folder = resolved(root, to)
mkdirSync(folder, { recursive: true })

const place = await scene()
const browser = await driver.launch({ executablePath: chromium, args: flags })
const looks = {
  light: { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light', deviceScaleFactor: 1, isMobile: true, hasTouch: true },
}
const wrong = []
try {
  const tabs = await Promise.all(
    Object.entries(looks).map(async ([name, options]) => {
      const tab = await (await browser.newContext(options)).newPage()
      tab.on('console', (message) => void (message.type() === 'error' && wrong.push(`${name}: ${message.text()}`)))
      tab.on('pageerror', (cause) => void wrong.push(`${name}: ${cause.message}`))
      await tab.goto(place.url)
      return { look: name, tab }
    }),
  )
  await pause(settling * 1000)
  for (const { name: view, open, wait = 2500 } of views) {
    if (only !== undefined && !only.includes(view)) continue
    await Promise.all(tabs.map(async ({ look, tab }) => open(tab, look)))
    await pause(wait)
    for (const { look, tab } of tabs) writeFileSync(join(folder, `${view}-${look}.png`), withPalette(await tab.screenshot()))
    process.stdout.write(`${view}\n`)
  }
} finally {
  await browser.close()
  await place.end()
}
for (const one of wrong) process.stderr.write(`${one}\n`)
process.exit(wrong.length === 0 ? 0 : 1)

// Files of tests in Chromium: one page, driven by nothing but itself, loads each file in a frame of its own and posts what becomes of the
// tests to a server on this machine's own address. A file that is silent for too long costs the browser; the next gets a new one.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join, normalize, sep } from 'node:path'
import { Tally } from './tally.mjs'

const patience = 240_000

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
]

/** The page: takes a job, makes a frame for it, tells what it hears, and takes the next. */
const page = `<!doctype html><title>tests</title><script type="module">
  let waiting = []
  let sending
  const post = (path, body) => fetch(path, { method: 'POST', body: JSON.stringify(body) })
  async function send() {
    while (waiting.length > 0) await post('/told', waiting.splice(0))
    sending = undefined
  }
  const tell = (event) => { waiting.push(event); sending ??= send() }
  for (;;) {
    const job = await (await post('/next')).json()
    if (job === null) break
    const frame = document.createElement('iframe')
    const done = new Promise((resolve) => {
      frame.onload = () => {
        const inner = frame.contentWindow
        inner.troupeJob = { ...job, tell: (event) => { tell(JSON.parse(JSON.stringify(event))); if (event.done) resolve() } }
        const script = inner.document.createElement('script')
        script.type = 'module'
        script.src = job.main
        script.onerror = () => { tell({ broken: 'the bundle did not load' }); tell({ done: true }); resolve() }
        inner.document.body.append(script)
      }
    })
    frame.src = '/frame'
    document.body.append(frame)
    await done
    while (sending !== undefined) await sending
    frame.remove()
  }
</script>`

const bodyOf = async (request) => {
  let text = ''
  for await (const chunk of request) text += chunk
  return text === '' ? undefined : JSON.parse(text)
}

/** As `runFiles` of processes.mjs; `gathered` counts the tests of a file that could not be loaded here. */
export async function runInBrowser([program], files, bundled, folder, knownOf, heard, gathered) {
  const urlOf = (path) =>
    `/${path
      .slice(folder.length + 1)
      .split(sep)
      .join('/')}`
  const waiting = [...files]
  let current
  let lastWord = 0
  let finish
  const finished = new Promise((resolve) => (finish = resolve))

  async function close(how) {
    if (current === undefined) return
    const { file, tally } = current
    current = undefined
    tally.close(how, tally.tests > 0 ? undefined : await gathered(file))
    heard(file, tally)
  }
  const server = createServer((request, response) => void answer(request, response).catch((cause) => response.writeHead(500).end(String(cause))))
  async function answer(request, response) {
    lastWord = performance.now()
    // Memory may be shared, and clocks are fine, only where a page is isolated.
    const headers = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' }
    const { pathname } = new URL(request.url, 'http://127.0.0.1')
    if (pathname === '/' || pathname === '/frame') {
      response.writeHead(200, { ...headers, 'content-type': 'text/html; charset=utf-8' })
      response.end(pathname === '/' ? page : '<!doctype html><body></body>')
    } else if (pathname === '/told') {
      for (const event of await bodyOf(request)) current?.tally.hear(event)
      if (current?.tally.done) await close('ended')
      response.end('{}')
    } else if (pathname === '/next') {
      const file = waiting.shift()
      if (file === undefined) finish()
      else current = { file, tally: new Tally() }
      const job = file === undefined ? null : { name: file, main: urlOf(bundled.main), bundle: urlOf(bundled.files.get(file)), known: knownOf(file) }
      response.end(JSON.stringify(job))
    } else {
      const path = normalize(join(folder, decodeURIComponent(pathname)))
      if (!path.startsWith(folder + sep)) throw new Error('not in the folder')
      const code = await readFile(path)
      response.writeHead(200, { ...headers, 'content-type': 'text/javascript' }).end(code)
    }
  }
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const profile = mkdtempSync(join(tmpdir(), 'troupe-chromium-'))
  const url = `http://127.0.0.1:${server.address().port}/`
  const open = () => {
    lastWord = performance.now()
    return spawn(program, [...flags, `--user-data-dir=${profile}`, url], { stdio: 'ignore' })
  }
  let browser = open()
  const watch = setInterval(() => {
    if (performance.now() - lastWord < patience && browser.exitCode === null && browser.signalCode === null) return
    const how = browser.exitCode === null && browser.signalCode === null ? `silent for ${patience / 1000} s` : 'the browser is gone'
    browser.kill('SIGKILL')
    void close(how).then(() => (browser = open()))
  }, 2000)
  await finished
  clearInterval(watch)
  const gone = new Promise((resolve) => browser.once('exit', resolve))
  browser.kill('SIGTERM')
  await gone
  server.closeAllConnections()
  server.close()
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
}

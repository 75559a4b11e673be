// The processes of a chaos run, each behind a way of its own to NATS: started, started again when they end, and struck.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startProxy } from './proxy.mjs'

const chaosNode = fileURLToPath(new URL('./node.mjs', import.meta.url))
const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

export class Nodes {
  #options
  #names
  #proxies = new Map()
  /** By name, the process that is up, or on its way. */
  #running = new Map()
  #ending = false

  constructor(options) {
    this.#options = options
    this.#names = Array.from({ length: options.size }, (_, i) => String.fromCodePoint(97 + i))
  }

  get names() {
    return this.#names
  }
  /** The session of a node that is up. */
  session(name) {
    return this.#running.get(name)?.session
  }
  pid(name) {
    return this.#running.get(name)?.child.pid
  }
  isAlive(pid) {
    return [...this.#running.values()].some(({ child, session }) => child.pid === pid && session !== undefined)
  }

  async start() {
    for (const name of this.#names) {
      this.#proxies.set(name, await startProxy(this.#options.server.port))
      this.#boot(name)
    }
    await this.allUp(60_000)
  }

  async allUp(ms) {
    const until = performance.now() + ms
    while (!this.#names.every((name) => this.session(name) !== undefined)) {
      if (performance.now() > until)
        throw new Error(`Not all nodes came up within ${ms} ms: ${this.#names.filter((name) => this.session(name) === undefined).join(', ')}`)
      await after(50)
    }
  }

  /** As kill -9. It is started again after `ms`. */
  async kill(name, ms) {
    const node = this.#running.get(name)
    node.delay = ms
    node.child.kill('SIGKILL')
    await node.gone
  }
  async stop(name, ms) {
    const { child } = this.#running.get(name)
    child.kill('SIGSTOP')
    await after(ms)
    child.kill('SIGCONT')
  }
  async cut(name, ms) {
    const proxy = this.#proxies.get(name)
    proxy.cut()
    await after(ms)
    proxy.mend()
  }
  tell(name, line) {
    this.#running.get(name)?.child.stdin.write(`${line}\n`)
  }
  async leave(name) {
    const node = this.#running.get(name)
    this.tell(name, 'leave')
    await Promise.race([node.gone, after(40_000)])
  }

  async end() {
    this.#ending = true
    for (const { child } of this.#running.values()) {
      child.kill('SIGCONT')
      child.kill('SIGKILL')
    }
    await Promise.all(Array.from(this.#running.values(), ({ gone }) => gone))
    for (const proxy of this.#proxies.values()) proxy.close()
  }

  #boot(name) {
    const { account, program = chaosNode, given } = this.#options
    const url = this.#proxies.get(name).url
    const child = spawn(process.execPath, [program, JSON.stringify({ ...given, node: name, url })], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const node = { child, session: undefined, delay: 0, gone: undefined }
    this.#running.set(name, node)
    child.stdin.on('error', () => {})
    createInterface({ input: child.stdout }).on('line', (text) => {
      let line
      try {
        line = JSON.parse(text)
      } catch {
        // The last line of a process that was killed may be a part of one.
        return
      }
      if (line[0] === 'up') node.session = line[1]
      if (line[0] === 'over') node.session = undefined
      account.heard(line, child.pid)
    })
    node.gone = new Promise((resolve) => child.once('close', resolve)).then(async () => {
      node.session = undefined
      if (this.#ending) return
      await after(node.delay)
      if (!this.#ending) this.#boot(name)
    })
  }
}

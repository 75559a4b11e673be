// A page without a browser: starts `npm start` as it is built, and speaks with it as the page does.

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** What the page is told once a second, as far as tests look at it. */
export interface Status {
  readonly pid: number
  readonly sum: { readonly sent: number; readonly delivered: number; readonly inFlight: number; readonly returned: number; readonly lost: number }
  readonly problems: readonly string[]
  readonly ledger: Readonly<Record<string, number>>
  readonly drones: Readonly<Record<string, number>>
  readonly restarts: number
  readonly threadsLost: number
  readonly supervised: boolean
  readonly game: { readonly phase: string; readonly who?: string }
  readonly findings: readonly { readonly subject: string }[]
  readonly nodes?: { readonly facts: readonly { readonly name: string; readonly state: string }[]; readonly owners: readonly (string | undefined)[] }
}

/** A run of the command; `out` is what it printed. */
export class Run {
  readonly child: ChildProcess
  out = ''
  readonly exited: Promise<number | null>

  constructor(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    this.child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } })
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.out += text))
    // Not at 'exit': it may have printed what is not read yet.
    this.exited = new Promise((resolve) => this.child.on('close', resolve))
  }
  /** The first match of what it prints; rejects when it ends without one. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.out)
      if (found !== null) return found
      const more = new Promise((resolve) => void this.child.stdout!.once('data', resolve))
      if ((await Promise.race([more, this.exited.then(() => 'exited')])) === 'exited')
        throw new Error(`it ended without ${String(pattern)}: ${this.out}`)
    }
  }
}

export class Client {
  readonly #origin: string
  readonly #token: string
  constructor(url: string) {
    const { origin, hash } = new URL(url)
    this.#origin = origin
    this.#token = hash.slice(1)
  }

  post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
    return fetch(this.#origin + path, {
      method: 'POST',
      headers: { origin: this.#origin, 'content-type': 'application/json', 'x-troupe-token': this.#token },
      body: JSON.stringify(body),
      signal: signal ?? null,
    })
  }
  async do(what: string, more: object = {}): Promise<string> {
    const answer = await this.post('/api/do', { what, ...more })
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    return ((await answer.json()) as { said: string }).said
  }

  /** Reads the stream, of one process after the other, until a status is as wanted; gives it, with the rows that came by. */
  async until(wanted: (status: Status, rows: number) => boolean): Promise<Status> {
    let rows = 0
    for (;;) {
      const away = new AbortController()
      try {
        const answer = await this.post('/api/feed', {}, away.signal)
        for await (const frame of framesOf(answer.body!)) {
          if (frame[0] === 1) rows += (frame.length - 9) / 23
          if (frame[0] !== 2) continue
          const status = JSON.parse(Buffer.from(frame.subarray(1)).toString()) as Status
          if (wanted(status, rows)) return status
        }
      } catch {
        // The process is gone; another one answers soon.
        await new Promise((resolve) => setTimeout(resolve, 50))
      } finally {
        away.abort()
      }
    }
  }
}

async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest = Buffer.alloc(0)
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32LE(0)) {
      const end = 4 + rest.readUInt32LE(0)
      yield rest.subarray(4, end)
      rest = rest.subarray(end)
    }
  }
}

// Serves the page of one system, on this machine alone unless asked otherwise: its files, its questions, and the feed.

import { coreOf } from '@troupe/core/internal'
import type { ObservationSource } from '../source/source.ts'
import { readAssets } from './assets.ts'
import { Desk } from './desk.ts'
import { FeedStream } from './feed-stream.ts'
import { Busy, GuardedServer, type GuardedStream, type Limits } from './guarded-server.ts'
import { Hub } from './hub.ts'
import { type CheckedPage, checkedPage, type PageOptions } from './page-options.ts'
import { fieldsOf, viewIn } from './wishes.ts'

const feedPath = '/api/feed'
const streamsMost = 16

/** The page of a system. */
export interface Page {
  /** To be opened in a browser. What is behind `#` is the key: whoever has it may look. */
  readonly url: string
  readonly port: number
  /** Ends all streams and frees the port. */
  close(): Promise<void>
}

/** Serves a page until it is closed, or the system has. */
export async function servePage(source: ObservationSource, options: PageOptions = {}, limits?: Limits): Promise<Page> {
  const checked = checkedPage(options)
  const served = new PageServer(source, checked, limits)
  await served.listen()
  void source.system.terminated.then(() => served.close())
  return served
}

class PageServer implements Page {
  readonly #source: ObservationSource
  readonly #options: CheckedPage
  readonly #hub: Hub
  readonly #server: GuardedServer
  readonly #streams = new Set<FeedStream>()

  constructor(source: ObservationSource, options: CheckedPage, limits: Limits | undefined) {
    this.#source = source
    this.#options = options
    this.#hub = new Hub(source)
    const desk = new Desk(this.#hub, options)
    const { logger } = coreOf(source.system)
    const served = {
      files: readAssets(),
      questions: new Map(Object.entries(desk.answers)),
      streams: new Map([[feedPath, (body: string, open: () => GuardedStream) => this.#feed(body, open)]]),
      failed: (cause: unknown) => logger.error({ cause }, 'the page could not answer'),
    }
    this.#server = new GuardedServer(options, served, limits)
  }

  get url(): string {
    return this.#server.url
  }
  get port(): number {
    return this.#server.port
  }

  listen(): Promise<void> {
    return this.#server.listen()
  }
  async close(): Promise<void> {
    for (const stream of this.#streams) stream.end('the page was closed')
    this.#hub.rest()
    await this.#server.close()
  }

  async #feed(body: string, open: () => GuardedStream): Promise<void> {
    const view = viewIn(fieldsOf(body))
    if (this.#streams.size >= streamsMost) throw new Busy('too many pages are open')
    const { system } = this.#source
    const core = coreOf(system)
    const to = open()
    const stream = new FeedStream(this.#hub, to, view)
    this.#streams.add(stream)
    void to.closed.then(() => this.#streams.delete(stream))
    const clockZero = Date.now() - core.runtime.now()
    await stream.open({
      system: system.name,
      pid: process.pid,
      node: process.version,
      control: this.#options.control,
      clockZero,
      pages: [...this.#options.pages.keys()],
    })
  }
}

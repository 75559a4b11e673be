// One client. Whatever it sends is checked, whatever it asks is bounded, and what it does not read is not kept for it: of a watch the newest
// is told once it reads again.

import type { Socket } from 'node:net'
import { type ActorName, budgets, coreOf, type Wait } from '@troupe/core/internal'
import type { ObservationSource } from '../source/source.ts'
import { snapshotAt } from '../source/elsewhere.ts'
import type { Update } from '../source/update.ts'
import { capsuleOf } from '../capsule/capsule-of.ts'
import type { FlowEdge } from '../feed/news.ts'
import { Flows } from '../server/flows.ts'
import { longestProfile, takeProfile } from '../server/profile.ts'
import { LineReader } from './lines.ts'
import type { Operation, Request, Response, Watched } from './protocol.ts'
import { type RankedBy, Ranking, type TopRow } from './ranking.ts'
import { namedTrace } from './named-trace.ts'
import { shownIn, treeOf } from './tree.ts'

/** Requests that may be under way at once, watches among them, and bytes that may wait to be read by the client. */
const mostAtOnce = 8
const mostUnread = 1024 * 1024
/** Milliseconds that a client may be silent which watches nothing. */
const patience = 60_000

const deepest = 64
const widest = 1000
const mostRows = 500
const mostListed = 1000

class BadRequest extends Error {}

type Handler = (request: Request) => unknown

export class Session {
  readonly #socket: Socket
  readonly #source: ObservationSource
  readonly #reader: LineReader
  readonly #watches = new Map<number, () => void>()
  readonly #closed = new AbortController()
  #running = 0

  constructor(socket: Socket, source: ObservationSource) {
    this.#socket = socket
    this.#source = source
    budgets.onOwner?.('requests of a session', () => this.#running)
    this.#reader = new LineReader(
      (value) => void this.#take(value),
      (why) => {
        this.#say({ id: null, ok: false, error: { code: 'bad-line', message: why } })
        socket.end()
      },
    )
    socket.setEncoding('utf8')
    socket.setTimeout(patience)
    socket.on('data', (piece: string) => this.#reader.take(piece))
    socket.on('timeout', () => {
      if (this.#watches.size === 0) socket.destroy()
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.close())
  }

  close(): void {
    this.#closed.abort()
    this.#reader.stop()
    for (const end of this.#watches.values()) end()
    this.#watches.clear()
    this.#socket.destroy()
  }

  #say(response: Response): void {
    if (this.#socket.writable) this.#socket.write(`${JSON.stringify(response)}\n`)
  }

  async #take(value: unknown): Promise<void> {
    const request = value as Request | null
    const id = typeof request === 'object' && Number.isSafeInteger(request?.id) ? request!.id : undefined
    if (id === undefined) return this.#refuse(null, 'bad-request', 'a request is { id, op, … } with a whole number as its id')
    const handler = Object.hasOwn(this.#handlers, request!.op) ? this.#handlers[request!.op] : undefined
    if (handler === undefined)
      return this.#refuse(id, 'unknown-op', `there is no op of that name; there are ${Object.keys(this.#handlers).join(', ')}`)
    if (this.#running + this.#watches.size >= mostAtOnce)
      return this.#refuse(id, 'too-many', `at most ${mostAtOnce} requests may be under way on one connection`)
    // A watch counts for as long as it lasts, and is counted where it is kept.
    const once = request!.op === 'watch' ? 0 : 1
    this.#running += once
    try {
      const result = await handler(request!)
      if (result !== undefined) this.#say({ id, ok: true, result })
    } catch (cause) {
      if (cause instanceof BadRequest) this.#refuse(id, 'bad-request', cause.message)
      else this.#refuse(id, 'failed', 'the request could not be answered')
    }
    this.#running -= once
  }
  #refuse(id: number | null, code: string, message: string): void {
    this.#say({ id, ok: false, error: { code, message } })
  }

  readonly #handlers: Readonly<Record<Operation, Handler>> = {
    hello: () => this.#hello(),
    inspect: async ({ path }) => (await this.#source.inspect(text('path', path))) ?? null,
    near: ({ path }) => this.#source.near(text('path', path)),
    tree: async ({ path = '/user', depth = 4, most = 10 }) => {
      const from = text('path', path)
      const root = from === '/user' ? await this.#source.system.inspect() : await snapshotAt(this.#source.system, from)
      const [levels, siblings] = [whole('depth', depth, deepest), whole('most', most, widest)]
      if (root === undefined) return null
      return treeOf(root, levels, siblings, await this.#source.labels(new Set(shownIn(root, levels, siblings))))
    },
    waits: async () => (await this.#source.waits()).slice(0, mostListed) satisfies readonly Wait[],
    dead: ({ limit = 100 }) => ({
      count: this.#source.system.deadLetters.count,
      letters: last(this.#source.deadLetters(), whole('limit', limit, mostListed)),
    }),
    failures: ({ limit = 100 }) => ({
      count: this.#source.system.failures.count,
      failures: last(this.#source.failures(), whole('limit', limit, mostListed)),
    }),
    traces: () => this.#source.traces,
    traceNext: ({ type }) => this.#source.traceNext(text('type', type), { signal: this.#closed.signal }),
    trace: async ({ trace }) => (await namedTrace(this.#source, whole('trace', trace, Number.MAX_SAFE_INTEGER))) ?? null,
    profile: ({ ms = 5000 }) => takeProfile(coreOf(this.#source.system), whole('ms', ms, longestProfile)),
    capsule: ({ path }) => capsuleOf(this.#source.system, text('path', path)),
    watch: (request) => this.#watch(request),
    end: ({ watch }) => {
      const end = this.#watches.get(watch as number)
      this.#watches.delete(watch as number)
      end?.()
      return null
    },
  }

  #hello(): unknown {
    const { system } = this.#source
    const metrics = system.metrics()
    return { protocol: 1, system: system.name, pid: process.pid, at: metrics.at, metrics }
  }

  #watch({ id, rows = 0, by = 'trouble', traces = false, flow = false }: Request): undefined {
    const wishes = {
      rows: whole('rows', rows, mostRows),
      by: oneOf('by', by, ['trouble', 'queued', 'busy', 'rate'] as const),
      traces: traces === true,
      flows: flow === true ? new Flows() : undefined,
    }
    if (this.#watches.has(id)) throw new BadRequest('there is a watch of that id already')
    const ranking = new Ranking()
    let skipped = 0
    let handledBefore: { readonly at: number; readonly handled: number } | undefined
    const end = this.#source.subscribe(
      (update) => {
        if (this.#socket.writableLength > mostUnread) return void skipped++
        const { handled } = update.metrics.messages
        const seconds = handledBefore === undefined ? 0 : (update.at - handledBefore.at) / 1000
        const rate = seconds > 0 ? (handled - handledBefore!.handled) / seconds : 0
        handledBefore = { at: update.at, handled }
        const missed = skipped
        skipped = 0
        void this.#report(update, wishes, ranking, rate, missed, seconds).then((result) => this.#say({ id, ok: true, result }))
      },
      { traces: wishes.traces, flow: wishes.flows !== undefined },
    )
    this.#watches.set(id, end)
  }

  async #report(
    update: Update,
    { rows, by, flows }: { readonly rows: number; readonly by: RankedBy; readonly flows: Flows | undefined },
    ranking: Ranking,
    rate: number,
    skipped: number,
    seconds: number,
  ): Promise<Watched> {
    const { picture } = this.#source
    const first = rows === 0 ? [] : ranking.first(update, picture, rows, by)
    const names = await this.#source.names(first.map(({ uid }) => uid))
    const { seq, at, metrics, findings, events, lost, spent, silent = [] } = update
    return {
      seq,
      at,
      actors: metrics.active,
      queued: picture.queued,
      messagesPerSecond: rate,
      metrics,
      rows: first.map((draft) => Object.assign(draft, nameIn(names, draft.uid))),
      findings,
      events: last(events, mostListed),
      lost,
      spent,
      silent,
      skipped,
      flow: flows === undefined ? undefined : this.#flow(flows, update, seconds),
    }
  }

  /** By kind, and over a few rounds, as samples of one jump about. */
  #flow(flows: Flows, { flow }: Update, seconds: number): readonly FlowEdge[] {
    flows.take(flow, seconds)
    return flows.news(new Map()).edges
  }
}

function nameIn(names: ReadonlyMap<number, ActorName>, uid: number): Pick<TopRow, 'path' | 'kind' | 'label'> {
  const name = names.get(uid)
  return { path: name?.path ?? `actor ${uid}`, kind: name?.kind ?? '', label: name?.label }
}
function last<T>(all: readonly T[], most: number): readonly T[] {
  return most === 0 ? [] : all.slice(-most)
}
function text(name: string, value: unknown): string {
  if (typeof value === 'string' && value.length <= 4096) return value
  throw new BadRequest(`${name} must be a text`)
}
function whole(name: string, value: unknown, most: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most) return value as number
  throw new BadRequest(`${name} must be a whole number of at most ${most}`)
}
function oneOf<T extends string>(name: string, value: unknown, words: readonly T[]): T {
  if (words.includes(value as T)) return value as T
  throw new BadRequest(`${name} must be one of ${words.join(', ')}`)
}

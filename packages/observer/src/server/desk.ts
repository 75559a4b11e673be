// Answers single questions of a page: a part of the list of actors, one actor, failures and dead letters, traces. And, where that was
// allowed, stops an actor; whoever watches the system sees that it was done, and from where.

import { NotAllowed } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import type { Lines } from '../feed/news.ts'
import type { ActorDetail, ObservationSource, SeenFailure, SeenLetter } from '../source/source.ts'
import type { Span, Trace } from '../sampling/span.ts'
import type { Hub } from './hub.ts'
import { linesOf } from './lines.ts'
import type { Stand } from './standing.ts'
import { fieldsOf, linesIn, numberIn, textIn } from './wishes.ts'
import { whyBehind } from './why.ts'

/** One actor, as the page shows it. */
export interface ActorNews {
  readonly detail: ActorDetail
  readonly why: readonly string[]
  readonly pace: Pick<Stand, 'rate' | 'load' | 'turns' | 'growth'> | undefined
}
export interface LettersNews {
  readonly failures: readonly SeenFailure[]
  readonly letters: readonly SeenLetter[]
}
export interface TraceNews extends Omit<Trace, 'spans'> {
  readonly spans: readonly (Span & { readonly fromName: string; readonly toName: string })[]
}

const lettersMost = 300
const tracesMost = 60

export class Desk {
  readonly #hub: Hub
  readonly #source: ObservationSource
  readonly #control: boolean

  constructor(hub: Hub, options: { readonly control: boolean }) {
    this.#hub = hub
    this.#source = hub.source
    this.#control = options.control
  }

  /** What is asked under which path; each throws `BadWish` at what is not its question, `NotAllowed` at what may not be. */
  readonly answers: Readonly<Record<string, (body: string) => unknown>> = {
    '/api/lines': (body) => this.#lines(body),
    '/api/actor': (body) => this.#actor(body),
    '/api/letters': () => this.#letters(),
    '/api/traces': () => this.#traces(),
    '/api/trace-next': (body) => this.#traceNext(body),
    '/api/mute': (body) => this.#mute(body),
    '/api/stop': (body) => this.#stop(body),
  }

  #lines(body: string): Promise<Lines> {
    const { standing } = this.#hub
    return linesOf(linesIn(fieldsOf(body)), standing.stands, standing.at, (uids) => this.#source.names(uids))
  }

  async #actor(body: string): Promise<ActorNews | { readonly gone: true }> {
    const uid = numberIn(fieldsOf(body), 'uid')
    const name = (await this.#source.names([uid])).get(uid)
    const detail = name === undefined ? undefined : await this.#source.inspect(name.path)
    // The name may be another's by now.
    if (detail === undefined || detail.uid !== uid) return { gone: true }
    const stand = this.#hub.standing.stands.get(uid)
    const pace = stand === undefined ? undefined : { rate: stand.rate, load: stand.load, turns: stand.turns, growth: stand.growth }
    return { detail, why: whyBehind(stand, detail), pace }
  }

  #letters(): LettersNews {
    return { failures: this.#source.failures().slice(-lettersMost), letters: this.#source.deadLetters().slice(-lettersMost) }
  }

  async #traces(): Promise<readonly TraceNews[]> {
    const traces = this.#source.traces.slice(-tracesMost)
    const uids = new Set(traces.flatMap(({ spans }) => spans.flatMap(({ from, to }) => (typeof from === 'number' ? [from, to] : [to]))))
    const names = await this.#source.names(uids)
    const called = (who: Span['from']): string => (typeof who === 'string' ? who : who === 0 ? 'outside' : (names.get(who)?.path ?? `actor ${who}`))
    const named = (span: Span): TraceNews['spans'][number] => ({ ...span, fromName: called(span.from), toName: called(span.to) })
    return traces.map(({ id, type, at, leftOut, spans }) => ({ id, type, at, leftOut, spans: spans.map(named) }))
  }

  /** Answers at once: the message may never come. */
  #traceNext(body: string): { readonly waiting: string } {
    const type = textIn(fieldsOf(body), 'type')
    this.#source.traceNext(type).catch(() => {})
    return { waiting: type }
  }

  #mute(body: string): { readonly muted: string } {
    const id = textIn(fieldsOf(body), 'id')
    this.#source.mute(id)
    return { muted: id }
  }

  #stop(body: string): { readonly stopped: string } {
    if (!this.#control) throw new NotAllowed('Actors cannot be stopped from here: openPage was not given { control: true }.')
    const path = textIn(fieldsOf(body), 'path')
    const ref = this.#source.system.find(path)
    if (ref === undefined) throw new NotAllowed(`There is no actor ${path}.`)
    const core = coreOf(this.#source.system)
    core.observe({ type: 'control', ref, verb: 'stop', by: 'the page', at: core.runtime.now() })
    ref.stop()
    return { stopped: path }
  }
}

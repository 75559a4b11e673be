// Answers single questions of a page: a part of the list of actors, one actor, failures and dead letters, traces. And, where that was
// allowed, stops an actor; whoever watches the system sees that it was done, and from where.

import { NotAllowed } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import type { CloseNews, Lines, ProfileNews } from '../feed/news.ts'
import { checkedParts, type OwnPage, type PagePart } from '../feed/parts.ts'
import { causeText } from '../findings/events.ts'
import type { ActorDetail } from '../source/detail.ts'
import type { ObservationSource, SeenFailure, SeenLetter } from '../source/source.ts'
import type { Span, Trace } from '../sampling/span.ts'
import type { Capsule } from '../capsule/capsule.ts'
import { capsuleOf, type NoCapsule } from '../capsule/capsule-of.ts'
import type { Age } from './ages.ts'
import { Attention } from './attention.ts'
import type { Hub } from './hub.ts'
import type { CheckedPage } from './page-options.ts'
import { longestProfile, takeProfile } from './profile.ts'
import { ListMaker } from './lines.ts'
import type { Stand } from './standing.ts'
import { BadWish, fieldsOf, linesIn, numberIn, textIn } from './wishes.ts'
import { whyBehind } from './why.ts'

/** One actor, as the page shows it. */
export interface ActorNews {
  readonly detail: ActorDetail
  readonly why: readonly string[]
  readonly pace: Pick<Stand, 'rate' | 'load' | 'turns' | 'growth'> | undefined
  /** How long the message has waited that it takes next. */
  readonly oldest: Age | undefined
  readonly close: CloseNews | undefined
  /** Failures that the system remembers, also those from before anybody looked; the newest last. */
  readonly failures: readonly SeenFailure[]
  /** Whether its capsule may be had from here, where there is one. */
  readonly capsules: boolean
}
/** A page of somebody's own, as it is now; or why there is nothing to show. */
export type OwnNews = { readonly parts: readonly PagePart[] } | { readonly wrong: string }
export interface LettersNews {
  readonly failures: readonly SeenFailure[]
  readonly letters: readonly SeenLetter[]
}
export interface TraceNews extends Omit<Trace, 'spans'> {
  readonly spans: readonly (Span & { readonly fromName: string; readonly toName: string })[]
}

const lettersMost = 300
const failuresMost = 20
const tracesMost = 60

export class Desk {
  readonly #hub: Hub
  readonly #source: ObservationSource
  readonly #control: boolean

  readonly #pages: CheckedPage['pages']
  readonly #payloads: boolean
  readonly #attention: Attention
  readonly #list: ListMaker
  /** Those that are being made: one that takes long is not begun again. */
  readonly #making = new Map<string, Promise<OwnNews>>()

  constructor(hub: Hub, { control, payloads, pages }: Pick<CheckedPage, 'control' | 'payloads' | 'pages'>) {
    this.#hub = hub
    this.#source = hub.source
    this.#control = control
    this.#pages = pages
    this.#payloads = payloads !== undefined
    this.#attention = new Attention(hub.source, payloads)
    this.#list = new ListMaker(
      hub.standing,
      (uids) => hub.source.names(uids),
      (began) => hub.spend(began),
    )
    hub.whenResting(() => this.#attention.rest())
  }

  /** What is asked under which path; each throws `BadWish` at what is not its question, `NotAllowed` at what may not be. */
  readonly answers: Readonly<Record<string, (body: string) => unknown>> = {
    '/api/lines': (body) => this.#lines(body),
    '/api/actor': (body) => this.#actor(body),
    '/api/letters': () => this.#letters(),
    '/api/traces': () => this.#traces(),
    '/api/trace-next': (body) => this.#traceNext(body),
    '/api/mute': (body) => this.#mute(body),
    '/api/capsule': (body) => this.#capsule(body),
    '/api/own': (body) => this.#own(body),
    '/api/profile': (body) => this.#takeProfile(body),
    '/api/stop': (body) => this.#stop(body),
  }

  #lines(body: string): Promise<Lines> {
    return this.#list.lines(linesIn(fieldsOf(body)))
  }

  async #actor(body: string): Promise<ActorNews | { readonly gone: true }> {
    const uid = numberIn(fieldsOf(body), 'uid')
    const name = (await this.#source.names([uid])).get(uid)
    const detail = name === undefined ? undefined : await this.#source.inspect(name.path)
    // The name may be another's by now.
    if (detail === undefined || detail.uid !== uid) return { gone: true }
    const stand = this.#hub.standing.of(uid)
    const pace = stand === undefined ? undefined : { rate: stand.rate, load: stand.load, turns: stand.turns, growth: stand.growth }
    const { standing } = this.#hub
    const oldest = stand === undefined ? undefined : standing.ages.oldest(stand.seen, standing.at)
    const close = await this.#attention.of(uid, detail.path, standing.at)
    const failures = this.#source.failures().filter(({ actor }) => actor === detail.path)
    return { detail, why: whyBehind(stand, detail), pace, oldest, close, failures: failures.slice(-failuresMost), capsules: this.#payloads }
  }

  /** It holds what messages hold: only for those who may see that. */
  #capsule(body: string): Promise<Capsule | NoCapsule> {
    if (!this.#payloads) throw new NotAllowed('A capsule has messages in it, and openPage was not given { payloads: true }.')
    return capsuleOf(this.#source.system, textIn(fieldsOf(body), 'path'))
  }

  #own(body: string): Promise<OwnNews> {
    const title = textIn(fieldsOf(body), 'title')
    const show = this.#pages.get(title)
    if (show === undefined) throw new BadWish('There is no page of that title.')
    let making = this.#making.get(title)
    if (making === undefined) {
      making = shownBy(show).finally(() => this.#making.delete(title))
      this.#making.set(title, making)
    }
    return making
  }

  #takeProfile(body: string): Promise<ProfileNews> {
    return takeProfile(coreOf(this.#source.system), numberIn(fieldsOf(body), 'ms', longestProfile))
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

  async #stop(body: string): Promise<{ readonly stopped: string }> {
    if (!this.#control) throw new NotAllowed('Actors cannot be stopped from here: openPage was not given { control: true }.')
    const path = textIn(fieldsOf(body), 'path')
    const ref = this.#source.system.find(path)
    if (ref === undefined && (await this.#source.inspect(path)) !== undefined)
      throw new NotAllowed(`${path} lives below an actor of another thread: it cannot be stopped from here, the one above it can.`)
    if (ref === undefined) throw new NotAllowed(`There is no actor ${path}.`)
    const core = coreOf(this.#source.system)
    core.observe({ type: 'control', ref, verb: 'stop', by: 'the page', at: core.runtime.now() })
    ref.stop()
    return { stopped: path }
  }
}

/** What it returned, checked; what it threw, in words, for whoever made it looks at the page. */
async function shownBy(show: OwnPage): Promise<OwnNews> {
  try {
    return { parts: checkedParts(await show()) }
  } catch (cause) {
    return { wrong: causeText(cause) }
  }
}

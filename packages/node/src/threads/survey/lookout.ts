// Looks at the actors of other threads: each is asked for what changed there since it was asked last. One that does not answer in time,
// because it hangs or has too much to do, is left out, and said to be silent: its actors are then as they were seen last, and no news
// is not good news.

import { type ActorName, type LookElsewhere, type PendingAsk, type PlacedSurvey, type Survey, Surveyor, type Wait } from '@troupe/core/internal'
import type { Control, ControlOf, Exchange, Loop } from '@troupe/border'
import type { Thread } from '../pool/thread.ts'
import { Poll } from './poll.ts'

/** Milliseconds that a thread has for its answer. */
const patience = 500

interface Pool {
  readonly exchange: Exchange
  readonly threads: Iterable<Thread>
  readonly loop: Loop
  slotOf(epoch: number): number
}

type Answer = ControlOf<'looked'>
interface Gathering<A> {
  readonly answers: ReadonlyMap<number, A>
  readonly silent: readonly number[]
}
type What = ControlOf<'look'>['what']

export class Lookout implements LookElsewhere {
  readonly #pool: Pool
  readonly #poll = new Poll<Answer>()
  readonly #records = new Poll<string>()
  /** The epoch of the last survey of each thread. */
  readonly #seen = new Map<number, number>()
  constructor(pool: Pool) {
    this.#pool = pool
    pool.exchange.on('looked', (answer, crossing) => void this.#poll.answered(answer.id, crossing.peer, answer))
    pool.exchange.on('recorded', ({ id, text }, crossing) => void this.#records.answered(id, crossing.peer, text))
  }

  async survey(whole: boolean): Promise<{ readonly parts: readonly PlacedSurvey[]; readonly silent: readonly number[] }> {
    const { answers, silent } = await this.#ask('survey', { since: (epoch) => (whole ? undefined : this.#seen.get(epoch)) })
    const parts: PlacedSurvey[] = []
    for (const [place, { survey }] of answers) {
      if (survey === undefined) continue
      this.#seen.set(place, survey.epoch)
      parts.push({ ...survey, place, thread: this.#pool.slotOf(place) })
    }
    return { parts, silent: silent.map((epoch) => this.#pool.slotOf(epoch)) }
  }
  async names(uids: readonly number[] | undefined): Promise<readonly ActorName[]> {
    const { answers } = await this.#ask('names', { uids })
    return [...answers.values()].flatMap(({ names }) => names ?? [])
  }
  async waits(): Promise<readonly Wait[]> {
    const { answers } = await this.#ask('waits', {})
    return [...answers.values()].flatMap(({ waits }) => waits ?? [])
  }
  async recorded(
    path: string,
  ): Promise<{ readonly found: readonly { readonly thread: number; readonly text: string }[]; readonly silent: readonly number[] }> {
    const { answers, silent } = await this.#gather(this.#records, (id) => ({ op: 'record', id, path }))
    return {
      found: Array.from(answers, ([epoch, text]) => ({ thread: this.#pool.slotOf(epoch), text })),
      // Of one that was lost meanwhile nobody waits for a word.
      silent: silent.map((epoch) => this.#pool.slotOf(epoch)).filter((slot) => slot >= 0),
    }
  }
  leave(): void {
    this.#seen.clear()
    for (const { epoch } of this.#up()) this.#pool.exchange.tell(epoch, { op: 'look', id: 0, what: 'leave', since: undefined, uids: undefined })
  }
  readonly markOf = (ask: PendingAsk): string | undefined => markOf(this.#pool.exchange, ask)

  gone(epoch: number): void {
    this.#seen.delete(epoch)
    this.#poll.gone(epoch)
    this.#records.gone(epoch)
  }

  #up(): Thread[] {
    return [...this.#pool.threads].filter((thread) => thread.state === 'up')
  }
  #ask(
    what: What,
    how: { readonly since?: (epoch: number) => number | undefined; readonly uids?: readonly number[] | undefined },
  ): Promise<Gathering<Answer>> {
    return this.#gather(this.#poll, (id, epoch) => ({ op: 'look', id, what, since: how.since?.(epoch), uids: how.uids }))
  }
  /** Asks all threads that are up, and waits as long as they have time. */
  #gather<A>(poll: Poll<A>, order: (id: number, epoch: number) => Control): Promise<Gathering<A>> {
    const { exchange, loop } = this.#pool
    const asked = this.#up().map(({ epoch }) => epoch)
    return new Promise((resolve) => {
      let cancel = (): void => {}
      const id = poll.begin(asked, (answers = new Map()) => {
        cancel()
        resolve({ answers, silent: asked.filter((epoch) => !answers.has(epoch)) })
      })
      if (asked.length === 0) return
      for (const epoch of asked) exchange.tell(epoch, order(id, epoch))
      cancel = loop.after(patience, () => poll.enough(id))
    })
  }
}

/** What tells a question that crosses from all others; undefined of one that does not. */
function markOf({ questions, epoch }: Exchange, ask: PendingAsk): string | undefined {
  const away = questions.isAway(ask)
  const { origin, id } = away ? questions.markOf(ask) : { origin: (ask as { origin?: unknown }).origin, id: (ask as { id?: unknown }).id }
  return away || (typeof origin === 'number' && origin !== epoch) ? `${String(origin)}:${String(id)}` : undefined
}

/** Lets the main thread look at the actors that run on this one. */
export function answerLooks(exchange: Exchange, tell: (content: Control) => void): void {
  const surveyor = new Surveyor(
    exchange.core,
    () => exchange.residents.allHosted,
    (ask) => markOf(exchange, ask),
  )
  const answer = (id: number, found: { survey?: Survey; names?: readonly ActorName[]; waits?: readonly Wait[] }): void =>
    tell({ op: 'looked', id, survey: found.survey, names: found.names, waits: found.waits })
  const look = async ({ id, what, since, uids }: ControlOf<'look'>): Promise<void> => {
    if (what === 'survey') {
      surveyor.arm()
      answer(id, { survey: await surveyor.survey(since) })
    } else if (what === 'names') answer(id, { names: await surveyor.names(uids === undefined ? undefined : new Set(uids)) })
    else if (what === 'waits') answer(id, { waits: await surveyor.waits() })
    else surveyor.disarm()
  }
  exchange.on('look', (order) => void look(order))
}

// Sends values over the border in every way there is, and looks at what has come: it equals the structured clone of what was
// sent, or it was refused with the place of what could not go.

import { type ActorRef, type ActorSystem, receive, same, supervise } from '@troupe/core'
import type { Threads } from '@troupe/node'
import { Cart } from './cart.ts'
import { differs, expectedOf } from './comparing.ts'
import { type Arrival, type checkTask, type Crosser, crosser, type makeTask, type Slip } from './crosser.ts'
import { Maker } from './making.ts'
import type { Recipe } from './recipes.ts'

export const lanes = ['message', 'told', 'answer', 'headers', 'headers back', 'failure', 'arguments', 'result', 'spawn', 'handed over'] as const
export type Lane = (typeof lanes)[number]

/** What became of the values of one lane. */
export interface Tally {
  arrived: number
  refused: number
}

const module = new URL('./crosser.js', import.meta.url).href

export class Crossings {
  readonly tallies: Readonly<Record<Lane, Tally>> = Object.fromEntries(lanes.map((lane) => [lane, { arrived: 0, refused: 0 }])) as never
  /** What getters have told from here, and what has come of what they told there. */
  told = 0
  heard = 0
  readonly #system: ActorSystem
  readonly #threads: Threads
  readonly #there: ActorRef<Crosser>
  readonly #restless: ActorRef<Crosser>
  readonly #heir: ActorRef<Crosser>
  #handing: Promise<string> = Promise.resolve('')
  readonly #here: ActorRef<Arrival>
  readonly #refs: readonly ActorRef<unknown>[]
  readonly #waiting = new Map<number, { came?: { readonly value: unknown }; resolve(came: { readonly value: unknown } | undefined): void }>()
  #next = 0

  constructor(system: ActorSystem, threads: Threads) {
    this.#system = system
    this.#threads = threads
    this.#there = system.spawn(crosser(), { dispatcher: 'parallel' })
    const supervision = supervise({ limit: { restarts: 1e9, within: 60_000 }, backoff: { min: 0, max: 0 } })
    this.#restless = system.spawn(crosser(), { dispatcher: 'parallel', supervision })
    this.#heir = system.spawn(crosser(), { dispatcher: 'parallel', supervision })
    this.#here = system.spawn(
      receive<Arrival>((ctx, m) => {
        if (m.type === 'told') this.heard++
        else {
          const waiting = this.#waiting.get(m.id)!
          if (m.type === 'value') waiting.came = { value: 'value' in ctx.headers ? ctx.headers['value'] : m.value }
          else {
            this.#waiting.delete(m.id)
            waiting.resolve(waiting.came)
          }
        }
        return same
      }),
    )
    this.#refs = [this.#here, this.#there, system.spawn(crosser()), system.spawn(Cart, { args: ['book'], dispatcher: 'parallel' })] as never
  }

  /** Sends one value one way; what went wrong, in words, or undefined. */
  async cross(lane: Lane, recipe: Recipe): Promise<string | undefined> {
    const slip: Slip = { recipe: JSON.stringify(recipe), refs: this.#refs }
    const expected = expectedOf(recipe, this.#refs)
    const tally = this.tallies[lane]
    try {
      const trouble = await this.#send(lane, recipe, slip, expected.value, expected.mayArrive)
      tally.arrived++
      return trouble === '' ? undefined : trouble
    } catch (cause) {
      tally.refused++
      const named = isRefusal(cause)
      if (!named) return `it ended with ${String(cause)}`
      return expected.mayBeRefused ? undefined : `it was refused: ${String(cause)}`
    }
  }

  /** How many of those told by getters on this side have come over. */
  async overThere(): Promise<number> {
    return this.#there.ask({ type: 'count' })
  }

  async #send(lane: Lane, recipe: Recipe, slip: Slip, expected: unknown, mayArrive: boolean): Promise<string> {
    const compared = (value: unknown): string => (mayArrive ? (differs(expected, value, this.#refs) ?? '') : 'it arrived, and was to be refused')
    switch (lane) {
      case 'message':
        return this.#there.ask({ type: 'check', slip, value: this.#make(recipe) })
      case 'told':
      case 'headers back': {
        const id = this.#next++
        const came = await new Promise<{ readonly value: unknown } | undefined>((resolve) => {
          this.#waiting.set(id, { resolve })
          this.#there.tell({ type: 'tell', slip, to: this.#here, id, headers: lane !== 'told' })
        })
        if (came === undefined) throw Object.assign(new Error('refused there'), { code: 'not-transferable' })
        return compared(came.value)
      }
      case 'answer':
        return compared(await this.#there.ask({ type: 'answer', slip }))
      case 'headers':
        return this.#there.ask({ type: 'headers', slip }, { headers: { value: this.#make(recipe) } })
      case 'failure':
        return this.#failure(slip, expected, mayArrive)
      case 'arguments':
        return this.#threads.runTask<typeof checkTask>(module, 'checkTask', [slip, this.#make(recipe)])
      case 'result':
        return compared((await this.#threads.runTask<typeof makeTask>(module, 'makeTask', [slip]))[0])
      case 'spawn': {
        const spawned = this.#system.spawn(crosser(slip, this.#make(recipe)), { dispatcher: 'parallel' })
        const trouble = await spawned.ask({ type: 'args' })
        spawned.stop()
        return trouble
      }
      case 'handed over': {
        // One after the other: what is handed over is for the next incarnation.
        const before = this.#handing
        this.#handing = before.then(async () => {
          await this.#heir.ask({ type: 'hand-over', slip }).catch(() => {})
          return this.#heir.ask({ type: 'handed' })
        })
        return this.#handing
      }
    }
  }
  /** An error always arrives; its cause does if it can. */
  async #failure(slip: Slip, expected: unknown, mayArrive: boolean): Promise<string> {
    const failed: unknown = await this.#restless.ask({ type: 'fail', slip }).catch((cause: unknown) => cause)
    const error = failed as Error & { readonly code?: unknown }
    if (!(error instanceof Error) || error.message !== 'to fail' || error.code !== 'E_CROSSED') return `a failure became ${String(failed)}`
    if (!Object.hasOwn(error, 'cause')) {
      if (mayArrive) throw Object.assign(new Error('left out'), { code: 'not-transferable' })
      return ''
    }
    return mayArrive ? (differs(expected, error.cause, this.#refs) ?? '') : 'it arrived, and was to be left out'
  }

  #make(recipe: Recipe): unknown {
    const tell = (): void => {
      this.told++
      this.#there.tell({ type: 'told' })
    }
    return new Maker({ standIn: false, refs: this.#refs, tell }).make(recipe)
  }
}

/** Whether it says what could not go, and where. */
function isRefusal(cause: unknown): boolean {
  for (
    let at = cause as { code?: unknown; cause?: unknown; message?: unknown } | undefined;
    at !== undefined && at !== null;
    at = at.cause as never
  ) {
    if (at.code === 'not-transferable' || (at.code === 'ask-refused' && String(at.message).includes('not-transferable'))) return true
    if (at.code === 'not-on-thread' && String(at.message).includes('cannot go to another thread')) return true
  }
  return false
}

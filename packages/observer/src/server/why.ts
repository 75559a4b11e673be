// Why an actor is behind, in words: what it waits for, or what it would need and what it gets. Pure.

import type { Wait } from '@troupe/core/internal'
import { count, duration } from '../findings/words.ts'
import type { Stand } from './standing.ts'

export interface Circumstances {
  readonly pending: { readonly what: string; readonly ms: number } | undefined
  readonly waiting: { readonly reason: string; readonly ms: number; readonly cause: string | undefined } | undefined
  readonly waits: readonly Wait[]
  /** Its phase has nothing to do with its load. */
  readonly phase: string
}

/** Sentences, the first being the reason. */
export function whyBehind(stand: Stand | undefined, { pending, waiting, waits, phase }: Circumstances): readonly string[] {
  const said: string[] = []
  if (waiting !== undefined) {
    const cause = waiting.cause === undefined ? '' : `: ${waiting.cause}`
    said.push(`It is ${phase} for ${duration(waiting.ms)}, ${waiting.reason}${cause}. Until that is over it takes nothing.`)
  }
  const asked = waits.filter((wait) => wait.asker === stand?.seen.uid && wait.binds)
  for (const wait of asked)
    said.push(
      `It waits for the answer of ${wait.targetPath}${wait.type === undefined ? '' : ` to ${wait.type}`}, since ${duration(wait.ms)}: the question is ${where(wait)}.`,
    )
  if (pending !== undefined && asked.length === 0) said.push(`Its handler for ${pending.what} is pending for ${duration(pending.ms)}.`)
  if (stand === undefined) return said
  const { seen, rate, load, turns, growth } = stand
  const { queued, stashed } = seen
  if (queued > 0 || growth > 0) said.push(...pace({ queued, rate, load, turns, growth }))
  if (stashed > 0) said.push(`${count(stashed)} messages are stashed until it unstashes them.`)
  if (said.length === 0) said.push(rate > 0 ? `It is not: it handles ${count(rate)}/s and nothing waits.` : 'It is not: nothing waits.')
  return said
}

function pace({ queued, rate, load, turns, growth }: Pick<Stand, 'rate' | 'load' | 'turns' | 'growth'> & { readonly queued: number }): string[] {
  if (rate === 0) return [`${count(queued)} wait, and it handled none in the last round.`]
  const each = load / rate
  const comes = Math.max(0, rate + growth)
  const said = [
    `${count(comes)}/s come, ${count(rate)}/s are handled, ${count(queued)} wait. It takes ${duration(each)} for one, in ${count(turns)} turns/s: ${Math.round(load / 10)} % of the loop.`,
  ]
  if (growth > 0 && each > 0) {
    const most = 1000 / each
    said.push(
      comes > most
        ? `Alone on the thread it could do ${count(most)}/s at most: it needs to be faster, or more than one.`
        : `Alone on the thread it could do ${count(most)}/s: others take the time that it needs.`,
    )
  } else if (growth < 0) said.push(`At this pace it has caught up in ${duration((queued / -growth) * 1000)}.`)
  return said
}

function where({ state }: Wait): string {
  switch (state) {
    case 'queued':
      return 'still in the mailbox'
    case 'taken':
      return 'being handled'
    case 'handled':
      return 'handled, without an answer so far'
    case 'away':
      return 'on another thread'
  }
}

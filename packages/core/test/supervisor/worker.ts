// A child for these tests: writes what happens to it into a shared journal and ends as it is told.

import { type Behavior, receive, same, setup, stopped } from '@troupe/core'

export type Work = { type: 'crash'; cause?: unknown } | { type: 'end' } | { type: 'note'; text: string }

export interface Plan {
  /** How many of the next starts fail. */
  failStarts?: number
  /** Makes a start take until it resolves. */
  starting?: () => Promise<void>
  /** Makes a stop take until it resolves. */
  stopping?: () => Promise<void>
}

export interface Journal {
  readonly lines: string[]
  readonly plans: Record<string, Plan>
  /** Takes what was written so far. */
  readonly take: () => string[]
}

export function makeJournal(): Journal {
  const lines: string[] = []
  return { lines, plans: {}, take: () => lines.splice(0) }
}

/** `+name` when it has started, `!name` when a start failed, `-name` when an incarnation has ended. */
export function worker(name: string, journal: Journal): Behavior<Work> {
  return setup<Work>(async () => {
    const plan = (journal.plans[name] ??= {})
    await plan.starting?.()
    if ((plan.failStarts ?? 0) > 0) {
      plan.failStarts!--
      journal.lines.push(`!${name}`)
      throw new Error(`${name} cannot start`)
    }
    return receive<Work>(
      (_ctx, m) => {
        if (m.type === 'crash') throw m.cause ?? new Error(`${name} crashed`)
        if (m.type === 'end') return stopped
        journal.lines.push(`${name}: ${m.text}`)
        return same
      },
      (_ctx, signal) => {
        if (signal.type === 'PreStart') journal.lines.push(`+${name}`)
        if (signal.type === 'PreStop') return plan.stopping?.()
        if (signal.type === 'PostStop') journal.lines.push(`-${name}`)
        return same
      },
    )
  })
}

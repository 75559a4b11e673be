// How the journals of a system stand: whether they take what persistent actors give them. Asking reads memory, and nothing of the store.

import type { ActorSystem } from '@troupe/core'
import { coreOf, type SystemCore } from '@troupe/core/internal'
import { heard, known, list, number, text } from './joined.ts'
import { checkSystem } from './look.ts'

/** How one journal stands, in words and numbers. */
export interface SeenJournal {
  readonly name: string
  /** `opening`, `open`, `raising`, `lost` or `closed`. */
  readonly phase: string
  /** What it last said against opening or against a whole group, in one line; undefined since it last did what it was asked for. */
  readonly trouble: string | undefined
  /** What an operator should know though it works, in one line. */
  readonly warning: string | undefined
  /** Groups that it refused in a row. */
  readonly refused: number
  /** Whether it is given a pause, because it refused so many. */
  readonly paused: boolean
  /** Records that it has now, and for how many milliseconds it has had them. */
  readonly writing: number
  readonly writingFor: number
  /** Actors that wait for their turn behind those. */
  readonly queued: number
  /** For how many milliseconds readers of its events cannot go on, and why; 0 where they can. */
  readonly heldFor: number
  readonly heldBy: string
  /** Projections that hold back the deletion of events; left out where none does. */
  readonly retention?: readonly HeldRetention[] | undefined
}

/** A projection that has not handled events which would be deleted otherwise. */
export interface HeldRetention {
  readonly projection: string
  readonly actors: number
  readonly events: number
  /** Milliseconds. */
  readonly heldFor: number
}

/** So many groups refused in a row are all of them. */
const patience = 5
const longestTrouble = 200

/** All that there are; none where nothing is persistent. */
export function journalsOf(core: SystemCore): readonly SeenJournal[] {
  return list(heard(core, 'persistence', 'survey')).map((journal) => {
    const circuit = known(journal['circuit'])
    const heldBack = known(journal['heldBack'])
    const [trouble, warning] = ['trouble', 'warning'].map((name) => text(journal[name]).split('\n')[0]!.slice(0, longestTrouble))
    return {
      name: text(journal['name']),
      phase: text(journal['phase']),
      trouble: trouble === '' ? undefined : trouble,
      warning: warning === '' ? undefined : warning,
      refused: number(circuit['refused']),
      paused: circuit['state'] === 'open',
      writing: number(journal['writing']),
      writingFor: number(journal['writingFor']),
      queued: number(journal['queued']),
      heldFor: number(heldBack['for']),
      heldBy: text(heldBack['why']).slice(0, longestTrouble),
      retention: list(journal['retention']).map((held) => ({
        projection: text(held['projection']),
        actors: number(held['actors']),
        events: number(held['events']),
        heldFor: number(held['heldFor']),
      })),
    }
  })
}

/** Why a journal takes nothing; undefined where it does, or where nobody knows until it is tried again. */
export type Away = 'lost' | 'unopened' | 'raising' | 'refuses'

export function awayOf({ phase, trouble, refused, paused, writing }: SeenJournal): Away | undefined {
  if (phase === 'lost' || phase === 'raising') return phase
  if (phase === 'opening') return trouble === undefined ? undefined : 'unopened'
  return phase === 'open' && (paused || (refused >= patience && writing > 0)) ? 'refuses' : undefined
}

/** Whether the last that it did was to refuse; it may be back, and nobody has tried. */
export const refusedLast = ({ phase, refused }: SeenJournal): boolean => phase === 'open' && refused >= patience

const reasons: Readonly<Record<Away, string>> = {
  lost: 'was taken over by another process',
  unopened: 'cannot be opened',
  raising: 'does not say what it has stored',
  refuses: 'refuses everything',
}

/**
 * Which journals of a system take nothing at this moment, each in one line that says why; none where all do, or where nothing is persistent.
 *
 * For those who say whether a process should be given work, as `/readyz` of `troupe run` does. Guarantees: reads memory, and asks nothing of the store; but of a journal that could not be
 * opened, which nobody tries again while no work comes, it lets that be tried. Fails: with `InvalidOption` on what is no system.
 *
 * @example
 * const [away] = journalsAway(system)
 * response.writeHead(away === undefined ? 200 : 503).end(away)
 */
export function journalsAway(system: ActorSystem): readonly string[] {
  checkSystem(system)
  const core = coreOf(system)
  const away = journalsOf(core).flatMap((journal) => {
    const why = awayOf(journal)
    return why === undefined ? [] : [{ why, line: `journal ${journal.name} ${reasons[why]}` }]
  })
  if (away.some(({ why }) => why === 'unopened')) void Promise.resolve(heard(core, 'persistence', 'ready')).catch(() => {})
  return away.map(({ line }) => line)
}

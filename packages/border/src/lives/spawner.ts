// Spawning on a dispatcher of threads: checks that the actor can live there, and makes what stands for it here.

import { InvalidOption, type SpawnOptions } from '@troupe/core'
import type { Spawner } from '@troupe/core/internal'
import { originOf } from './define-actor.ts'
import { NotOnThread, NotTransferable, showPath } from '../errors.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { checkPlacement } from '../values/placement.ts'
import { snapshot } from '../values/snapshot.ts'
import { StubCell } from './stub.ts'

/** Options that matter where the actor runs; the others matter beside its parent. */
const travelling: readonly (keyof SpawnOptions)[] = [
  'stash',
  'childSupervision',
  'drain',
  'startTimeout',
  'stopTimeout',
  'onRestart',
  'reentrant',
  'accepts',
  'middleware',
  'hangAfter',
  'kind',
  'logFields',
]

/** What `spawn` uses for a dispatcher whose actors live elsewhere. `check` is given the name of every definition that is spawned; it throws where threads could not find it. */
export function spawnerFor(exchange: Exchange, dispatcherName: 'parallel' | 'pinned', check?: (name: string) => void): Spawner {
  return {
    prepare(spawnable, args, given, resolved, dispatcher) {
      const defined = originOf(spawnable, args)
      if (defined === undefined)
        throw new NotOnThread(
          `Cannot spawn on dispatcher "${dispatcherName}": the behavior does not say where its code is. Define it with defineActor(import.meta.url, …).`,
        )
      check?.(defined.origin.name)
      if (dispatcherName === 'parallel') refuseEndless(given)
      const origin = { ...defined.origin, args: kept(defined.origin.args, 'args', `argument of ${defined.origin.name}`) }
      const options: Record<string, unknown> = {}
      for (const key of travelling) {
        if (given[key] === undefined || given[key] === defined.options[key]) continue
        options[key] = kept(given[key], key, `option ${key} of ${origin.name}`, '; say it in defineActor, whose options go along')
      }
      // A system that measures all its actors means those on threads too.
      if (resolved.metrics !== undefined) options['metrics'] = { every: resolved.metrics.every }
      const placement = { dispatcher: dispatcherName, rule: checkPlacement(given.placement ?? 'round-robin') }
      return (ref) => new StubCell(ref, dispatcher, resolved, { origin, options, placement }, exchange)
    },
  }
}

/** For actors that are spawned beside others on a thread of the pool. */
export const besideOthers: Spawner = {
  prepare(_spawnable, _args, given) {
    refuseEndless(given)
    return undefined
  },
}

/** A thread that may hang for ever would take all its actors along. */
function refuseEndless({ hangAfter }: SpawnOptions): void {
  if (hangAfter === false)
    throw new InvalidOption('hangAfter', false, 'only an actor on "pinned" may hang for ever, for nobody else is on its thread; use milliseconds')
}

/** What goes along, as it is now: an actor that is started again later begins with what was given at spawn. */
function kept<T>(value: T, place: string, what: string, remedy = ''): T {
  try {
    return snapshot(value) as T
  } catch (cause) {
    if (!(cause instanceof NotTransferable)) throw cause
    throw new NotOnThread(`An ${what} cannot go to another thread: ${showPath([place, ...cause.path])} is a ${cause.what}${remedy}.`, { cause })
  }
}

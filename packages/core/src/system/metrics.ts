// The numbers of a whole system, gathered when asked for: what the cells and dispatchers count anyway, in one report.

import { fairnessOf } from '../cell/turn/fairness.ts'
import type { Dispatcher } from '../cell/turn/dispatcher.ts'
import type { DispatcherMetrics, SystemCounts, SystemMetrics } from '../values/metrics.ts'
import type { SystemCore } from './core.ts'

export function countsOf(core: SystemCore): SystemCounts {
  const { active, terminated, restarts, limitsHit, fatalStops, failedEndSignals } = core
  return { active, terminated, supervision: { restarts, limitsHit, fatalStops, failedEndSignals } }
}

export function systemMetrics(core: SystemCore): SystemMetrics {
  const { pending, unheard } = core
  const { unknown: _unknown, ...messages } = core.ledger
  return {
    at: core.runtime.now(),
    ...countsOf(core),
    pending,
    messages,
    dropReasons: { ...core.drops },
    deadLetterReasons: { ...core.burials },
    dispatchers: [...core.dispatchers.all].map(dispatcherMetrics),
    subscriptions: core.events.size,
    events: core.events.totals,
    timers: core.timers.size,
    unheard,
  }
}

function dispatcherMetrics(dispatcher: Dispatcher): DispatcherMetrics {
  const { population, depth, workers, turns, messages, shares, loopLatency, unfinished } = dispatcher.spawner?.work?.() ?? dispatcher
  return {
    name: dispatcher.name,
    state: dispatcher.state,
    actors: population,
    ready: depth,
    activeWorkers: workers,
    turns,
    messages,
    messagesPerTurn: turns === 0 ? 0 : messages / turns,
    fairness: fairnessOf(shares),
    loopLatency: loopLatency.report(),
    pressure: turns === 0 ? 0 : (100 * unfinished) / turns,
  }
}

// Begins to measure an actor that asked for it, and tells of numbers again and again where that was asked for.

import type { Deadline } from '../queues/timers.ts'
import type { Cell } from './cell.ts'
import type { CellHost } from './host.ts'
import { CellMetrics, MeteredQueue } from './metrics.ts'

export function measure(cell: Cell): void {
  const { metrics, metricsEvery } = cell.options
  if (!metrics) return
  const measured = (cell.more.metrics = new CellMetrics())
  cell.queue = new MeteredQueue(cell.queue!, cell, measured)
  if (metricsEvery === undefined) return
  const { host } = cell
  const push = pushEvery(host, metricsEvery, (at) => host.observe({ type: 'metrics.actor', ref: cell.ref, metrics: measured.report(cell, at), at }))
  ;(cell.more.endHooks ??= new Set()).add(() => host.timers.cancel(push))
}

/** Calls `push` every so many ms while anybody listens. What is late is not made up for. */
export function pushEvery(host: CellHost, every: number, push: (at: number) => void): Deadline {
  const { timers, runtime } = host
  const deadline = timers.after(every, () => {
    const now = runtime.now()
    timers.set(deadline, deadline.at + every * (Math.floor((now - deadline.at) / every) + 1))
    if (host.listening) push(now)
  })
  return deadline
}

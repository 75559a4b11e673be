// An application that tells Prometheus of itself, whether the command observes it or not.
import { receive, same } from '@troupe/core'
import { observe, observerOf } from '@troupe/observer'
import { prometheusMetrics } from '@troupe/observer/prometheus'

export const options = { logger: false }

export default async function measured(system) {
  prometheusMetrics(observerOf(system) ?? observe(system, { socket: false }), { timings: false })
  await system.started(
    system.spawn(
      receive(() => same),
      { name: 'till' },
    ),
  )
}

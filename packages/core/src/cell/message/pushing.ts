// Tells of numbers again and again, where that was asked for.

import type { Deadline } from '../../queues/timers.ts'
import type { CellHost } from '../turn/host.ts'

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

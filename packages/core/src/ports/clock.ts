// The host's time as a `Clock`, for code that runs outside of any system. What waits on it keeps the process alive, as
// the host's own timers do.

import { checkFinite, checkFunction } from '../values/checks.ts'
import type { Clock } from '../values/clock.ts'
import { hostNow, hostRandom, hostTimer } from './host.ts'

class HostClock implements Clock {
  now(): number {
    return hostNow()
  }
  random(): number {
    return hostRandom()
  }
  after(ms: number, task: () => void): () => void {
    checkFinite('ms', ms, 'from')
    checkFunction('task', task)
    const until = hostNow() + ms
    let cancel = (): void => {}
    // The host's timer has a longest delay, and may be early by a fraction of a millisecond.
    const wait = (): void => {
      const left = until - hostNow()
      if (left > 0) cancel = hostTimer(left, wait, true)
      else task()
    }
    cancel = hostTimer(ms, wait, true)
    return () => cancel()
  }
}

/** Real time; what `delay`, `timeout` and `retry` use unless they are given a system's clock. */
export const hostClock: Clock = /* @__PURE__ */ new HostClock()

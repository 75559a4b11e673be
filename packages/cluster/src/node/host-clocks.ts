// The clocks of this machine, and which clock the leases of a node are counted by.
//
// Linux: `performance.now()` stops while the machine is suspended; `os.uptime()` does not (it is the boot clock, in steps of 10 ms).
// macOS and Windows: both go on; `os.uptime()` has steps of 1 s on macOS.

import { type ExecutionRuntime, HostRuntime } from '@troupe/core'
import { uptime } from 'node:os'
import { type HostClocks, LeaseClock } from '../membership/lease-clock.ts'

/** The steps of `os.uptime()` are at most 1 s, twice: at the start and at the time of a comparison. */
const coarseMs = 2_000
const fineMs = 100

export function hostClocks(runtime: HostRuntime): HostClocks {
  return {
    monotonic: () => runtime.now(),
    // oxlint-disable-next-line no-restricted-globals -- the clock of this machine, for systems that run on this machine's time
    wall: () => Date.now(),
    boot: bootClock(),
    bootResolutionMs: process.platform === 'darwin' ? coarseMs : fineMs,
  }
}

/** The boot clock; undefined where the host refuses to tell, as a sandbox may. */
function bootClock(): (() => number) | undefined {
  try {
    return uptime() > 0 ? () => uptime() * 1_000 : undefined
  } catch {
    return undefined
  }
}

/** The clock that leases are counted by, for a system on this runtime. A runtime of your own has `bootNow`, or counts suspensions in `now`. */
export function leaseClockOf(runtime: ExecutionRuntime): () => number {
  if (runtime.bootNow !== undefined) return () => runtime.bootNow!()
  if (runtime instanceof HostRuntime) return new LeaseClock(hostClocks(runtime)).now
  return () => runtime.now()
}

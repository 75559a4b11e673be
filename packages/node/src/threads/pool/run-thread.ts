// Makes this worker thread one of a system: a place on the thread's own ports and loop.

import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { parentPort } from 'node:worker_threads'
import { NotAllowed } from '@troupe/core'
import { hostLoop, type Load, loadExport } from '@troupe/border'
import type { Wiring } from '../wire/medium.ts'
import { threadData } from './here.ts'
import { startPlace } from './place.ts'
import { makeRecording, type Recording } from './recording.ts'

/** `load` finds the code of actors and tasks; the modules of the host if left out. */
export function runThread(load?: Load): void {
  const data = threadData()
  if (data === undefined)
    throw new NotAllowed(
      '@troupe/node/worker was imported where no system has made the thread. Import it into a worker entry alone, and give that to threads(system, { worker }).',
    )
  const port = parentPort!
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  let before = performance.eventLoopUtilization()

  // The first word, so that it is known that this thread is one of the system.
  port.postMessage({})
  const start = (recording?: Recording): void => {
    const place = startPlace(data, {
      load,
      recording,
      loop: hostLoop,
      connect: (peer) => port.postMessage({ connect: peer }),
      vitals: () => {
        const now = performance.eventLoopUtilization()
        const vitals = { busy: performance.eventLoopUtilization(now, before).utilization, loopDelay: Math.max(0, delay.max / 1e6 - 20) }
        before = now
        delay.reset()
        return vitals
      },
      fail: (cause) =>
        void setImmediate(() => {
          throw cause
        }),
    })
    port.on('message', (message: { readonly wiring?: Wiring }) => {
      if (message.wiring !== undefined) place.wire(message.wiring)
    })
  }
  // What the main thread says meanwhile waits in its way, or in the port until somebody listens.
  if (data.recorder === undefined) start()
  else void makeRecording(data.recorder, load ?? loadExport).then(start)
}

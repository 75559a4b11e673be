// The entry of a worker thread: a place on the thread's own ports and loop.

import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { parentPort, workerData } from 'node:worker_threads'
import { hostLoop } from '@troupe/border'
import type { Wiring } from '../wire/medium.ts'
import { onMadeThread } from './here.ts'
import { startPlace, type ThreadData } from './place.ts'

onMadeThread()
const port = parentPort!
const delay = monitorEventLoopDelay({ resolution: 20 })
delay.enable()
let before = performance.eventLoopUtilization()

const place = startPlace(workerData as ThreadData, {
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

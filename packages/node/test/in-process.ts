// Places of one system in one process, on the host's loop: what runs on a worker otherwise. Ended as a worker is, they do
// nothing any more.

import type { ActorSystem } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import type { Launch } from '../src/threads/pool/engine.ts'
import { hostLoop, type Loop } from '../../border/src/values/loop.ts'
import { mediumOf } from '../src/threads/wire/media.ts'
import { type Place, startPlace } from '../src/threads/pool/place.ts'
import { ThreadPool } from '../src/threads/pool/pool.ts'

export interface InProcess {
  readonly pool: ThreadPool
  /** Places by the number of their thread. */
  readonly places: ReadonlyMap<number, Place>
}

export function inProcess(system: ActorSystem, size = 2, shared = true): InProcess {
  const places = new Map<number, Place>()
  const launch: Launch = (data, _name, events) => {
    let ended = false
    const endings: (() => void)[] = []
    const alive = (task: () => void) => (): void => {
      if (!ended) task()
    }
    const loop: Loop = {
      microtask: (task) => hostLoop.microtask(alive(task)),
      soon: (task) => hostLoop.soon(alive(task)),
      after: (ms, task) => hostLoop.after(ms, alive(task)),
      every: (ms, task) => {
        const end = hostLoop.every(ms, task)
        endings.push(end)
        return end
      },
    }
    const terminate = (): Promise<void> => {
      if (ended) return Promise.resolve()
      ended = true
      for (const end of endings) end()
      return new Promise((resolve) =>
        setImmediate(() => {
          events.exited(1)
          resolve()
        }),
      )
    }
    const place = startPlace(data, {
      loop,
      connect: (peer) => setImmediate(alive(() => events.connect(peer))),
      vitals: () => ({ busy: 0, loopDelay: 0 }),
      fail: (cause) => {
        events.failed(cause)
        void terminate()
      },
    })
    places.set(data.epoch, place)
    return { give: (wiring) => setImmediate(alive(() => place.wire(wiring))), terminate }
  }
  const core = coreOf(system)
  const pool = new ThreadPool(core, {
    size,
    hangAfter: 10_000,
    medium: mediumOf(shared, 64 * 1024),
    systemName: core.name,
    systemId: core.id,
    askTimeout: core.askTimeout,
    spin: 0,
    byName: false,
    loop: hostLoop,
    launch,
  })
  return { pool, places }
}

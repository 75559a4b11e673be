// Whether this code runs on a thread that Troupe has made: such a thread was given what it is to be.

import { isMainThread, workerData } from 'node:worker_threads'
import type { ThreadData } from './place.ts'

export function isMadeThread(): boolean {
  return threadData() !== undefined
}

/** What this thread was started with; undefined on others. */
export function threadData(): ThreadData | undefined {
  const data = workerData as Partial<ThreadData> | null | undefined
  return isMainThread || typeof data !== 'object' || data?.berth === undefined ? undefined : (data as ThreadData)
}

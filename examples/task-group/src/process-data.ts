// Three pieces of work that run at once and end together: if one fails, the others are told to stop, and the caller
// hears of it after the last has ended.

import { type Clock, delay, TaskGroup } from '@troupe/core'

export interface Step {
  readonly name: string
  readonly ms: number
  readonly fails?: boolean
}

export async function processData(steps: readonly Step[], log: (line: string) => void, clock?: Clock): Promise<string[]> {
  await using group = new TaskGroup()
  const results = steps.map(({ name, ms, fails = false }) =>
    group.spawn(async (signal) => {
      try {
        await delay(ms, { signal, clock })
        if (fails) throw new Error(`${name} broke`)
        log(`${name} is done`)
        return name
      } catch (cause) {
        log(signal.aborted ? `${name} was cancelled` : `${name} failed`)
        throw cause
      }
    }),
  )
  await group.waitAll()
  return Promise.all(results)
}

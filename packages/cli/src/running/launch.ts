// Makes the system of an application, with what the command line asks for: threads, the recorder, the socket and the page.

import { ActorSystem } from '@troupe/core'
import { capsuleRecorder, observe, type Observer } from '@troupe/observer'
import { Exit, exitCodes } from '../exit.ts'
import { sibling } from '../siblings.ts'
import type { Program } from './user-module.ts'

export interface LaunchOptions {
  readonly observe: number | undefined
  readonly socket: boolean
  readonly threads: number | undefined
  /** How many messages of each actor are recorded; undefined for none. */
  readonly record: number | undefined
}

export interface Launched {
  readonly system: ActorSystem
  readonly observer: Observer | undefined
}

/** Everything that looks on is there before the first turn of the application. */
export async function launch(name: string, { main, options }: Program, given: LaunchOptions, say: (text: string) => void): Promise<Launched> {
  const node = given.threads === undefined ? undefined : await sibling('--threads', '@troupe/node', () => import('@troupe/node'))
  const recorder = given.record === undefined ? undefined : capsuleRecorder({ capacity: given.record })
  const root = main.is === 'behavior' ? main.root : undefined
  let system: ActorSystem
  try {
    system = ActorSystem.create(name, { ...options, ...(root && { root }), ...(recorder && { flightRecorder: recorder }) })
  } catch (cause) {
    throw new Exit(exitCodes.usage, `The system cannot be made: ${(cause as Error).message}`)
  }
  try {
    node?.threads(system, { size: given.threads })
    const observer = await opened(system, given, say)
    return { system, observer }
  } catch (cause) {
    await system.shutdown()
    throw cause
  }
}

/** Looking is no part of the application: where the socket cannot be opened, it runs without. A page that was asked for must be there. */
async function opened(system: ActorSystem, given: LaunchOptions, say: (text: string) => void): Promise<Observer | undefined> {
  if (!given.socket && given.observe === undefined) return undefined
  let observer: Observer | undefined
  try {
    observer = observe(system, { socket: given.socket })
    // An application may be over before anybody could look.
    await Promise.race([observer.ready, system.terminated])
  } catch (cause) {
    say(`troupe cannot attach to it: ${(cause as Error).message}`)
    await observer?.close()
    if (given.observe === undefined) return undefined
    observer = observe(system, { socket: false })
  }
  if (given.observe !== undefined && system.phase === 'open') {
    try {
      say(`page at ${(await observer.openPage({ port: given.observe })).url}`)
    } catch (cause) {
      throw new Exit(exitCodes.usage, `The page cannot be served at port ${given.observe}: ${(cause as Error).message}`)
    }
  }
  return observer
}

// What lies between threads: how bytes go over, how a sleeper is woken, and where a thread shows that it lives. There are
// two, shared memory, and message ports where the host has none; and whatever is given to places of one process. Which one it is is decided once, in media; everybody else
// depends on what is said here.

import type { MessagePort } from 'node:worker_threads'
import type { Bell, Line } from '@troupe/border'
import type { Signs, SignsSeen } from './signs.ts'

/** What a thread makes its end of a line from. */
export type LineParts =
  | {
      readonly kind: 'shared'
      readonly out: SharedArrayBuffer
      readonly in: SharedArrayBuffer
      /** Where the peer says that it sleeps. */
      readonly bell: SharedArrayBuffer
      readonly wake: MessagePort
    }
  | { readonly kind: 'ports'; readonly out: MessagePort; readonly in: MessagePort; readonly size: number }
  /** For places of one process: the end itself. */
  | { readonly kind: 'given'; readonly line: Line }

/** What both ends of a way are given when it is opened. */
export interface Wiring {
  readonly peer: number
  readonly line: LineParts
  /** For what must go by structured clone. */
  readonly cargo: MessagePort
}

/** What a thread makes its bell and its signs from. */
export type BerthParts =
  | { readonly kind: 'shared'; readonly bell: SharedArrayBuffer; readonly board: SharedArrayBuffer }
  | { readonly kind: 'ports'; readonly board: MessagePort }
  | { readonly kind: 'given'; readonly berth: OwnBerth }

/** A thread's own: its bell, and where it shows its signs. */
export interface OwnBerth {
  readonly bell: Bell
  readonly signs: Signs
}

/** What the main thread sees of a thread, and what that one is to be given. */
export interface Berth {
  /** Whether it said that it sleeps and nobody has rung since, as far as that can be seen. */
  readonly asleep: boolean
  readonly signs: SignsSeen
  readonly parts: BerthParts
}

/** A way between two threads as the one who made it sees it. */
export interface Way {
  readonly atA: LineParts
  readonly atB: LineParts
  /** What was not read, in words. */
  standing(): string
}

/** Makes what lies between threads; used by the main one, whose number is 0. */
export interface Medium {
  readonly mainBell: Bell
  berth(epoch: number): Berth
  /** A way between two threads that have their berths. */
  way(a: number, b: number): Way
  /** A thread is gone. */
  forget(epoch: number): void
}

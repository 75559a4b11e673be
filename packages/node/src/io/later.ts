// Deadlines of things that are not actors: on the system's clock, so that virtual time drives them too.

import type { ActorContext, ActorRef } from '@troupe/core'

/** Calls `act` once after `ms`; returns what cancels it. It runs between turns, so it may only tell and close. */
export function later(ctx: ActorContext<never>, ms: number, act: () => void): () => void {
  // The system only ever tells this address; nothing else about it is reachable.
  const address = { tell: act } as unknown as ActorRef<'due'>
  return ctx.system.sendAfter(address, ms, 'due')
}

/** The longest time that the host's timers know; they take a longer one for none at all. */
const longest = 2 ** 31 - 1

/** Calls `act` after `ms` of the host's time, for what outlives its actor; returns what cancels it. */
export function atMost(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, Math.min(ms, longest))
  return () => clearTimeout(timer)
}

/** Calls `idle` once `read()` has not changed for `ms`, looked at four times in that span; returns what cancels it. */
export function whenIdle(ctx: ActorContext<never>, ms: number, read: () => number, idle: () => void): () => void {
  let last = read()
  let quiet = 0
  let cancel = (): void => {}
  const system = ctx.system
  const look = (): void => {
    const now = read()
    quiet = now === last ? quiet + 1 : 0
    last = now
    if (quiet >= 4) return idle()
    cancel = system.sendAfter({ tell: look } as unknown as ActorRef<'due'>, ms / 4, 'due')
  }
  cancel = later(ctx, ms / 4, look)
  return () => cancel()
}

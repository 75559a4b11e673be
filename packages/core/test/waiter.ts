// An actor that waits when told to, for tests of what acts while a handler is pending.

import { type ActorContext, type Behavior, receive, same, setup } from '@troupe/core'
import type { Msg } from './keeper.ts'

export type Slow = Msg | { type: 'wait'; until: Promise<unknown> }

/** Waits when told to, and keeps what it sees, with the incarnation that saw it. */
export const waiter = (log: string[], found?: (ctx: ActorContext<Slow>) => void, init?: (ctx: ActorContext<Slow>) => void): Behavior<Slow> =>
  setup<Slow>((ctx) => {
    const { incarnation } = ctx
    init?.(ctx)
    return receive<Slow>(
      async (c, m) => {
        if (m.type === 'boom') throw m.cause
        if (m.type === 'say') log.push(`${m.word} ${incarnation}`)
        if (m.type !== 'wait') return same
        found?.(c)
        await m.until
        log.push(`waited ${incarnation}`)
        return same
      },
      (_c, s) => {
        if (s.type !== 'PreStart' && s.type !== 'PostStart') log.push(`${s.type} ${incarnation}`)
        return same
      },
    )
  })

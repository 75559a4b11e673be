// An actor for a thread: it tells another what it sees in its headers, and passes those on.
import { receive, same } from '@troupe/core'
import { defineActor } from '@troupe/node'

export const porter = defineActor(import.meta.url, 'porter', () =>
  receive((ctx, m) => {
    m.to.tell(ctx.headers, { headers: ctx.headers })
    return same
  }),
)

// An actor for a thread: it asks whom it is given, and answers with what came of it.

import { receive, same } from '@troupe/core'
import { defineActor } from '@troupe/node/threads'

export const asker = defineActor(import.meta.url, 'asker', () =>
  receive(async (ctx, { target, timeout, replyTo }) => {
    const came = await ctx.ask(target, { type: 'hello' }, { timeout }).catch((cause) => `${cause.code}: ${cause.message}`)
    replyTo.tell(came)
    return same
  }),
)

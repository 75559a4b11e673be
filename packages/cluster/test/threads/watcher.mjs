// An actor for a thread: it watches what it is told to, and says what it has heard.

import { receive, same, setup } from '@troupe/core'
import { defineActor } from '@troupe/node/threads'

export const watcher = defineActor(import.meta.url, 'watcher', () =>
  setup(() => {
    const heard = []
    return receive(
      async (ctx, { type, ref, tell, count, replyTo }) => {
        if (type === 'watch') ctx.watch(ref)
        if (tell !== undefined) ref.tell({ type: tell })
        if (type === 'unwatch') ctx.unwatch(ref)
        if (type === 'flood') {
          for (let n = 0; n < count; n++) ref.tell({ type: 'work' })
          ctx.watch(ref)
        }
        if (type === 'hello') return void replyTo.tell(await ctx.ask(ref, { type: 'hello' }))
        replyTo.tell([...heard])
        if (type === 'forget') heard.length = 0
        return same
      },
      (_ctx, signal) => {
        if (signal.type === 'Terminated')
          heard.push(`${signal.reason}${signal.cause === undefined ? '' : `:${signal.cause.code ?? signal.cause.message}`}`)
        return same
      },
    )
  }),
)

// An actor for a thread: keeps the latest ref that it got, passes refs on, and collects garbage on request.

import { receive, same, setup } from '@troupe/core'
import { defineActor } from '@troupe/node/threads'

export const holder = defineActor(import.meta.url, 'holder', () =>
  setup(() => {
    let kept
    return receive((_ctx, { type, ref, to, replyTo }) => {
      if (type === 'keep') kept = ref
      if (type === 'pass') to.tell({ type: 'keep', ref })
      if (type === 'drop') kept = undefined
      if (type === 'gc') globalThis.gc()
      if (type === 'tell') kept.tell({ type: 'add' })
      replyTo?.tell(type)
      return same
    })
  }),
)

// Actors for the tests of deadlocks across threads: built, so that threads of any Node can load them.

import { type ActorRef, type AskOptions, receive, same, setup } from '@troupe/core'
import { type ActorDefinition, defineActor } from '@troupe/node/threads'

export type Asker =
  | { type: 'ask'; through: readonly ActorRef<Asker>[]; options?: AskOptions; replyTo: ActorRef<string> }
  | { type: 'keep'; replyTo: ActorRef<string> }

/** Asks the first of those it is given, who asks the next, and answers what came of it. */
export const asker: ActorDefinition<[], Asker> = defineActor(import.meta.url, 'asker', () =>
  setup<Asker>((ctx) => {
    const kept: ActorRef<string>[] = []
    return receive<Asker>(async (_ctx, m) => {
      if (m.type === 'keep') {
        kept.push(m.replyTo)
        return same
      }
      const [next, ...through] = m.through
      const came =
        next === undefined
          ? 'the end'
          : await ctx
              .ask(next, { type: 'ask', through, ...(m.options === undefined ? undefined : { options: m.options }) }, m.options)
              .catch((c: { code: string; cycle?: string[] }) => `${c.code}${c.cycle === undefined ? '' : `: ${c.cycle.join(' → ')}`}`)
      for (const replyTo of kept.splice(0)) replyTo.tell('kept')
      m.replyTo.tell(came)
      return same
    })
  }),
)

// The actors that the tests of the gate use.

import type { ActorRef } from '@troupe/core'
import { createTestKit, type TestKit } from '@troupe/testkit'
import { eventSourced, type JournalSource, type Kind, persistence, type PersistenceOptions } from '@troupe/persistence'

export type Counter =
  | { type: 'inc'; by: number }
  | { type: 'add'; by: number; replyTo: ActorRef<number> }
  | { type: 'twice'; by: number; replyTo: ActorRef<number> }
  | { type: 'get'; replyTo: ActorRef<number> }
  | { type: 'fail'; by: number; replyTo: ActorRef<number> }
  | { type: 'huh'; replyTo: ActorRef<number> }
  | { type: 'pass'; to: ActorRef<number> }
  | { type: 'end' }
  | { type: 'effect'; run: () => void }

export const counter: Kind<Counter> = eventSourced('counter', {
  initial: () => 0,
  events: { added: (n, e: { by: number }) => n + e.by },
  commands: {
    inc: (ctx, m) => ctx.persist({ type: 'added', by: m.by }),
    add(ctx, m) {
      ctx.persist({ type: 'added', by: m.by })
      ctx.tell(m.replyTo, ctx.state)
    },
    twice(ctx, m) {
      ctx.persist({ type: 'added', by: m.by })
      ctx.persist({ type: 'added', by: m.by })
      ctx.tell(m.replyTo, ctx.state)
    },
    get: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
    fail(ctx, m) {
      ctx.persist({ type: 'added', by: m.by })
      ctx.tell(m.replyTo, -1)
      throw new Error(`failed at ${ctx.state}`)
    },
    huh: (ctx) => ctx.unhandled(),
    pass: (ctx, m) => ctx.tell(m.to, ctx.state),
    end: (ctx) => ctx.stop(),
    effect(ctx, m) {
      ctx.persist({ type: 'added', by: 1 })
      ctx.after(() => m.run())
    },
  },
  snapshotEvery: 10,
  tags: (e) => (e.by > 100 ? ['large'] : []),
})

/** A kit whose system has this journal. */
export function kitWith(journal: JournalSource, options: Omit<PersistenceOptions, 'journal'> = {}): TestKit {
  return createTestKit({ extensions: [persistence({ journal, ...options })] })
}

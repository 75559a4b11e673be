// What the compiler says about commands: what they may do, and that nothing can leave beside the gate.

import type { ActorRef } from '@troupe/core'
import { durableState, EventSourced, eventSourced, type Kind, type To } from '@troupe/persistence'
import { expectTypeOf, test } from 'vitest'

type Cart =
  | { type: 'add'; sku: string; n: number; replyTo: ActorRef<number> }
  | { type: 'order'; replyTo: ActorRef<{ refused: string } | 'ordered'> }
  | { type: 'clear' }

const other: Kind<Cart> = eventSourced('cart', {
  initial: (): { total: number; ordered: boolean } => ({ total: 0, ordered: false }),
  events: { added: (s, e: { n: number }) => ({ ...s, total: s.total + e.n }), ordered: (s) => ({ ...s, ordered: true }) },
  commands: {
    add(ctx, m) {
      expectTypeOf(m.replyTo).toEqualTypeOf<To<number>>()
      expectTypeOf(ctx.state.total).toEqualTypeOf<number>()
      ctx.persist({ type: 'added', n: m.n }, { type: 'ordered' })
      ctx.tell(m.replyTo, ctx.state.total)
      // @ts-expect-error an answer of another type
      ctx.tell(m.replyTo, 'text')
      // @ts-expect-error an address that the context alone can tell
      m.replyTo.tell(1)
      // @ts-expect-error no such event
      ctx.persist({ type: 'removed', n: 1 })
      // @ts-expect-error an event without its data
      ctx.persist({ type: 'added' })
      // @ts-expect-error the state is what events make of it
      ctx.state = { total: 1, ordered: false }
      // @ts-expect-error there is no spawn: a child could not be taken back
      ctx.spawn(other('x'))
    },
    order(ctx, m) {
      ctx.tell(m.replyTo, { refused: 'empty' })
      // @ts-expect-error not what is answered
      ctx.tell(m.replyTo, { refuse: 'empty' })
    },
    clear: (ctx) =>
      ctx.ask({} as ActorRef<Cart>, { type: 'order' }, (result) => {
        if (result.ok) expectTypeOf(result.answer).toEqualTypeOf<{ refused: string } | 'ordered'>()
        return { type: 'clear' }
      }),
  },
  tags: (e) => (e.type === 'added' && e.n > 3 ? ['many'] : []),
})

// @ts-expect-error a message without a command
export const missing: Kind<Cart> = eventSourced('cart', { initial: () => 0, events: {}, commands: { add: () => undefined, order: () => undefined } })

// @ts-expect-error commands are synchronous
export const late: Kind<{ type: 'go' }> = eventSourced('late', { initial: () => 0, events: {}, commands: { go: () => Promise.resolve() } })

// @ts-expect-error what a command returns is nobody's: events are persisted
export const returned: Kind<{ type: 'go' }> = eventSourced('late', { initial: () => 0, events: {}, commands: { go: () => ({ type: 'went' }) } })

export const box: Kind<{ type: 'put'; what: string; replyTo: ActorRef<number> }> = durableState('box', {
  initial: (): readonly string[] => [],
  commands: {
    put(ctx, m) {
      ctx.set([...ctx.state, m.what])
      // @ts-expect-error another state
      ctx.set('text')
      // @ts-expect-error a state has no events
      ctx.persist({ type: 'x' })
      ctx.tell(m.replyTo, ctx.seq)
    },
  },
})

export class Account extends EventSourced<number, { readonly type: 'paid'; readonly n: number }> {
  static readonly persistence = { kind: 'account' }
  protected initial(): number {
    return 0
  }
  protected apply(state: number, event: { readonly n: number }): number {
    return state + event.n
  }
  pay(n: number): number {
    this.persist({ type: 'paid', n })
    // @ts-expect-error no such event
    this.persist({ type: 'payed', n })
    // @ts-expect-error the gate has no spawn
    this.gate.spawn()
    return this.state
  }
}

test('a kind is a function of a key', () => {
  expectTypeOf(other).parameters.toEqualTypeOf<[key: string]>()
})

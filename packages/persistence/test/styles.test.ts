// The other styles behind the same gate: classes, and states without a history.

import { type ActorHandle, type ActorRef, type AnyRef, behaviorOfClass, handleOf, passivate, receive, same, stopped } from '@troupe/core'
import { cellOf, kindOfActor } from '@troupe/core/internal'
import { durableState, EventSourced, type Kind, memory } from '@troupe/persistence'
import { describe, expect, test } from 'vitest'
import { kitWith } from './counter.ts'
import { heldJournal } from './held-journal.ts'

type Event = { readonly type: 'added'; readonly n: number } | { readonly type: 'emptied' }

class Cart extends EventSourced<number, Event> {
  static readonly persistence = { kind: 'cart', snapshotEvery: 3 }
  protected initial(): number {
    return 0
  }
  protected apply(state: number, event: Event): number {
    return event.type === 'added' ? state + event.n : 0
  }
  add(n: number, witness?: ActorRef<number>): number {
    this.persist({ type: 'added', n })
    witness?.tell(this.state)
    return this.state
  }
  empty(): void {
    this.persist({ type: 'emptied' })
  }
  total(): number {
    return this.state
  }
  late(): Promise<number> {
    this.persist({ type: 'added', n: 1000 })
    return Promise.resolve(1)
  }
  breed(): void {
    this.ctx.spawn(Cart as never, { args: ['child'] } as never)
  }
  end(): void {
    this.gate.stop()
  }
}

describe('a class', () => {
  test('answers, and tells through ordinary refs, when what it saw is durable; recovers from events and snapshots', async () => {
    const journal = heldJournal()
    const kit = kitWith(journal)
    const probe = kit.probe<number>()
    const cart = kit.system.spawn(Cart, { args: ['1'] })
    await kit.settle()
    const answer = cart.ask.add(2, probe.ref)
    await kit.settle()
    probe.expectNone()
    await journal.waiting[0]!.end('store')
    await kit.settle()
    await expect(answer).resolves.toBe(2)
    probe.expect(2)
    journal.through = true
    for (let i = 0; i < 6; i++) cart.tell.add(1)
    cart.tell.end()
    await kit.settle()
    expect(kit.system.phaseOf(cart)).toBe('terminated')
    const again = kit.system.spawn(Cart, { args: ['1'] })
    const total = again.ask.total()
    await kit.settle()
    await expect(total).resolves.toBe(8)
    await kit.end()
  })

  test('hears a signal when all that it persisted is durable, and may spawn and send then', async () => {
    const journal = heldJournal()
    const kit = kitWith(journal)
    const probe = kit.probe<string>()
    const helper = kit.system.spawn(receive<'leave'>(() => stopped))
    class Owner extends Cart {
      override onStart(): void {
        this.ctx.watch(helper)
      }
      override onTerminated(): void {
        const next = this.ctx.spawn(
          receive<string>(() => same),
          { name: 'next' },
        )
        probe.ref.tell(`${this.total()} and ${next.path}`)
      }
    }
    const owner = kit.system.spawn(Owner, { args: ['1'] })
    await kit.settle()
    owner.tell.add(2)
    await kit.settle()
    helper.tell('leave')
    await kit.settle()
    probe.expectNone()
    await journal.waiting[0]!.end('store')
    await kit.settle()
    expect(probe.messages).toEqual([expect.stringMatching(/^2 and .*\/next$/)])
    expect(kit.system.failures.list()).toEqual([])
    journal.through = true
    await kit.end()
  })

  test('async methods fail and leave nothing; spawning is refused; what is not its protocol is unhandled', async () => {
    const kit = kitWith(memory())
    const cart = kit.system.spawn(Cart, { args: ['1'] })
    await kit.settle()
    const ends = [cart.ask.late(), (cart.ask as unknown as { breed(): Promise<void> }).breed()].map((promise) =>
      promise.then(
        () => 'answered',
        (cause: { code: string }) => cause.code,
      ),
    )
    await kit.advance(1000)
    expect(await Promise.all(ends)).toEqual(['not-allowed', 'not-allowed'])
    const poked = (cart as unknown as ActorRef<unknown>).ask({ type: 'apply', args: [5, {}] } as never).then(
      () => 'answered',
      (cause: { code: string }) => cause.code,
    )
    await kit.settle()
    expect(await poked).toBe('unhandled')
    const total = cart.ask.total()
    await kit.settle()
    await expect(total).resolves.toBe(0)
    await kit.end()
  })

  test('a class is a behavior wherever one is taken, with its journal: behaviorOfClass, and passivation around it', async () => {
    const journal = memory()
    const kit = kitWith(journal)
    const spawned = (): ActorHandle<Cart> => handleOf<Cart>(kit.system.spawn(passivate(behaviorOfClass(Cart, '7'), { after: 1000 })))
    const cart = spawned()
    expect(await kit.until(cart.ask.add(3))).toBe(3)
    await kit.advance(2000)
    expect(kit.system.phaseOf(cart)).toBe('terminated')
    expect(await kit.until(spawned().ask.total())).toBe(3)
    expect(() => behaviorOfClass(Cart, '')).toThrow(/1 to 400/)
    await kit.end()
  })

  test('a class that does not say what it is, and a key that is none, are refused at spawn', async () => {
    class Nameless extends EventSourced<number, Event> {
      protected initial(): number {
        return 0
      }
      protected apply(state: number): number {
        return state
      }
    }
    const kit = kitWith(memory())
    expect(() => kit.system.spawn(Nameless, { args: ['1'] })).toThrow(/static readonly persistence/)
    expect(() => kit.system.spawn(Cart, { args: [''] })).toThrow(/1 to 400/)
    await kit.end()
  })
})

type Box =
  | { type: 'put'; what: string; replyTo: ActorRef<number> }
  | { type: 'more' }
  | { type: 'empty' }
  | { type: 'look'; replyTo: ActorRef<readonly string[]> }

const box: Kind<Box> = durableState('box', {
  initial: (): readonly string[] => [],
  commands: {
    put(ctx, m) {
      ctx.set([...ctx.state, m.what])
      ctx.tell(m.replyTo, ctx.seq)
    },
    more: (ctx) => ctx.update((state) => [...state, 'more']),
    empty: (ctx) => ctx.clear(),
    look: (ctx, m) => ctx.tell(m.replyTo, ctx.state),
  },
})

test('actors are called by their kind in figures, in every style, unless whoever spawns one says otherwise', async () => {
  const kit = kitWith(memory())
  const kinds = [kit.system.spawn(Cart, { args: ['1'] }), kit.system.spawn(box('1')), kit.system.spawn(box('2'), { kind: 'chest' })].map((ref) =>
    kindOfActor(cellOf(ref as AnyRef)!),
  )
  expect(kinds).toEqual(['cart', 'box', 'chest'])
  await kit.end()
})

describe('a durable state', () => {
  test('is kept as a whole; changes made while one is written are one write; the gate is the same', async () => {
    const journal = heldJournal()
    const kit = kitWith(journal)
    const ref = kit.system.spawn(box('1'))
    await kit.settle()
    const first = ref.ask({ type: 'put', what: 'a' })
    await kit.settle()
    ref.tell({ type: 'more' })
    ref.tell({ type: 'more' })
    const look = ref.ask({ type: 'look' })
    await kit.settle()
    await journal.waiting[0]!.end('store')
    await kit.settle()
    await expect(first).resolves.toBe(1)
    expect(journal.waiting[0]!.group).toMatchObject([{ write: 'state', expected: 1, revision: 3, data: '["a","more","more"]' }])
    await journal.waiting[0]!.end('store')
    await kit.settle()
    await expect(look).resolves.toEqual(['a', 'more', 'more'])
    journal.through = true
    kit.system.restart(ref)
    const after = ref.ask({ type: 'look' })
    await kit.settle()
    await expect(after).resolves.toEqual(['a', 'more', 'more'])
    ref.tell({ type: 'empty' })
    kit.system.restart(ref)
    const cleared = ref.ask({ type: 'put', what: 'b' })
    await kit.advance(100)
    await expect(cleared).resolves.toBe(5)
    await kit.end()
  })
})

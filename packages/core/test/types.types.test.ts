// The types of DESIGN section 4: what is inferred, and what does not compile. The compiler is the test; where a claim
// needs a running system as well, it has one.

import { createTestKit } from '@troupe/testkit'
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  type ActorContext,
  type ActorRef,
  type ActorSystem,
  type AnswerTo,
  type AnyRef,
  type Behavior,
  empty,
  ignore,
  match,
  type QuestionOf,
  receive,
  type RepliesOf,
  same,
  setup,
  type Signal,
  stopped,
  supervise,
  unhandled,
  withOptions,
} from '@troupe/core'

type Counter = { type: 'add'; by: number } | { type: 'get'; replyTo: ActorRef<number> } | { type: 'name'; upper: boolean; replyTo: ActorRef<string> }
type Door = { type: 'open' } | { type: 'close'; hard: boolean }
type Wrapped = { question: 'size'; answer: ActorRef<bigint> }

const counter = (n = 0): Behavior<Counter> =>
  receive((_ctx, m) => {
    switch (m.type) {
      case 'add':
        return counter(n + m.by)
      case 'get':
        m.replyTo.tell(n)
        return same
      case 'name':
        m.replyTo.tell(m.upper ? 'COUNTER' : 'counter')
        return same
    }
  })

/** Only for the compiler: never called. */
const compiles = (_claim: () => unknown): void => {}
declare const system: ActorSystem
declare const ref: ActorRef<Counter>
declare const ctx: ActorContext<Door>

describe('ask', () => {
  test('await ref.ask({ type: "get" }) is a number with nothing annotated', async () => {
    const kit = createTestKit()
    const actor = kit.system.spawn(counter(), { name: 'counter' })
    actor.tell({ type: 'add', by: 2 })
    const asked = actor.ask({ type: 'get' })
    expectTypeOf(asked).toEqualTypeOf<Promise<number>>()
    await kit.settle()
    const n = await asked
    expectTypeOf(n).toEqualTypeOf<number>()
    expect(n).toBe(2)
    await kit.end()
  })
  test('each question has the answer of its own member', () => {
    compiles(() => {
      expectTypeOf(ref.ask({ type: 'name', upper: true })).toEqualTypeOf<Promise<string>>()
      expectTypeOf(ref.ask({ type: 'get' }, { timeout: 50 })).toEqualTypeOf<Promise<number>>()
    })
  })
  test('a member without replyTo, an unknown member, a missing or a superfluous field do not compile', () => {
    compiles(() => {
      // @ts-expect-error add has no replyTo
      void ref.ask({ type: 'add', by: 1 })
      // @ts-expect-error there is no such member
      void ref.ask({ type: 'nope' })
      // @ts-expect-error upper is missing
      void ref.ask({ type: 'name' })
      // @ts-expect-error upper is a boolean
      void ref.ask({ type: 'name', upper: 'yes' })
      // @ts-expect-error a protocol without questions cannot be asked
      void (null as unknown as ActorRef<Door>).ask({ type: 'open' })
    })
  })
  test('the factory form is typed by default with the union of the replies', () => {
    compiles(() => {
      expectTypeOf(ref.ask((replyTo) => ({ type: 'get', replyTo }))).toEqualTypeOf<Promise<string | number>>()
      expectTypeOf(ref.ask<number>((replyTo) => ({ type: 'get', replyTo }))).toEqualTypeOf<Promise<number>>()
      // @ts-expect-error what it makes must be of the protocol
      void ref.ask((replyTo) => ({ type: 'nope', replyTo }))
    })
  })
  test('the factory form covers protocols that carry the answer address elsewhere', async () => {
    const kit = createTestKit()
    const actor = kit.system.spawn(
      receive<Wrapped>((_ctx, m) => {
        m.answer.tell(7n)
        return same
      }),
    )
    const asked = actor.ask<bigint>((answer) => ({ question: 'size', answer }))
    expectTypeOf(asked).toEqualTypeOf<Promise<bigint>>()
    await kit.settle()
    expect(await asked).toBe(7n)
    await kit.end()
  })
  test('ctx.ask infers as ref.ask does', () => {
    compiles(() => {
      expectTypeOf(ctx.ask(ref, { type: 'get' })).toEqualTypeOf<Promise<number>>()
      expectTypeOf(ctx.ask(ref, { type: 'name', upper: false }, { timeout: 9 })).toEqualTypeOf<Promise<string>>()
      expectTypeOf(ctx.ask(ref, (replyTo: ActorRef<number>) => ({ type: 'get', replyTo }))).toEqualTypeOf<Promise<number>>()
      expectTypeOf(ctx.ask(ref, (replyTo) => ({ type: 'get', replyTo }))).toEqualTypeOf<Promise<string | number>>()
      // @ts-expect-error what it makes must be of the protocol
      void ctx.ask(ref, (replyTo) => ({ type: 'nope', replyTo }))
      // @ts-expect-error add has no replyTo
      void ctx.ask(ref, { type: 'add', by: 1 })
    })
  })
  test('an answer is found by type, and by the other fields where members share it or have none', () => {
    type Odd =
      | { type: 'find'; by: 'id'; id: number; replyTo: ActorRef<'by id'> }
      | { type: 'find'; by: 'name'; name: string; replyTo: ActorRef<'by name'> }
      | { type: 'find'; by: 'nothing' }
      | { type: 'up' | 'down'; replyTo: ActorRef<'moved'> }
      | { kind: 'untyped'; replyTo: ActorRef<'no type'> }
      | { type: 7; replyTo: ActorRef<'a number'> }
    type Loose = { type: string; replyTo: ActorRef<'any'> } | { type: 'known'; replyTo: ActorRef<'known'> }
    type Lists = { type: 'each'; items: string[]; of: (item: string) => number; replyTo: ActorRef<number[]> }
    compiles(() => {
      const odd = null as unknown as ActorRef<Odd>
      expectTypeOf(odd.ask({ type: 'find', by: 'id', id: 1 })).toEqualTypeOf<Promise<'by id'>>()
      expectTypeOf(ctx.ask(odd, { type: 'find', by: 'name', name: 'x' })).toEqualTypeOf<Promise<'by name'>>()
      expectTypeOf(odd.ask({ type: 'up' })).toEqualTypeOf<Promise<'moved'>>()
      expectTypeOf(odd.ask({ kind: 'untyped' })).toEqualTypeOf<Promise<'no type'>>()
      expectTypeOf(odd.ask({ type: 7 })).toEqualTypeOf<Promise<'a number'>>()
      // @ts-expect-error this one has no replyTo
      void odd.ask({ type: 'find', by: 'nothing' })
      // @ts-expect-error the fields of one and the name of the other
      void odd.ask({ type: 'find', by: 'id', name: 'x' })
      const loose = null as unknown as ActorRef<Loose>
      expectTypeOf(loose.ask({ type: 'whatever' })).toEqualTypeOf<Promise<'any'>>()
      expectTypeOf(loose.ask({ type: 'known' })).toEqualTypeOf<Promise<'any' | 'known'>>()
      const lists = null as unknown as ActorRef<Lists>
      expectTypeOf(lists.ask({ type: 'each', items: ['a'], of: (item) => item.length })).toEqualTypeOf<Promise<number[]>>()
      const any = null as unknown as QuestionOf<Counter>
      expectTypeOf(ref.ask(any)).toEqualTypeOf<Promise<string | number>>()
      const asksFor = <R>(target: ActorRef<{ type: 'it'; replyTo: ActorRef<R> }>): Promise<R> => target.ask<R>((replyTo) => ({ type: 'it', replyTo }))
      expectTypeOf(asksFor<bigint>).returns.toEqualTypeOf<Promise<bigint>>()
    })
  })
  test('match gives a handler all members of its type', () => {
    type Shared = { type: 'a'; x: 1 } | { type: 'a'; y: 2 } | { type: 'b' | 'c'; z: 3 }
    compiles(() =>
      match<Shared>({
        a: (_c, m) => void expectTypeOf(m).toEqualTypeOf<{ type: 'a'; x: 1 } | { type: 'a'; y: 2 }>(),
        b: (_c, m) => void expectTypeOf(m.z).toEqualTypeOf<3>(),
        c: (_c, m) => void expectTypeOf(m.z).toEqualTypeOf<3>(),
      }),
    )
  })
  test('questions, answers and replies have names', () => {
    expectTypeOf<QuestionOf<Door>>().toBeNever()
    expectTypeOf<QuestionOf<Counter>['type']>().toEqualTypeOf<'get' | 'name'>()
    expectTypeOf<AnswerTo<Counter, { type: 'get' }>>().toEqualTypeOf<number>()
    expectTypeOf<RepliesOf<Counter>>().toEqualTypeOf<string | number>()
    expectTypeOf<RepliesOf<Door>>().toBeNever()
  })
})

describe('refs', () => {
  test('are contravariant: one of more messages passes for one of fewer, never the reverse', () => {
    expectTypeOf<ActorRef<Counter | Door>>().toExtend<ActorRef<Door>>()
    expectTypeOf<ActorRef<Door>>().not.toExtend<ActorRef<Counter | Door>>()
    compiles(() => {
      const wide = null as unknown as ActorRef<Counter | Door>
      const narrow: ActorRef<Door> = wide
      // @ts-expect-error a door understands no counter's messages
      const wrong: ActorRef<Counter | Door> = narrow
      return wrong
    })
  })
  test('of any protocol pass as AnyRef, which can be told nothing', () => {
    expectTypeOf<ActorRef<Door>>().toExtend<AnyRef>()
    expectTypeOf<ActorRef<unknown>>().toExtend<AnyRef>()
    expectTypeOf<AnyRef>().not.toExtend<ActorRef<Door>>()
    compiles(() => {
      const any: AnyRef = ref
      // @ts-expect-error nothing is known of its protocol
      any.tell({ type: 'open' })
    })
  })
  test('take only what their protocol has', () => {
    compiles(() => {
      ref.tell({ type: 'add', by: 1 })
      ref.tell({ type: 'add', by: 1 }, { sender: ref, headers: { tenant: 'a' }, priority: 1 })
      // @ts-expect-error by is a number
      ref.tell({ type: 'add', by: '1' })
      // @ts-expect-error no such message
      ref.tell({ type: 'open' })
      // @ts-expect-error offer is typed as tell is
      void ref.offer({ type: 'open' })
    })
  })
  test('parent, children, sender, find and Terminated.ref are AnyRef', () => {
    expectTypeOf<ActorContext<Door>['parent']>().toEqualTypeOf<AnyRef>()
    expectTypeOf<ActorContext<Door>['children']>().toEqualTypeOf<readonly AnyRef[]>()
    expectTypeOf<ActorContext<Door>['sender']>().toEqualTypeOf<AnyRef | undefined>()
    expectTypeOf<ReturnType<ActorSystem['find']>>().toEqualTypeOf<AnyRef | undefined>()
    expectTypeOf<Extract<Signal, { type: 'Terminated' }>['ref']>().toEqualTypeOf<AnyRef>()
    expectTypeOf<ActorContext<Door>['self']>().toEqualTypeOf<ActorRef<Door>>()
  })
})

describe('behaviors', () => {
  test('spawn infers the protocol', () => {
    compiles(() => {
      expectTypeOf(system.spawn(counter())).toEqualTypeOf<ActorRef<Counter>>()
      expectTypeOf(ctx.spawn(counter(), { name: 'c' })).toEqualTypeOf<ActorRef<Counter>>()
      expectTypeOf(system.spawn(receive<Door>(() => same))).toEqualTypeOf<ActorRef<Door>>()
      expectTypeOf(system.spawn(setup<Door>(async () => receive<Door>(() => same)))).toEqualTypeOf<ActorRef<Door>>()
    })
  })
  test('of another protocol are refused; one that understands more is taken', () => {
    compiles(() => {
      const doors: Behavior<Door> = receive<Door>(() => same)
      // @ts-expect-error a counter is no door
      const wrong: Behavior<Door> = counter()
      const wider: Behavior<Door> = receive<Door | { type: 'knock' }>(() => same)
      // @ts-expect-error the next behavior must understand the same protocol
      const turning: Behavior<Door> = receive<Door>(() => counter())
      const heard = setup<Door>(
        () => receive<Door>(() => same),
        (inner, signal) => {
          expectTypeOf(inner).toEqualTypeOf<ActorContext<Door>>()
          expectTypeOf(signal).toEqualTypeOf<Signal>()
          return signal.type === 'PostStop' ? same : unhandled
        },
      )
      expectTypeOf(heard).toEqualTypeOf<Behavior<Door>>()
      const five = (): number => 5
      // @ts-expect-error a signal handler returns what a message handler does
      setup<Door>(() => ignore, five)
      // @ts-expect-error so must what a setup makes
      const starting: Behavior<Door> = setup<Door>(() => counter())
      return [doors, wrong, wider, turning, starting]
    })
  })
  test('same, stopped, unhandled, empty, ignore and nothing fit every protocol, also as promises', () => {
    compiles(() => [
      receive<Door>(() => same),
      receive<Door>(() => stopped),
      receive<Door>(() => unhandled),
      receive<Door>(() => empty),
      receive<Door>(() => ignore),
      receive<Door>(() => {}),
      receive<Door>(async () => same),
      receive<Door>(async () => {}),
      // @ts-expect-error anything else is no behavior
      receive<Door>(() => 7),
    ])
  })
  test('handlers get their context and message typed', () => {
    compiles(() =>
      receive<Door>(
        (c, m) => {
          expectTypeOf(c).toEqualTypeOf<ActorContext<Door>>()
          expectTypeOf(m).toEqualTypeOf<Door>()
          c.timers.once('t', 1, { type: 'open' })
          // @ts-expect-error a timer's message is of the protocol
          c.timers.once('t', 1, { type: 'add', by: 1 })
          c.timers.once('t', 1, { type: 'add', by: 1 }, { to: ref })
          // @ts-expect-error so is a stashed one
          c.stash.add({ type: 'add', by: 1 })
          expectTypeOf(c.adapt((n: number) => ({ type: 'close', hard: n > 1 }))).toEqualTypeOf<ActorRef<number>>()
          // @ts-expect-error an adapter makes messages of the protocol
          c.adapt((n: number) => ({ type: 'add', by: n }))
          c.watchWith(ref, { type: 'open' })
          return same
        },
        (c, s) => {
          expectTypeOf(c).toEqualTypeOf<ActorContext<Door>>()
          expectTypeOf(s).toEqualTypeOf<Signal>()
          return same
        },
      ),
    )
  })
  test('match is exhaustive, and narrows the message of each handler', () => {
    compiles(() => {
      const door: Behavior<Door> = match<Door>({
        open: (_c, m) => {
          expectTypeOf(m).toEqualTypeOf<{ type: 'open' }>()
          return same
        },
        close: (c, m) => {
          expectTypeOf(m.hard).toEqualTypeOf<boolean>()
          expectTypeOf(c).toEqualTypeOf<ActorContext<Door>>()
          return stopped
        },
      })
      // @ts-expect-error close is missing
      const partial: Behavior<Door> = match<Door>({ open: () => same })
      // @ts-expect-error there is no knock
      const more: Behavior<Door> = match<Door>({ open: () => same, close: () => same, knock: () => same })
      const inferred: Behavior<Door> = match({ open: () => same, close: (_c, m) => (m.hard ? stopped : same) })
      return [door, partial, more, inferred]
    })
  })
  test('signals are a union that a switch can exhaust', () => {
    expectTypeOf<Signal['type']>().toEqualTypeOf<
      | 'PreStart'
      | 'PostStart'
      | 'PreStop'
      | 'PostStop'
      | 'PreRestart'
      | 'PostRestart'
      | 'ChildFailed'
      | 'ChildStopped'
      | 'Terminated'
      | 'ReceiveTimeout'
    >()
  })
  test('withOptions keeps the protocol and refuses unknown options', () => {
    compiles(() => {
      expectTypeOf(withOptions(counter(), { stopTimeout: 5 })).toEqualTypeOf<Behavior<Counter>>()
      expectTypeOf(system.spawn(withOptions(counter(), { name: 'c' }), { supervision: 'stop' })).toEqualTypeOf<ActorRef<Counter>>()
      // @ts-expect-error no such option
      withOptions(counter(), { stopTimeOut: 5 })
    })
  })
})

describe('options', () => {
  test('take the words they know, and no others', () => {
    compiles(() => {
      system.spawn(counter(), {
        supervision: 'resume',
        childSupervision: supervise({ scope: 'rest-for-one' }),
        drain: { redirect: ref },
        onRestart: { mailbox: 'clear', children: 'keep' },
      })
      // @ts-expect-error no such directive
      system.spawn(counter(), { supervision: 'retry' })
      // @ts-expect-error no such drain
      system.spawn(counter(), { drain: 'keep' })
      // @ts-expect-error no such scope
      supervise({ scope: 'all' })
      // @ts-expect-error decide returns a directive
      supervise({ decide: () => 'again' })
    })
  })
  test('sendAfter takes a message of the target', () => {
    compiles(() => {
      expectTypeOf(system.sendAfter(ref, 5, { type: 'add', by: 1 })).toEqualTypeOf<() => void>()
      // @ts-expect-error a counter is never opened
      system.sendAfter(ref, 5, { type: 'open' })
    })
  })
})

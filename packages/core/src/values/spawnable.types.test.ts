import { expectTypeOf, test } from 'vitest'
import {
  Actor,
  type ActorClass,
  type ActorContext,
  type ActorHandle,
  type ActorHooks,
  type ActorRef,
  type ActorSystem,
  type Behavior,
  type CallOf,
  match,
  receive,
  same,
  type Spawned,
  type SpawnOptions,
} from '../index.ts'

type Counter = { type: 'add'; by: number } | { type: 'get'; replyTo: ActorRef<number> }
class Plain extends Actor {
  ping(): 'pong' {
    return 'pong'
  }
}
class Sized extends Actor {
  constructor(size?: number) {
    super()
    void size
  }
}
class Box<T> extends Actor {
  readonly #value: T
  constructor(value: T) {
    super()
    this.#value = value
  }
  value(): T {
    return this.#value
  }
}

declare const system: ActorSystem
declare const ctx: ActorContext<never>
declare const counter: Behavior<Counter>
declare const some: SpawnOptions | undefined

// Compiled, never run: these tests are about what the compiler infers.
const typesOnly = (check: () => void): void => void check

test('a behavior gives a ref of its protocol, with or without options', () =>
  typesOnly(() => {
    expectTypeOf(system.spawn(counter)).toEqualTypeOf<ActorRef<Counter>>()
    expectTypeOf(system.spawn(counter, { name: 'x' })).toEqualTypeOf<ActorRef<Counter>>()
    expectTypeOf(system.spawn(counter, some)).toEqualTypeOf<ActorRef<Counter>>()
    expectTypeOf(ctx.spawn(counter)).toEqualTypeOf<ActorRef<Counter>>()
    expectTypeOf(system.spawn(same)).toEqualTypeOf<ActorRef<unknown>>()
    expectTypeOf(system.spawn(receive((_ctx, m: Counter) => void m))).toEqualTypeOf<ActorRef<Counter>>()
    // @ts-expect-error only a constructor takes arguments
    system.spawn(counter, { args: [] })
  }))

test('a class gives a handle, with or without options', () =>
  typesOnly(() => {
    expectTypeOf(system.spawn(Plain)).toEqualTypeOf<ActorHandle<Plain>>()
    expectTypeOf(system.spawn(Plain, { name: 'x' })).toEqualTypeOf<ActorHandle<Plain>>()
    expectTypeOf(system.spawn(Plain, some)).toEqualTypeOf<ActorHandle<Plain>>()
    expectTypeOf(system.spawn(Sized)).toEqualTypeOf<ActorHandle<Sized>>()
    expectTypeOf(system.spawn(Sized, { args: [] })).toEqualTypeOf<ActorHandle<Sized>>()
    expectTypeOf(ctx.spawn(Sized, { args: [1] })).toEqualTypeOf<ActorHandle<Sized>>()
    expectTypeOf(system.spawn(Box<number>, { args: [1] })).toEqualTypeOf<ActorHandle<Box<number>>>()
  }))

test('the protocol is inferred from where the ref goes, and may be given', () =>
  typesOnly(() => {
    const expected: ActorRef<Counter> = system.spawn(receive((_ctx, m) => void (m.type === 'get' && m.replyTo.tell(1))))
    const named: ActorRef<Counter> = system.spawn(match({ add: () => same, get: (_ctx, m) => m.replyTo.tell(1) }), { name: 'x' })
    const refs: ActorRef<Counter>[] = []
    refs.push(expected, named, system.spawn(counter, { supervision: 'stop' }))
    const narrower: ActorRef<{ type: 'ping'; args: [] }> = system.spawn(Plain)
    void narrower
    expectTypeOf(system.spawn<Counter>(receive((_ctx, m) => void m.type))).toEqualTypeOf<ActorRef<Counter>>()
    expectTypeOf(
      system.spawn<Counter>(
        receive((_ctx, m) => void m.type),
        {},
      ),
    ).toEqualTypeOf<ActorRef<Counter>>()
  }))

test('what is generic in its protocol spawns; what is generic in its class leaves open what comes of it', () =>
  typesOnly(() => {
    const start = <M>(behavior: Behavior<M>, options?: SpawnOptions): ActorRef<M> => system.spawn(behavior, options)
    const make = <T extends ActorHooks>(actor: ActorClass<T, []>): Spawned<CallOf<T>, T> => system.spawn(actor)
    expectTypeOf(start(counter)).toEqualTypeOf<ActorRef<Counter>>()
    expectTypeOf(make(Plain)).toEqualTypeOf<ActorHandle<Plain>>()
  }))

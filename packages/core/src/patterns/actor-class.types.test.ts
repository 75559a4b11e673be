import { expectTypeOf, test } from 'vitest'
import { Actor, type ActorHandle, type ActorRef, type ActorSystem, type AnyRef, type Behavior, behaviorOfClass, type MethodsOf } from '../index.ts'

class Cart extends Actor {
  readonly currency: string
  #items: string[] = []
  private secret(): void {}
  protected hidden(): void {}
  constructor(currency: string, limit?: number) {
    super()
    this.currency = currency + String(limit)
    this.secret()
  }
  add(item: string, many = 1): void {
    for (let i = 0; i < many; i++) this.#items.push(item)
  }
  count() {
    return this.#items.length
  }
  async load(id: number): Promise<string> {
    return String(id)
  }
  pick(key: 'a'): number
  pick(key: 'b', deep: boolean): string
  pick(key: 'a' | 'b', _deep?: boolean): number | string {
    return key
  }
  async echo<T>(value: T): Promise<T> {
    return value
  }
  same<T>(value: T): T {
    return value
  }
  override toString(): string {
    return 'cart'
  }
  get size(): number {
    return 1
  }
  flush(): Promise<string> {
    this.self<Cart>().tell.add('x')
    return this.self<Cart>().with({ timeout: 5 }).ask.load(1)
  }
  override onStart(): void {}
}
class Plain extends Actor {
  ping(): 'pong' {
    return 'pong'
  }
}

declare const system: ActorSystem
declare const cart: ActorHandle<Cart>

// Compiled, never run: these tests are about what the compiler infers.
const typesOnly = (check: () => void): void => void check

test('only public methods are messages', () => {
  expectTypeOf<MethodsOf<Cart>>().toEqualTypeOf<'add' | 'count' | 'load' | 'pick' | 'echo' | 'same' | 'flush'>()
})

test('tell and ask are typed by the methods of the class', () =>
  typesOnly(() => {
    expectTypeOf(cart.tell.add).parameters.toEqualTypeOf<[item: string, many?: number | undefined]>()
    expectTypeOf(cart.tell.add('a')).toEqualTypeOf<void>()
    expectTypeOf(cart.ask.count()).toEqualTypeOf<Promise<number>>()
    expectTypeOf(cart.ask.load(1)).toEqualTypeOf<Promise<string>>()
    expectTypeOf(cart.with({ timeout: 50 }).ask.count()).toEqualTypeOf<Promise<number>>()
    // @ts-expect-error a number is no item
    cart.tell.add(1)
    // @ts-expect-error private
    cart.tell.secret()
    // @ts-expect-error protected
    cart.tell.hidden()
    // @ts-expect-error a hook
    cart.tell.onStart()
    // @ts-expect-error an accessor
    cart.ask.size()
    // @ts-expect-error what every object has
    void cart.ask.toString().then
    // @ts-expect-error the context is the actor's own
    void cart.ctx
  }))

test('overloads are kept, generics where the method is async', () =>
  typesOnly(() => {
    expectTypeOf(cart.ask.pick('a')).toEqualTypeOf<Promise<number>>()
    expectTypeOf(cart.ask.pick('b', true)).toEqualTypeOf<Promise<string>>()
    expectTypeOf(cart.ask.echo({ a: 1 })).toEqualTypeOf<Promise<{ a: number }>>()
    // A synchronous generic loses its parameter: TypeScript cannot map over it.
    expectTypeOf(cart.ask.same(1)).toEqualTypeOf<Promise<unknown>>()
    cart.tell.pick('b', true)
    // @ts-expect-error no such overload
    cart.tell.pick('b')
  }))

test('spawn takes the constructor arguments, and asks for them where they are needed', () =>
  typesOnly(() => {
    expectTypeOf(system.spawn(Cart, { args: ['eur'] })).toEqualTypeOf<ActorHandle<Cart>>()
    expectTypeOf(system.spawn(Cart, { args: ['eur', 3], name: 'x' })).toEqualTypeOf<ActorHandle<Cart>>()
    expectTypeOf(system.spawn(Plain)).toEqualTypeOf<ActorHandle<Plain>>()
    expectTypeOf(system.spawn(Plain).ask.ping()).toEqualTypeOf<Promise<'pong'>>()
    // @ts-expect-error args are missing
    system.spawn(Cart)
    // @ts-expect-error args are missing
    system.spawn(Cart, { name: 'x' })
    // @ts-expect-error wrong args
    system.spawn(Cart, { args: [1] })
    // @ts-expect-error an abstract class cannot be made
    system.spawn(Actor)
    // @ts-expect-error no actor
    system.spawn(class {})
  }))

test('a handle is a ref of its calls, and of any subset', () =>
  typesOnly(() => {
    const adds: ActorRef<{ type: 'add'; args: [item: string] }> = cart
    const any: AnyRef = cart
    void [adds, any]
    expectTypeOf(cart.ask({ type: 'count', args: [] })).toEqualTypeOf<Promise<number>>()
    cart.tell({ type: 'add', args: ['x'] })
    // @ts-expect-error no such method
    cart.tell({ type: 'drop', args: [] })
    // @ts-expect-error tells have no fixed other protocol
    const other: ActorRef<{ type: 'other' }> = cart
    void other
    expectTypeOf(behaviorOfClass(Plain)).toExtend<Behavior<{ type: 'ping'; args: [] }>>()
  }))

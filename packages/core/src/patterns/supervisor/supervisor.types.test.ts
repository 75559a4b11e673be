import { expectTypeOf, test } from 'vitest'
import {
  Actor,
  type ActorHandle,
  type ActorRef,
  type AnyRef,
  type Behavior,
  child,
  type ChildSpec,
  receive,
  same,
  supervisor,
  type SupervisorClient,
  type SupervisorMessage,
  template,
} from '@troupe/core'

type Db = { type: 'get'; replyTo: ActorRef<number> }
const text = receive<string>(() => same)
const store = receive<Db>(() => same)

test('a spec carries the protocol of its child, and is the typed key to it', () => {
  const db = child('db', store)
  expectTypeOf(db).toEqualTypeOf<ChildSpec<Db>>()
  const compiled = (client: SupervisorClient): void => {
    expectTypeOf(client.startChild(db)).resolves.toEqualTypeOf<ActorRef<Db>>()
    expectTypeOf(client.refOf(db)).resolves.toEqualTypeOf<ActorRef<Db>>()
    expectTypeOf(client.restartChild(db)).resolves.toEqualTypeOf<ActorRef<Db>>()
    expectTypeOf(client.restartChild('db')).resolves.toEqualTypeOf<AnyRef>()
    // @ts-expect-error a name says nothing about the protocol
    void client.refOf('db')
  }
  expectTypeOf(compiled).toBeFunction()
})

class Cart extends Actor {
  readonly currency: string
  constructor(currency: string) {
    super()
    this.currency = currency
  }
  add(item: string): string {
    return `${item} in ${this.currency}`
  }
}

test('a child that is a class has a handle for its ref, and its constructor is checked', () => {
  const cart = child('cart', Cart, { args: ['eur'], restart: 'transient' })
  const compiled = (client: SupervisorClient): void => {
    expectTypeOf(client.refOf(cart)).resolves.toEqualTypeOf<ActorHandle<Cart>>()
    // @ts-expect-error the constructor wants a currency
    child('cart', Cart)
    // @ts-expect-error of text
    child('cart', Cart, { args: [1] })
  }
  expectTypeOf(compiled).toBeFunction()
})

test('what a function makes is typed by it, and the refs of siblings by their specs', () => {
  const db = child('db', store)
  const cart = child('cart', Cart, { args: ['eur'] })
  const api = child(
    'api',
    ({ refOf }) => {
      expectTypeOf(refOf(db)).toEqualTypeOf<ActorRef<Db>>()
      expectTypeOf(refOf(cart)).toEqualTypeOf<ActorHandle<Cart>>()
      return text
    },
    { needs: [db, cart, 'other'] },
  )
  expectTypeOf(api).toEqualTypeOf<ChildSpec<string>>()
  const compiled = (): void => {
    child('cart', Cart, { args: ({ refOf }) => [refOf(db).path], needs: [db] })
    // @ts-expect-error the constructor wants text
    child('cart', Cart, { args: ({ refOf }) => [refOf(db)], needs: [db] })
    // @ts-expect-error a name says nothing about the protocol
    child('api', ({ refOf }) => (refOf('db'), text), { needs: ['db'] })
    // @ts-expect-error 5 is not a behavior
    child('api', () => 5)
    // @ts-expect-error neither a spec nor a name
    child('api', text, { needs: [5] })
  }
  expectTypeOf(compiled).toBeFunction()
})

test('a supervisor is a behavior and nests; children of any protocol fit', () => {
  const inner = supervisor({ children: [child('text', text), child('db', store)] })
  expectTypeOf(inner).toEqualTypeOf<Behavior<SupervisorMessage>>()
  expectTypeOf(child('inner', inner)).toEqualTypeOf<ChildSpec<SupervisorMessage>>()
})

test('a template types its arguments and its refs', () => {
  const room = template((_topic: string, _size: number) => store)
  expectTypeOf<Parameters<(typeof room)['with']>>().toEqualTypeOf<[_topic: string, _size: number]>()
  expectTypeOf(room.with('birds', 3)).toEqualTypeOf<ChildSpec<Db>>()
  supervisor({ strategy: 'simple-one-for-one', template: room })
  const compiled = (): void => {
    // @ts-expect-error a template belongs to simple-one-for-one
    supervisor({ strategy: 'one-for-one', template: room })
    // @ts-expect-error and that needs one
    supervisor({ strategy: 'simple-one-for-one' })
    // @ts-expect-error the supervisor decides about failures
    child('a', text, { supervision: 'stop' })
  }
  expectTypeOf(compiled).toBeFunction()
})

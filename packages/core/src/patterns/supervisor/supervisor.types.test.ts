import { expectTypeOf, test } from 'vitest'
import {
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
} from 'troupe'

type Db = { type: 'get'; replyTo: ActorRef<number> }
declare const client: SupervisorClient

test('a spec carries the protocol of its child, and is the typed key to it', () => {
  const db = child(
    'db',
    receive<Db>(() => same),
  )
  expectTypeOf(db).toEqualTypeOf<ChildSpec<Db>>()
  expectTypeOf(client.startChild<Db>).returns.resolves.toEqualTypeOf<ActorRef<Db>>()
  const check = (): void => {
    expectTypeOf(client.startChild(db)).resolves.toEqualTypeOf<ActorRef<Db>>()
    expectTypeOf(client.refOf(db)).resolves.toEqualTypeOf<ActorRef<Db>>()
    expectTypeOf(client.restartChild(db)).resolves.toEqualTypeOf<ActorRef<Db>>()
    expectTypeOf(client.restartChild('db')).resolves.toEqualTypeOf<AnyRef>()
    // @ts-expect-error a name says nothing about the protocol
    void client.refOf('db')
  }
  expectTypeOf(check).toBeFunction()
})

test('a supervisor is a behavior and nests; children of any protocol fit', () => {
  const inner = supervisor({
    children: [
      child(
        'text',
        receive<string>(() => same),
      ),
      child(
        'db',
        receive<Db>(() => same),
      ),
    ],
  })
  expectTypeOf(inner).toEqualTypeOf<Behavior<SupervisorMessage>>()
  expectTypeOf(child('inner', inner)).toEqualTypeOf<ChildSpec<SupervisorMessage>>()
})

test('a template types its arguments and its refs', () => {
  const room = template((topic: string, size: number) => receive<Db>(() => void [topic, size]))
  expectTypeOf(room.with).parameters.toEqualTypeOf<[topic: string, size: number]>()
  expectTypeOf(room.with('birds', 3)).toEqualTypeOf<ChildSpec<Db>>()
  supervisor({ strategy: 'simple-one-for-one', template: room })
  const wrong = (): void => {
    // @ts-expect-error a template belongs to simple-one-for-one
    supervisor({ strategy: 'one-for-one', template: room })
    // @ts-expect-error and that needs one
    supervisor({ strategy: 'simple-one-for-one' })
    // @ts-expect-error the supervisor decides about failures
    child(
      'a',
      receive<string>(() => same),
      { supervision: 'stop' },
    )
  }
  expectTypeOf(wrong).toBeFunction()
})

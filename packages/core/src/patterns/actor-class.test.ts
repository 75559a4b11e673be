import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import {
  type AskTimeout,
  Actor,
  type ActorHandle,
  type ActorRef,
  ActorError,
  behaviorOfClass,
  type ChildFailed,
  type ClassCall,
  handleOf,
  type MessageSchema,
  NotABehavior,
  NotAllowed,
  type Observation,
  receive,
  same,
  supervise,
  type Terminated,
  Unhandled,
} from '../index.ts'

class Cart extends Actor {
  #items: string[] = []
  add(item: string): void {
    this.#items.push(item)
  }
  count(): number {
    return this.#items.length
  }
  async later(value: string): Promise<string> {
    await Promise.resolve()
    return value
  }
  fail(): never {
    throw new Error('no')
  }
}

const textOf = (value: unknown): string => String(value)

test('methods are told and asked', async () => {
  const kit = createTestKit()
  const cart = kit.system.spawn(Cart, { name: 'cart-7' })
  cart.tell.add('book')
  const count = cart.ask.count()
  const later = cart.with({ timeout: 50 }).ask.later('x')
  await kit.settle()
  expect(await count).toBe(1)
  expect(await later).toBe('x')
  await kit.end()
})

test('a handle is the ref of its actor: the same object as ctx.self, found, watched, listed and reported', async () => {
  const kit = createTestKit()
  const seen: unknown[] = []
  class Child extends Actor {
    me(): unknown {
      return this.ctx.self
    }
  }
  class Parent extends Actor {
    readonly #child = this.ctx.spawn(Child, { name: 'child' })
    override onStart(): void {
      this.ctx.watch(this.#child)
    }
    override onTerminated(signal: Terminated): void {
      seen.push(signal.ref === this.#child, signal.reason)
    }
    child(): ActorHandle<Child> {
      return this.#child
    }
    list(): boolean {
      return this.ctx.children[0] === this.#child
    }
  }
  const parent = kit.system.spawn(Parent, { name: 'parent' })
  const asked = parent.ask.child()
  await kit.settle()
  const child = await asked
  expect(kit.system.find('/user/parent/child')).toBe(child)
  expect(textOf(child)).toMatch(/^ActorRef\(\/user\/parent\/child#\d+\)$/)
  const [me, list] = [child.ask.me(), parent.ask.list()]
  await kit.settle()
  expect(await me).toBe(child)
  expect(await list).toBe(true)
  expect(kit.system.phaseOf(child)).toBe('running')
  child.stop()
  await kit.settle()
  expect(seen).toEqual([true, 'normal'])
  await kit.end()
})

test('awaiting, logging, comparing, spreading and serialising a handle sends nothing', async () => {
  const kit = createTestKit()
  const cart = kit.system.spawn(Cart, { name: 'cart' })
  await kit.settle()
  const before = await kit.system.ledger()
  for (const part of [cart, cart.tell, cart.ask]) expect(await Promise.resolve<unknown>(part)).toBe(part)
  expect(JSON.stringify({ cart })).toMatch(/"\/user\/cart#\d+"/)
  JSON.stringify({ tell: cart.tell, ask: cart.ask })
  const { inspect } = await import('node:util')
  expect(inspect(cart.ask, { showHidden: true, getters: true })).toContain('unction')
  inspect(cart, { getters: true })
  expect(`${textOf(cart)}${textOf(cart.tell)}`).toContain('/user/cart')
  expect(new Map([[cart, 1]]).get(kit.system.find('/user/cart') as never)).toBe(1)
  expect(Symbol.iterator in cart || Symbol.toPrimitive in cart.tell).toBe(false)
  expect((cart.ask as unknown as { then?: unknown }).then).toBeUndefined()
  expect((cart.tell as unknown as { toJSON?: unknown }).toJSON).toBeUndefined()
  expect(cart.tell.add).toBe(cart.tell.add)
  expect(await kit.system.ledger()).toEqual(before)
  await kit.end()
})

test('methods may have the names that functions and refs have; what every object has is never a message', async () => {
  const kit = createTestKit()
  class Odd extends Actor {
    name(): string {
      return 'n'
    }
    length(): number {
      return 7
    }
    apply(x: number): number {
      return x
    }
    tell(): string {
      return 't'
    }
    with(): string {
      return 'w'
    }
    override toString(): string {
      return 'odd'
    }
    toJSON(): string {
      return 'odd'
    }
    // oxlint-disable-next-line unicorn/no-thenable -- this is the trap
    then(): string {
      return 'never'
    }
  }
  const odd = kit.system.spawn(Odd)
  const asked = Promise.all([odd.ask.name(), odd.ask.length(), odd.ask.apply(3), odd.ask.tell(), odd.with({ timeout: 9 }).ask.with()])
  await kit.settle()
  expect(await asked).toEqual(['n', 7, 3, 't', 'w'])
  for (const type of ['toString', 'toJSON', 'then', 'constructor', '__proto__', 'hasOwnProperty', 'onStart', 'ctx', 'nothing']) {
    const answer = (odd as unknown as ActorRef<{ type: string; args: []; replyTo: ActorRef<unknown> }>).ask({ type, args: [] })
    const outcome = answer.catch((e: unknown) => e)
    await kit.settle()
    expect([type, (await outcome) instanceof Unhandled]).toEqual([type, true])
  }
  await kit.end()
})

test('both styles talk to each other: records reach methods, handles travel in messages and answer as refs', async () => {
  const kit = createTestKit()
  const got: number[] = []
  type Plain = { type: 'use'; cart: ActorHandle<Cart> } | { type: 'n'; replyTo: ActorRef<number> }
  const plain = kit.system.spawn(
    receive<Plain>(async (ctx, m) => {
      if (m.type === 'n') m.replyTo.tell(5)
      else {
        m.cart.tell({ type: 'add', args: ['pen'] }, ctx.self)
        got.push(await ctx.ask(m.cart, { type: 'count', args: [] }))
      }
      return same
    }),
  )
  class Asker extends Actor {
    async ask(): Promise<number> {
      return (await plain.ask({ type: 'n' })) + 1
    }
  }
  const cart = kit.system.spawn(Cart)
  plain.tell({ type: 'use', cart })
  const asker = kit.system.spawn(Asker)
  const answer = asker.ask.ask()
  const probe = kit.probe<number>()
  cart.tell({ type: 'count', args: [], replyTo: probe.ref })
  await kit.settle()
  expect(got).toEqual([1])
  expect(await answer).toBe(6)
  expect(probe.messages).toHaveLength(1)
  await kit.end()
})

test('each incarnation is a fresh instance made with the same arguments', async () => {
  const kit = createTestKit()
  const made: unknown[] = []
  class Counter extends Actor {
    #n: number
    constructor(start: number) {
      super()
      this.#n = start
      made.push([start, this.ctx.incarnation])
    }
    bump(): number {
      return ++this.#n
    }
    boom(): void {
      throw new Error('boom')
    }
  }
  const args: [number] = [10]
  const counter = kit.system.spawn(Counter, { args })
  args[0] = 99
  counter.tell.bump()
  counter.tell.boom()
  const after = counter.ask.bump()
  await kit.advance(50)
  expect(await after).toBe(11)
  expect(made).toEqual([
    [10, 0],
    [10, 1],
  ])
  await kit.end()
})

test('hooks run in the order of the signals, async ones are waited for', async () => {
  const kit = createTestKit()
  const log: string[] = []
  class Life extends Actor {
    constructor() {
      super()
      log.push('new')
    }
    override async onStart(): Promise<void> {
      await Promise.resolve()
      log.push('onStart')
    }
    override onStarted(): void {
      log.push('onStarted')
    }
    override onError(cause: unknown): void {
      log.push(`onError ${(cause as Error).message}`)
    }
    override onRestart(cause: unknown): void {
      log.push(`onRestart ${(cause as Error).message}`)
      this.ctx.handOver('state')
    }
    override onRestarted(): void {
      log.push(`onRestarted ${String(this.ctx.handedOver)}`)
    }
    override onStopping(): void {
      log.push('onStopping')
    }
    override async onStop(): Promise<void> {
      await Promise.resolve()
      log.push('onStop')
    }
    override onReceiveTimeout(): void {
      log.push('idle')
      this.ctx.setReceiveTimeout(null)
    }
    boom(): void {
      throw new Error('x')
    }
    wait(): void {
      this.ctx.setReceiveTimeout(20)
    }
  }
  const life = kit.system.spawn(Life)
  life.tell.boom()
  life.tell.wait()
  await kit.advance(100)
  kit.system.stop(life)
  await kit.settle()
  const first = ['new', 'onStart', 'onStarted', 'onError x', 'onRestart x', 'onStop']
  const second = ['new', 'onStart', 'onStarted', 'onRestarted state', 'idle', 'onStopping', 'onStop']
  expect(log).toEqual([...first, ...second])
  await kit.end()
})

test('a throwing onError is attached to the failure, for decide, the parent, the log and listeners', async () => {
  const kit = createTestKit()
  const decided: unknown[] = []
  const failed: unknown[] = []
  class Child extends Actor {
    boom(): void {
      throw new Error('first')
    }
    override onError(): void {
      throw new Error('second')
    }
  }
  class Parent extends Actor {
    override onStart(): void {
      const supervision = supervise({ decide: (cause, f) => (decided.push((cause as Error).message, (f.hookError as Error).message), 'resume') })
      this.ctx.spawn(Child, { name: 'child', supervision }).tell.boom()
    }
    override onChildFailed(f: ChildFailed): void {
      failed.push((f.cause as Error).message, (f.hookError as Error).message)
    }
  }
  const observed: Observation[] = []
  kit.system.events.listen((o) => void observed.push(o as Observation), 'actor.failed')
  kit.system.spawn(Parent)
  await kit.settle()
  expect(decided).toEqual(['first', 'second'])
  expect(failed).toEqual(['first', 'second'])
  expect(observed).toMatchObject([{ cause: { message: 'first' }, hookError: { message: 'second' } }])
  expect(kit.logs.find((l) => l.message === 'the actor failed')?.fields).toMatchObject({ hookError: { message: 'second' }, message: 'boom' })
  await kit.end()
})

test('onError of an incarnation that could not be made is not run', async () => {
  const kit = createTestKit()
  let makes = 0
  const errors: string[] = []
  class Fragile extends Actor {
    constructor() {
      super()
      if (++makes === 2) throw new Error('cannot be made')
    }
    boom(): void {
      throw new Error('boom')
    }
    override onError(cause: unknown): void {
      errors.push((cause as Error).message)
    }
  }
  const fragile = kit.system.spawn(Fragile)
  fragile.tell.boom()
  await kit.advance(100)
  expect(kit.system.phaseOf(fragile)).toBe('running')
  expect([makes, errors]).toEqual([3, ['boom']])
  await kit.end()
})

for (const [supervision, async] of ['resume', 'restart', 'stop'].flatMap((s) => [[s, false] as const, [s, true] as const]))
  test(`a method that ${async ? 'rejects' : 'throws'} rejects its ask at once with the cause, under ${supervision}`, async () => {
    const kit = createTestKit()
    class Failing extends Actor {
      boom(): number {
        throw new ActorError('boom')
      }
      async late(): Promise<number> {
        await Promise.resolve()
        throw new ActorError('boom')
      }
    }
    const failing = kit.system.spawn(Failing, { supervision: supervision as 'stop' })
    const outcome = (async ? failing.ask.late() : failing.ask.boom()).catch((e: unknown) => e)
    await kit.settle()
    expect(await outcome).toMatchObject({ code: 'actor-error', message: 'boom' })
    await kit.end()
  })

test('calls that arrive during an await are handled after it, in order', async () => {
  const kit = createTestKit()
  const log: string[] = []
  let go!: () => void
  class Slow extends Actor {
    async first(): Promise<void> {
      log.push('begin')
      await new Promise<void>((resolve) => (go = resolve))
      log.push('end')
    }
    next(n: number): void {
      log.push(`next ${n}`)
    }
  }
  const slow = kit.system.spawn(Slow)
  slow.tell.first()
  slow.tell.next(1)
  slow.tell.next(2)
  await kit.settle()
  go()
  await kit.settle()
  expect(log).toEqual(['begin', 'end', 'next 1', 'next 2'])
  await kit.end()
})

test('a method of an ended incarnation answers nobody, and its context refuses', async () => {
  const kit = createTestKit()
  let go!: () => void
  const refused: unknown[] = []
  class Slow extends Actor {
    async hang(): Promise<string> {
      const { ctx } = this
      await new Promise<void>((resolve) => (go = resolve))
      try {
        void ctx.system
      } catch (e) {
        refused.push((e as { code: string }).code)
      }
      return 'too late'
    }
  }
  const slow = kit.system.spawn(Slow)
  const probe = kit.probe<string>()
  slow.tell({ type: 'hang', args: [], replyTo: probe.ref })
  const outcome = slow.ask.hang().catch((e: unknown) => e)
  await kit.settle()
  kit.system.kill(slow)
  await kit.settle()
  go()
  await kit.settle()
  expect(await outcome).toMatchObject({ code: 'ask-target-stopped' })
  expect(refused).toEqual(['context-ended'])
  probe.expectNone()
  await kit.end()
})

test('a method pending for ever stops neither kill, nor suspend of others, nor shutdown by its deadline', async () => {
  const kit = createTestKit()
  class Hanging extends Actor {
    hang(): Promise<never> {
      return new Promise(() => {})
    }
    ping(): string {
      return 'pong'
    }
  }
  const [killed, left, other] = [kit.system.spawn(Hanging), kit.system.spawn(Hanging, { name: 'left' }), kit.system.spawn(Hanging)]
  killed.tell.hang()
  left.tell.hang()
  await kit.settle()
  kit.system.kill(killed)
  kit.system.suspend(other, 'test')
  await kit.settle()
  expect([killed, left, other].map((h) => kit.system.phaseOf(h))).toEqual(['terminated', 'running', 'suspended'])
  kit.system.resume(other)
  const pong = other.ask.ping()
  await kit.settle()
  expect(await pong).toBe('pong')
  const report = kit.system.shutdown({ deadline: 100 })
  await kit.advance(200)
  expect((await report).killed).toEqual(['/user/left'])
})

test('a rejection after the actor has ended is observed, and a continuation from before a restart changes nothing', async () => {
  const kit = createTestKit()
  let go!: () => void
  class Late extends Actor {
    #n = 0
    async late(): Promise<number> {
      await new Promise<void>((resolve) => (go = resolve))
      this.#n = 100
      throw new Error('too late')
    }
    n(): number {
      return this.#n
    }
  }
  const late = kit.system.spawn(Late, { stopTimeout: 10 })
  late.tell.late()
  await kit.settle()
  kit.system.restart(late)
  await kit.advance(20)
  go()
  await kit.settle()
  const n = late.ask.n()
  await kit.settle()
  expect([await n, kit.system.phaseOf(late)]).toEqual([0, 'running'])
  await kit.end()
})

test('a call can be stashed and forwarded; then the one who takes it answers', async () => {
  const kit = createTestKit()
  class Real extends Actor {
    #n = 0
    get(): number {
      return ++this.#n
    }
  }
  class Front extends Actor {
    readonly #real = this.ctx.spawn(Real)
    #open = false
    get(): number {
      if (!this.#open) this.ctx.stash.add(this.currentCall!)
      else this.ctx.forward(this.#real)
      return -1
    }
    open(): void {
      this.#open = true
      this.ctx.stash.unstashAll()
    }
  }
  const front = kit.system.spawn(Front)
  const answers = [front.ask.get(), front.ask.get()]
  await kit.settle()
  front.tell.open()
  await kit.settle()
  expect(await Promise.all(answers)).toEqual([1, 2])
  await kit.end()
})

test('an explicit ctx.reply is the answer where the method returns nothing', async () => {
  const kit = createTestKit()
  class Replies extends Actor {
    get(): number {
      this.ctx.reply(4)
      return undefined as never
    }
  }
  const replies = kit.system.spawn(Replies)
  const answer = replies.ask.get()
  await kit.settle()
  expect(await answer).toBe(4)
  expect(kit.system.deadLetters.count).toBe(0)
  await kit.end()
})

test('a reentrant class actor takes other calls while one is pending', async () => {
  const kit = createTestKit()
  class Desk extends Actor {
    #waiting: ((v: string) => void)[] = []
    wait(): Promise<string> {
      return new Promise((resolve) => this.#waiting.push(resolve))
    }
    release(value: string): number {
      for (const resolve of this.#waiting) resolve(value)
      return this.#waiting.length
    }
  }
  const desk = kit.system.spawn(Desk, { reentrant: true })
  const waits = [desk.ask.wait(), desk.ask.wait()]
  const released = desk.ask.release('go')
  await kit.settle()
  expect(await Promise.all(waits)).toEqual(['go', 'go'])
  expect(await released).toBe(2)
  await kit.end()
})

test('what a call of a reentrant class actor asks has no more time than the call itself, and no other call lends it time', async () => {
  const kit = createTestKit()
  class Silent extends Actor {
    wait(): Promise<never> {
      return new Promise(() => {})
    }
  }
  const silent = kit.system.spawn(Silent)
  const timeouts: unknown[] = []
  class Desk extends Actor {
    async pass(): Promise<void> {
      await silent.ask.wait().catch((error: AskTimeout) => timeouts.push(error.timeout))
    }
  }
  const desk = kit.system.spawn(Desk, { reentrant: true })
  const outcomes = [100, 300].map((timeout) =>
    desk
      .with({ timeout })
      .ask.pass()
      .catch(() => 'late'),
  )
  await kit.settle()
  await kit.advance(5000)
  expect(await Promise.all(outcomes)).toEqual(['late', 'late'])
  expect(timeouts).toEqual([100, 300])
  await kit.end()
})

test('inherited methods are messages, the nearest wins; accessors and fields are not', async () => {
  const kit = createTestKit()
  class Base extends Actor {
    a(): string {
      return 'base a'
    }
    b(): string {
      return 'base b'
    }
  }
  class Derived extends Base {
    override b(): string {
      return `derived over ${super.b()}`
    }
    get c(): () => string {
      return () => 'c'
    }
    readonly d = (): string => 'd'
  }
  const derived = kit.system.spawn(Derived)
  const answers = Promise.all([derived.ask.a(), derived.ask.b()])
  await kit.settle()
  expect(await answers).toEqual(['base a', 'derived over base b'])
  expect((derived.tell as { c?: unknown }).c).toBeUndefined()
  expect((derived.tell as { d?: unknown }).d).toBeUndefined()
  await kit.end()
})

test('a class becomes a behavior, and the ref of that is a handle', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(behaviorOfClass(Cart), { name: 'c' })
  const cart = handleOf<Cart>(ref)
  expect(cart).toBe(ref)
  cart.tell.add('x')
  const n = cart.ask.count()
  await kit.settle()
  expect(await n).toBe(1)
  expect(() => handleOf(kit.probe<never>().ref)).toThrow(NotAllowed)
  await kit.end()
})

test('a question is answered also where a schema has left its replyTo out', async () => {
  const kit = createTestKit()
  class Adder extends Actor {
    add(a: number): number {
      return a + 1
    }
    async later(a: number): Promise<number> {
      await Promise.resolve()
      return a + 1
    }
  }
  const accepts: MessageSchema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => ({ value: { type: (value as ClassCall).type, args: (value as ClassCall).args } }),
    },
  }
  for (const reentrant of [false, true]) {
    const adder = kit.system.spawn(Adder, { accepts, reentrant })
    const answers = Promise.all([adder.ask.add(1), adder.ask.later(2)])
    adder.tell.add(3)
    await kit.settle()
    expect(await answers).toEqual([2, 3])
  }
  expect(kit.system.deadLetters.list()).toEqual([])
  await kit.end()
})

test('what cannot be spawned, or has no context, says so', async () => {
  const kit = createTestKit()
  expect(() => kit.system.spawn(class Foo {} as never)).toThrow(NotABehavior)
  expect(() => kit.system.spawn(Cart, { args: 'x' as never })).toThrow(/Option args/)
  expect(() =>
    kit.system.spawn(
      receive(() => same),
      { args: [] } as never,
    ),
  ).toThrow(/Option args/)
  class Lone extends Actor {
    where(): string {
      return this.ctx.path
    }
  }
  expect(() => new Lone().where()).toThrow(/made with new/)
  expect(new Cart().count()).toBe(0)
  await kit.end()
})

test('detached methods keep their actor', async () => {
  const kit = createTestKit()
  const cart = kit.system.spawn(Cart)
  const { add } = cart.tell
  for (const item of ['a', 'b']) add(item)
  const { count } = cart.ask
  const n = count()
  await kit.settle()
  expect(await n).toBe(2)
  await kit.end()
})

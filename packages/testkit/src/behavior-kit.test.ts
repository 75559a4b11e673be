import { Actor, type ActorRef, type Behavior, receive, same, setup, type Signal, stopped, unhandled, withOptions } from '@troupe/core'
import { expect, test } from 'vitest'
import { BehaviorTestKit } from './behavior-kit.ts'

type Counter = { type: 'add'; by: number } | { type: 'get'; replyTo: ActorRef<number> } | { type: 'end' } | { type: 'odd' }
const counter = (n = 0): Behavior<Counter> =>
  receive((_ctx, m) => {
    switch (m.type) {
      case 'add':
        return counter(n + m.by)
      case 'get':
        m.replyTo.tell(n)
        return same
      case 'end':
        return stopped
      case 'odd':
        return unhandled
    }
  })

test('a behavior is run synchronously, and follows what its handlers return', () => {
  const kit = new BehaviorTestKit(counter())
  const inbox = kit.inbox<number>()
  kit.run({ type: 'add', by: 2 })
  expect(kit.returned).toBe('behavior')
  kit.run({ type: 'get', replyTo: inbox.ref })
  expect(inbox.messages).toEqual([2])
  kit.run({ type: 'odd' })
  expect(kit.returned).toBe('unhandled')
  kit.run({ type: 'end' })
  expect(kit.isAlive).toBe(false)
  expect(() => kit.run({ type: 'end' })).toThrow('takes nothing more')
})

test('effects say what was spawned, watched, scheduled, told, stashed and stopped, in order', () => {
  const kit = new BehaviorTestKit(
    setup<'go' | 'tick'>((ctx) => {
      ctx.setReceiveTimeout(100)
      return receive((c, m) => {
        if (m === 'tick') {
          c.stash.add(m)
          return same
        }
        const child = c.spawn(counter(), { name: 'kid' })
        c.watch(child)
        c.timers.every('beat', 10, 'tick')
        c.timers.cancel('beat')
        child.tell({ type: 'add', by: 1 })
        c.self.tell('tick')
        c.stop(child)
        return same
      })
    }),
  )
  kit.expectEffect('receive-timeout')
  kit.run('go')
  expect(kit.childInbox.bind(kit, 'kid')).toThrow('There is no child kid')
  expect(kit.effects.map((e) => e.type)).toEqual(['spawned', 'watched', 'scheduled', 'cancelled', 'told', 'told', 'stopped'])
  expect(kit.expectEffect('scheduled')).toMatchObject({ key: 'beat', ms: 10, every: true })
  expect(() => kit.expectEffect('forwarded')).toThrow('Expected an effect "forwarded"')
  kit.takeEffects()
  kit.runSelf()
  expect(kit.takeEffects()).toEqual([{ type: 'stashed', message: 'tick' }])
})

test('signals reach the behavior, start signals first', () => {
  const seen: string[] = []
  const kit = new BehaviorTestKit(
    receive<string>(
      () => same,
      (_ctx, s) => void seen.push(s.type),
    ),
  )
  kit.signal({ type: 'PostStop' })
  expect(seen).toEqual(['PreStart', 'PostStart', 'PostStop'])
})

test('a signal handler given to setup hears what the behavior of the moment leaves unhandled', () => {
  const seen: string[] = []
  const note =
    (who: string, answer = unhandled) =>
    (_ctx: unknown, s: Signal) => {
      seen.push(`${who} ${s.type}`)
      return answer
    }
  const plain: Behavior<string> = receive<string>((_ctx, m) => (m === 'later' ? setup<string>(() => own, note('later')) : same))
  const own: Behavior<string> = receive<string>(() => same, note('own'))
  const kit = new BehaviorTestKit(setup<string>(() => setup<string>(() => plain, note('inner')), note('outer', same)))
  expect(seen.splice(0)).toEqual(['inner PreStart', 'outer PreStart', 'inner PostStart', 'outer PostStart'])
  kit.run('later')
  kit.signal({ type: 'ReceiveTimeout' })
  expect(seen).toEqual(['own ReceiveTimeout', 'later ReceiveTimeout', 'inner ReceiveTimeout', 'outer ReceiveTimeout'])
  expect(kit.returned).toBe('same')
})

test('a signal cannot be stashed, as in a system', () => {
  const refused = (): unknown =>
    new BehaviorTestKit(
      receive<string>(
        () => same,
        (ctx, s) => ctx.stash.add(s as never),
      ),
    )
  expect(refused).toThrow(/cannot stash the signal PreStart/)
})

test('an async handler is run by runAsync only', async () => {
  const kit = new BehaviorTestKit(
    receive<number>(async (ctx, n) => {
      await Promise.resolve()
      ctx.self.tell(n + 1)
      return stopped
    }),
  )
  expect(() => kit.run(1)).toThrow('use runAsync')
  await kit.runAsync(1)
  expect(kit.selfInbox.messages).toContain(2)
  expect(kit.isAlive).toBe(false)
})

test('a class actor that is spawned is an effect, and its methods are told to its inbox', () => {
  class Cart extends Actor {
    add(_item: string): void {}
  }
  const kit = new BehaviorTestKit(
    receive<'go'>((ctx) => {
      ctx.spawn(Cart, { name: 'cart' }).tell.add('book')
      return same
    }),
  )
  kit.run('go')
  expect(kit.effects.map((e) => e.type)).toEqual(['spawned', 'told'])
  expect(kit.childInbox('cart').messages).toEqual([{ type: 'add', args: ['book'] }])
})

test('options are for spawn: the kit takes a behavior that brings some, and refuses one that a handler or setup returns', () => {
  const plain = receive<string>(() => same)
  const late = withOptions(plain, { stopTimeout: 10 })
  expect(new BehaviorTestKit(withOptions(late, { startTimeout: 10 })).isAlive).toBe(true)
  expect(() => new BehaviorTestKit(setup<string>(() => late))).toThrow('stopTimeout')
  expect(() => new BehaviorTestKit(receive<string>(() => late)).run('go')).toThrow('withOptions(setup(…), options)')
})

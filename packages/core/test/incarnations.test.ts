// What survives a restart and what ends with an incarnation; death pacts (BEHAVIOURS 27).

import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { type ActorRef, type Behavior, ignore, receive, same, setup } from '@troupe/core'
import { boom, gate, keeper, type Msg, often, say } from './keeper.ts'

test('what survives a restart: name, ref, mailbox, stash, watches, watchers, subscriptions', async () => {
  const kit = createTestKit()
  const heard: string[] = []
  const watched = kit.system.spawn(keeper(), { name: 'watched' })
  const watcher = kit.system.spawn(ignore)
  const ref = kit.system.spawn(
    setup<Msg | { type: 'news' }>((ctx) => {
      if (ctx.incarnation === 0) ctx.watch(watched)
      if (ctx.incarnation === 1) ctx.stash.unstashAll()
      return receive<Msg | { type: 'news' }>(
        (c, m) => {
          if (m.type === 'boom') throw m.cause
          if (m.type === 'say' && c.incarnation === 0) c.stash.add(m)
          else heard.push(`${m.type === 'say' ? m.word : m.type} ${c.incarnation}`)
          return same
        },
        (c, s) => {
          if (s.type === 'Terminated') heard.push(`Terminated ${c.incarnation}`)
          return same
        },
      )
    }),
    { name: 'survivor', supervision: often },
  )
  kit.system.events.subscribe(ref, 'news')
  kit.system.watch(ref, watcher)
  ref.tell(say('stashed'))
  ref.tell(boom())
  ref.tell(say('queued'))
  await kit.settle()
  expect(kit.system.find('/user/survivor')).toBe(ref)
  kit.system.events.publish({ type: 'news' })
  watched.stop()
  await kit.settle()
  expect(heard.toSorted()).toEqual(['Terminated 1', 'news 1', 'queued 1', 'stashed 1'])
  expect(heard.slice(0, 2)).toEqual(['stashed 1', 'queued 1'])
  ref.stop()
  await kit.settle()
  expect(kit.logs.filter((l) => l.message === 'Terminated was not handled').map((l) => l.fields['terminated'])).toEqual(['/user/survivor'])
  await kit.end()
})

test('what ends with an incarnation: context, timers, receive timeout, pending asks, adapters, piped promises', async () => {
  const kit = createTestKit()
  const heard: string[] = []
  const silent = kit.system.spawn(receive<{ type: 'q'; replyTo: ActorRef<number> }>(() => same))
  const held = gate()
  let adapter!: ActorRef<number>
  let context!: { readonly signal: { readonly aborted: boolean }; spawn(b: Behavior<Msg>): unknown }
  let asked: unknown
  let fresh = false
  const ref = kit.system.spawn(
    setup<Msg>((ctx) => {
      if (ctx.incarnation === 0) {
        context = ctx
        ctx.timers.once('once', 50, say('once'))
        ctx.timers.every('every', 50, say('every'))
        ctx.setReceiveTimeout(60)
        adapter = ctx.adapt((n: number) => say(`adapted ${n}`))
        ctx.ask(silent, { type: 'q' }).catch((error: unknown) => (asked = error))
        ctx.pipeToSelf(
          held.promise,
          () => say('piped'),
          () => say('pipe failed'),
        )
        expect(ctx.signal.aborted).toBe(false)
      } else fresh = !ctx.signal.aborted
      return receive<Msg>(
        (_c, m) => {
          if (m.type === 'boom') throw m.cause
          if (m.type === 'say') heard.push(m.word)
          return same
        },
        (_c, s) => {
          if (s.type === 'ReceiveTimeout') heard.push(s.type)
          return same
        },
      )
    }),
    { supervision: often },
  )
  await kit.settle()
  adapter.tell(1)
  ref.tell(boom())
  adapter.tell(2)
  await kit.settle()
  held.open()
  adapter.tell(3)
  await kit.advance(1000)
  expect(heard).toEqual(['adapted 1'])
  expect(asked).toMatchObject({ code: 'cancelled' })
  expect(context.signal.aborted).toBe(true)
  expect(fresh).toBe(true)
  expect(() => context.spawn(keeper())).toThrow(/that incarnation has ended/)
  expect(kit.system.deadLetters.list().map((l) => [l.message, l.reason])).toEqual([
    [2, 'stale-adapter'],
    [3, 'stale-adapter'],
  ])
  await kit.end()
})

test('27. a death pact asked for by a second watch of the same actor holds', async () => {
  const kit = createTestKit()
  const target = kit.system.spawn(receive<string>(() => same))
  const watcher = kit.system.spawn(
    setup<string>((ctx) => {
      ctx.watch(target)
      ctx.watch(target, { deathPact: true })
      ctx.watch(target)
      return receive<string>(() => same)
    }),
    { supervision: 'stop' },
  )
  await kit.settle()
  const end = kit.system.whenTerminated(watcher)
  target.stop()
  await kit.settle()
  expect(await end).toMatchObject({ reason: 'failure', cause: { code: 'death-pact' } })
  await kit.end()
})

test('27. an unhandled Terminated of a watched actor is a death pact only where asked for; by default it is logged', async () => {
  const kit = createTestKit()
  const watched = kit.system.spawn(keeper(), { name: 'watched' })
  const watching = (deathPact: boolean, handles: boolean): ActorRef<Msg> =>
    kit.system.spawn(
      setup<Msg>((ctx) => {
        ctx.watch(watched, { deathPact })
        return handles
          ? receive<Msg>(
              () => same,
              () => same,
            )
          : receive<Msg>(() => same)
      }),
      { supervision: 'stop' },
    )
  const careless = watching(false, false)
  const bound = watching(true, false)
  const careful = watching(true, true)
  await kit.settle()
  const end = kit.system.whenTerminated(bound)
  watched.stop()
  await kit.settle()
  expect([careless, bound, careful].map((r) => kit.system.phaseOf(r))).toEqual(['running', 'terminated', 'running'])
  expect(await end).toMatchObject({ reason: 'failure', cause: { code: 'death-pact' } })
  expect(kit.logs.filter((l) => l.level === 'warn')).toMatchObject([
    { fields: { actor: careless.path, terminated: '/user/watched', reason: 'normal' } },
  ])
  await kit.end()
})

test('a new incarnation hears nothing of the children of the one before: no Terminated, no message of watchWith, and the ledger adds up', async () => {
  const kit = createTestKit()
  const heard: string[] = []
  const ref = kit.system.spawn(
    setup<Msg | { type: 'gone' }>((ctx) => {
      if (ctx.incarnation === 0) {
        ctx.watch(ctx.spawn(ignore, { name: 'signalled' }))
        ctx.watchWith(ctx.spawn(ignore, { name: 'told' }), { type: 'gone' })
      }
      return receive<Msg | { type: 'gone' }>(
        (_c, m) => {
          if (m.type === 'boom') throw m.cause
          heard.push(m.type)
          return same
        },
        (c, s) => {
          if (s.type === 'Terminated' || s.type === 'ChildStopped') heard.push(`${s.type} ${c.incarnation}`)
          return same
        },
      )
    }),
    { supervision: often },
  )
  ref.tell(boom())
  ref.tell(say('after'))
  await kit.settle()
  expect(heard).toEqual(['say'])
  await kit.checkLedger()
  await kit.end()
})

test('a child that ended before the restart, and whose Terminated is still queued, is forgotten with the others', async () => {
  const kit = createTestKit()
  const heard: string[] = []
  const ref = kit.system.spawn(
    setup<Msg>((ctx) => {
      const child = ctx.incarnation === 0 ? ctx.spawn(ignore, { name: 'early' }) : undefined
      if (child !== undefined) ctx.watch(child)
      return receive<Msg>(
        async (c, m) => {
          if (m.type !== 'boom') return same
          c.stop(child)
          for (let i = 0; i < 5; i++) await c.breathe()
          throw m.cause
        },
        (c, s) => {
          if (s.type === 'Terminated') heard.push(`${s.ref.path} ${c.incarnation}`)
          return same
        },
      )
    }),
    { supervision: often },
  )
  ref.tell(boom())
  await kit.settle()
  expect(kit.system.phaseOf(ref)).toBe('running')
  expect(heard).toEqual([])
  await kit.end()
})

test('children that a restart keeps are watched by the next incarnation too', async () => {
  const kit = createTestKit()
  const heard: string[] = []
  const ref = kit.system.spawn(
    setup<Msg>((ctx) => {
      if (ctx.incarnation === 0) ctx.watch(ctx.spawn(ignore, { name: 'kept' }))
      return receive<Msg>(
        (_c, m) => {
          if (m.type === 'boom') throw m.cause
          return same
        },
        (c, s) => {
          if (s.type === 'Terminated') heard.push(`Terminated ${c.incarnation}`)
          return same
        },
      )
    }),
    { name: 'keeps', supervision: often, onRestart: { children: 'keep' } },
  )
  ref.tell(boom())
  await kit.settle()
  kit.system.find('/user/keeps/kept')!.stop()
  await kit.settle()
  expect(heard).toEqual(['Terminated 1'])
  await kit.end()
})

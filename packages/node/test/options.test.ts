// Options and handles of actors on threads: what is said of them beside their parent holds where they run.

import { expect, test } from 'vitest'
import { ActorSystem, measured, handleOf, receive, same, setup, supervise } from '@troupe/core'
import { threads, threadsOf } from '@troupe/node'
import { Cart, shopper } from '../dist-test/cart.js'
import { choosy, reentrantActor, watched } from '../dist-test/optioned.js'
import { stagesOfTests } from './stage.ts'

const stage = stagesOfTests()

test('threadsOf returns the threads of a system, and a second threads(system) is refused with its name', async () => {
  const s = stage()
  expect(threadsOf(s.system)).toBe(s.threads)
  const seen = new Promise<unknown>((resolve) =>
    s.system.spawn(
      setup<never>((ctx) => {
        resolve(threadsOf(ctx.system))
        return receive(() => same)
      }),
    ),
  )
  expect(await seen).toBe(s.threads)
  for (const again of [() => threads(s.system), () => threads(s.system, { size: 2 })])
    expect(again).toThrow(/has its threads already.*Use threadsOf\(system\)/)
  const other = ActorSystem.create('other', { keepAlive: false })
  expect(threadsOf(other)).toBe(undefined)
  await other.shutdown()
  await s.end()
})

test('a reentrant actor takes other messages while one is pending', async () => {
  const s = stage()
  const a = s.system.spawn(reentrantActor(), { dispatcher: 'parallel' })
  const held = a.ask({ type: 'hold' })
  expect(await a.ask({ type: 'release' })).toBe('done')
  expect(await held).toBe('released')
  await s.end()
})

test('what an actor does not accept is a dead letter, and an ask of it is refused', async () => {
  const s = stage()
  const nobody = s.system.spawn(receive<number>(() => same))
  const a = s.system.spawn(choosy(), { name: 'choosy', dispatcher: 'parallel' })
  expect(await a.ask({ type: 'number', n: 1 })).toBe(1)
  await expect(a.ask({ type: 'number', n: -1 })).rejects.toMatchObject({ code: 'ask-refused' })
  a.tell({ type: 'number', n: 0, replyTo: nobody })
  await s.until('the letter', () => s.system.deadLetters.list().filter((l) => l.reason === 'not-accepted').length === 2)
  const letter = s.system.deadLetters.list().at(-1)!
  expect((letter.message as { n: number }).n).toBe(0)
  expect(letter.recipient === a).toBe(true)
  await s.end()
})

test('the middleware of a definition stands before the handler where that runs: changes, swallows, hears of failures and the end', async () => {
  const s = stage()
  const heard: string[] = []
  const report = s.system.spawn(
    receive<string>((_ctx, m) => {
      heard.push(m)
      return same
    }),
  )
  const a = s.system.spawn(watched(report), { dispatcher: 'parallel', supervision: supervise({ backoff: { min: 0, max: 0 } }) })
  expect(await a.ask({ type: 'number', n: 21 })).toBe(42)
  a.tell({ type: 'secret' })
  a.tell({ type: 'fail' })
  await a.ask({ type: 'number', n: 1 })
  await s.until('the failure', () => heard.includes('error as told'))
  expect((await s.checkLedger()).dropped).toBe(1)
  a.stop()
  await s.until('the end', () => heard.includes('close'))
  expect(heard).toEqual(['after number', 'error as told', 'after number', 'close'])
  await s.end()
})

test('middleware given to spawn is refused by name, for its functions cannot go over', () => {
  const s = stage()
  expect(() => s.system.spawn(choosy(), { dispatcher: 'parallel', middleware: [{ before: (m) => m }] })).toThrow(/option middleware .* defineActor/)
})

test.each([
  ['asked for at spawn', {}, measured()],
  ['by default of the system', { system: { metrics: measured() } }, undefined],
])('metrics are of the actor where it runs, %s', async (_how, options, metrics) => {
  const s = stage(options)
  const a = s.subject({ name: 'a', dispatcher: 'parallel', script: { quiet: true }, ...(metrics === undefined ? undefined : { metrics }) })
  for (let i = 0; i < 100; i++) a.tell({ type: 'note', value: i })
  await a.ask({ type: 'echo', value: 1 })
  const { metrics: found } = await s.system.inspect(a)
  expect(found).toMatchObject({ mailbox: { enqueued: 101, dropped: 0 }, invoker: { processed: 101 } })
  await s.end()
})

test.each([
  ['of a cart on another thread', 'parallel', undefined],
  ['of a cart on the main thread', undefined, undefined],
  ['in a message that goes by port', 'parallel', new SharedArrayBuffer(8)],
])('the handle of a class actor is one wherever it comes, %s', async (_of, dispatcher, large) => {
  const s = stage()
  const cart = s.system.spawn(Cart, {
    name: 'cart',
    args: ['book'],
    ...(dispatcher === undefined ? undefined : { dispatcher, placement: { thread: 0 } }),
  })
  const buyer = s.system.spawn(shopper(), { dispatcher: 'parallel', placement: { thread: 1 } })
  const { items, cart: back } = await buyer.ask({ type: 'buy', cart, item: 'pen', ...(large === undefined ? undefined : { large }) })
  expect(items).toEqual(['book', 'pen'])
  expect(back).toBe(cart)
  expect(handleOf(back)).toBe(cart)
  await s.end()
})

/** The first start takes for ever. */
const endless = { startTimeout: 600_000, script: { slowFirstStart: 600_000, quiet: true } }

test('a thread that is lost while an actor first starts there fails that start', async () => {
  const s = stage()
  const a = s.subject({ name: 'a', dispatcher: 'parallel', placement: { thread: 0 }, ...endless })
  const started = s.system.started(a)
  const away = s.until('the start', () => s.threads.vitals().some((v) => v.thread === 0 && v.actors === 1))
  await away
  s.threads.terminate(0)
  await expect(started).rejects.toMatchObject({ code: 'actor-initialization', cause: { code: 'thread-lost' } })
  expect(await s.system.whenTerminated(a)).toMatchObject({ reason: 'failure' })
  await s.end()
})

test('with retryStart it is started again on the next', async () => {
  const s = stage()
  const supervision = supervise({ retryStart: true, backoff: { min: 0, max: 0 } })
  const a = s.subject({ name: 'a', dispatcher: 'parallel', placement: { thread: 0 }, supervision, ...endless })
  a.tell({ type: 'note', value: 'kept' })
  await s.until('the start', () => s.threads.vitals().some((v) => v.thread === 0 && v.actors === 1))
  s.threads.terminate(0)
  expect(await a.ask({ type: 'state' })).toEqual({ count: 2, incarnation: 1 })
  await s.hears('note kept')
  expect(s.heard()).toEqual(['note kept'])
  await s.end()
})

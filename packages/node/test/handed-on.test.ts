// A question that an actor on a thread hands on belongs to whoever has it then: it outlives the one who handed it on.

import { type ActorRef, ActorSystem } from '@troupe/core'
import { describe, expect, test } from 'vitest'
import { type Handed, hander, leaver } from './actors/hander.ts'
import { type InProcess, inProcess } from './in-process.ts'

const silentLogger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}
/** All ledgers add up, and nothing is under way, once the last poke of `answered` has come. */
async function expectSettled({ pool, places }: InProcess): Promise<void> {
  let ledger = await pool.ledger()
  while (ledger.queued + ledger.inProgress > 0) ledger = await pool.ledger()
  const { sent, handled, failed, unhandled, dropped, deadLettered, unknown } = ledger
  expect({ sum: handled + failed + unhandled + dropped + deadLettered + unknown, unknown }).toEqual({ sum: sent, unknown: 0 })
  expect(pool.exchange.questions.pending + pool.exchange.questions.held).toBe(0)
  for (const { exchange } of places.values()) expect(exchange.questions.pending + exchange.questions.held).toBe(0)
}

/** Tells the one who keeps a question what to answer, until it has come: nothing says which of the two comes first. */
async function answered(answer: Promise<string>, by: ActorRef<Handed>, text: string): Promise<string> {
  const poke = setInterval(() => by.tell({ type: 'answer', text }), 1)
  try {
    return await answer
  } finally {
    clearInterval(poke)
  }
}

/** One who hands on, on the first thread, and one who is handed to: on the main thread, beside it, or on another thread. */
const where = [
  ['on the main thread', undefined],
  ['on the same thread', 0],
  ['on another thread', 1],
] as const

describe.each(where)('handed on to an actor %s', (_where, thread) => {
  function stage(): InProcess & { system: ActorSystem; first: ActorRef<Handed>; second: ActorRef<Handed> } {
    const system = ActorSystem.create('one', { askTimeout: 30_000, logger: silentLogger })
    const inOne = inProcess(system)
    const first = system.spawn(hander(), { name: 'first', dispatcher: 'parallel', placement: { thread: 0 } })
    const second = system.spawn(
      hander(),
      thread === undefined ? { name: 'second' } : { name: 'second', dispatcher: 'parallel', placement: { thread } },
    )
    return { ...inOne, system, first, second }
  }
  const gone = async (system: ActorSystem, ref: ActorRef<Handed>): Promise<void> => void (await system.whenTerminated(ref))

  test('a question outlives the one who handed it on and stopped', async () => {
    const { system, first, second, ...rest } = stage()
    const answer = first.ask({ type: 'get', to: second, after: 'stop' })
    await gone(system, first)
    expect(await answered(answer, second, 'here')).toBe('here')
    await expectSettled(rest)
    await system.shutdown()
  })

  test('its answer is counted once, as handled', async () => {
    const { system, first, second, ...rest } = stage()
    const before = await rest.pool.ledger()
    const answer = first.ask({ type: 'get', to: second, after: 'stay' })
    await answered(answer, second, 'here')
    const after = await rest.pool.ledger()
    expect(after.deadLettered - before.deadLettered).toBe(0)
    await expectSettled(rest)
    await system.shutdown()
  })

  test('a question is refused at once when the one who has it now stops', async () => {
    const { system, first, second, ...rest } = stage()
    const answer = first.ask({ type: 'get', to: second, after: 'stay' }, { timeout: 60_000 })
    second.tell({ type: 'stop' })
    const cause: unknown = await answer.catch((c: unknown) => c)
    expect(cause).toMatchObject({ code: 'ask-target-stopped' })
    await expectSettled(rest)
    await system.shutdown()
  })

  test('whoever handed it on may answer it all the same', async () => {
    const { system, first, second, ...rest } = stage()
    expect(await first.ask({ type: 'get', to: second, after: 'answer' })).toBe('myself')
    second.tell({ type: 'answer', text: 'too late' })
    await second.ask({ type: 'get' }, { timeout: 5 }).catch(() => {})
    await expectSettled(rest)
    await system.shutdown()
  })

  test('what is in the mailbox of one that stops is redirected with its question', async () => {
    const { system, second, ...rest } = stage()
    const third = system.spawn(leaver(), { name: 'third', dispatcher: 'parallel', placement: { thread: 0 }, drain: { redirect: second } })
    third.tell({ type: 'wait', ms: 20 })
    third.tell({ type: 'stop' })
    const answer = (third as ActorRef<Handed>).ask({ type: 'get' })
    await system.whenTerminated(third)
    expect(await answered(answer, second, 'inherited')).toBe('inherited')
    await expectSettled(rest)
    await system.shutdown()
  })
})

test('a question that went on to another thread is lost with that one, and not with the one that passed it on', async () => {
  const system = ActorSystem.create('one', { askTimeout: 30_000, logger: silentLogger })
  const inOne = inProcess(system, 3)
  const on = (thread: number): ActorRef<Handed> => system.spawn(hander(), { dispatcher: 'parallel', placement: { thread }, supervision: 'stop' })
  const [first, second, third] = [on(0), on(1), on(2)]
  const kept = first.ask({ type: 'get', to: second, after: 'stay' }, { timeout: 60_000 })
  const lost = first.ask({ type: 'get', to: third, after: 'stay' }, { timeout: 60_000 })
  await until(() => [...inOne.places.values()].filter((p) => p.exchange.questions.held === 1).length === 2)
  const threads = [...inOne.pool.threads]
  threads[0]!.kill('terminated')
  await threads[0]!.gone
  threads[2]!.kill('terminated')
  expect(await lost.catch((c: unknown) => c)).toMatchObject({ code: expect.stringMatching(/thread-lost|ask-target-stopped/) })
  second.tell({ type: 'answer', text: 'kept' })
  expect(await kept).toBe('kept')
  await system.shutdown()
})

// C13 where a plain function was expected and an async one was given: nobody waits for it, and nothing of it reaches the
// process. The compiler allows it wherever nothing is to be returned.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CircuitBreaker, immediate, type Logger, receive, same, stopped, supervise } from 'troupe'

const escaped: unknown[] = []
const heard = (cause: unknown): void => void escaped.push(cause)
beforeEach(() => {
  escaped.length = 0
  process.on('unhandledRejection', heard)
})
afterEach(() => void process.off('unhandledRejection', heard))

/** The host tells of a rejection after the microtasks of the pass in which it happened. */
const passes = async (): Promise<void> => {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** An async function as whoever has no lint rule gives it: typed as one that returns nothing. */
const rejecting = (what: string): (() => void) => {
  const late: () => unknown = async () => {
    await Promise.resolve()
    throw new Error(what)
  }
  return late
}

const failing = receive<string>(() => {
  throw new Error('of the handler')
})
const ending = receive<string>(() => stopped)

const cases: Readonly<Record<string, (kit: TestKit) => void>> = {
  'a listener': (kit) => {
    kit.system.events.listen(rejecting('late'), 'actor.spawned')
    kit.system.spawn(ending)
  },
  'an immediate channel': (kit) => {
    immediate(rejecting('late')).attach(kit.system.events, 'actor.spawned')
    kit.system.spawn(ending)
  },
  'the end of a listener': (kit) => kit.system.events.listen(() => {}, undefined, rejecting('late')).cancel(),
  'after of a middleware': (kit) => kit.system.spawn(ending, { middleware: [{ after: rejecting('late') }] }).tell('go'),
  'error of a middleware': (kit) => kit.system.spawn(failing, { middleware: [{ error: rejecting('late') }] }).tell('go'),
  'close of a middleware': (kit) => kit.system.spawn(ending, { middleware: [{ close: rejecting('late') }] }).tell('go'),
  'before of a middleware': (kit) => kit.system.spawn(ending, { middleware: [{ before: rejecting('late') }] }).tell('go'),
  'onChange of a breaker': (kit) => new CircuitBreaker(kit.system, { onChange: rejecting('late') }).open(),
  'decide of a policy': (kit) => kit.system.spawn(failing, { supervision: supervise({ decide: rejecting('late') as never }) }).tell('go'),
}

describe('an async function where a plain one was expected rejects, and nothing escapes', () => {
  for (const [name, act] of Object.entries(cases))
    test(name, async () => {
      const kit = createTestKit()
      act(kit)
      await kit.advance(100)
      await passes()
      expect(escaped).toEqual([])
      // Told to the log, or, where the promise itself was the mistake, to supervision.
      expect(kit.logs.some((l) => l.level === 'error' && /late|promise|decide/i.test((l.fields['cause'] as Error).message))).toBe(true)
      await kit.end()
    })

  test('close of the middleware of a system', async () => {
    const kit = createTestKit({ middleware: [{ close: rejecting('late') }] })
    await kit.end()
    await passes()
    expect(escaped).toEqual([])
  })

  test('a logger', async () => {
    const log = rejecting('late')
    const kit = createTestKit({ logger: { debug: log, info: log, warn: log, error: log } satisfies Logger })
    kit.system.spawn(failing).tell('go')
    await kit.advance(100)
    await passes()
    expect(escaped).toEqual([])
    await kit.end()
  })
})

test('what is called at the end of a subscription may throw, and the shutdown resolves', async () => {
  const kit = createTestKit()
  const ended: string[] = []
  kit.system.events.listen(
    () => {},
    undefined,
    () => {
      ended.push('first')
      throw new Error('late')
    },
  )
  kit.system.events.listen(
    () => {},
    undefined,
    () => void ended.push('second'),
  )
  kit.system.spawn(receive<string>(() => same))
  await kit.settle()
  const closing = kit.system.shutdown()
  await kit.advance(40_000)
  expect(await closing).toMatchObject({ stopped: 1 })
  expect(ended).toEqual(['first', 'second'])
  kit.expectLog('an event listener failed')
})

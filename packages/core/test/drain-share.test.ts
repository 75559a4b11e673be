// How long a shutdown may drain: within its deadline, and never at the cost of an orderly stop.

import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type ActorRef, delay, receive, same, setup, type ShutdownOptions, type ShutdownReport } from '@troupe/core'

/** Always has a next job, each of a second, and takes two to put its tools away. */
const tireless = (log: string[]) =>
  setup<'job'>((ctx) => {
    const { clock } = ctx.system
    return receive<'job'>(
      async (c) => {
        await delay(1000, { clock })
        log.push(`job at ${clock.now()}`)
        c.self.tell('job')
        return same
      },
      async (_c, s) => {
        if (s.type === 'PreStop') {
          await delay(2000, { clock })
          log.push(`tidy at ${clock.now()}`)
        }
        return same
      },
    )
  })

interface Run {
  readonly report: ShutdownReport
  readonly log: readonly string[]
  readonly took: number
}

async function ended(kit: TestKit, options: ShutdownOptions, log: string[] = []): Promise<Run> {
  let took = -1
  const ending = kit.system.shutdown(options).then((report) => {
    took = kit.clock.now
    return report
  })
  await kit.advance(60_000)
  const report = await ending
  await kit.end()
  return { report, log, took }
}

describe('a draining shutdown', () => {
  const run = async (options: ShutdownOptions): Promise<Run> => {
    const kit = createTestKit()
    const log: string[] = []
    kit.system.spawn(tireless(log), { name: 'tireless' }).tell('job')
    await kit.settle()
    return ended(kit, options, log)
  }

  test('takes at most half of its deadline to drain: who still works then is stopped in order, not killed', async () => {
    const { report, log, took } = await run({ drain: true, deadline: 10_000 })
    // The job under way is finished; the next one is left.
    expect(log.filter((line) => line.startsWith('job')).length).toBeGreaterThanOrEqual(5)
    expect(log.at(-1)).toMatch(/^tidy/)
    expect(report).toEqual({ stopped: 1, killed: [], undelivered: 0 })
    expect(took).toBeGreaterThan(5000)
    expect(took).toBeLessThan(10_000)
  })

  test('takes as long as it is given, where that is said', async () => {
    const { report, log, took } = await run({ drain: 1500, deadline: 10_000 })
    expect(log).toEqual(['job at 1000', 'job at 2000', 'tidy at 4000'])
    expect([report.killed, took]).toEqual([[], 4000])
  })

  test('is over as soon as the mailboxes are empty, long before its share is', async () => {
    const kit = createTestKit()
    const seen: number[] = []
    const ref: ActorRef<number> = kit.system.spawn(receive<number>((_ctx, n) => void seen.push(n)))
    for (let i = 0; i < 300; i++) ref.tell(i)
    const { report, took } = await ended(kit, { drain: 9000, deadline: 10_000 })
    expect([seen.length, report.undelivered, took]).toEqual([300, 0, 0])
  })

  test('with a drain of 0 stops at once', async () => {
    const { log } = await run({ drain: 0, deadline: 10_000 })
    expect(log).toEqual(['job at 1000', 'tidy at 3000'])
  })

  test('kills at its deadline who does not stop in order, drained or not', async () => {
    const kit = createTestKit()
    const stuck = receive<string>(
      () => new Promise<void>(() => {}),
      () => new Promise<void>(() => {}),
    )
    kit.system.spawn(stuck, { name: 'stuck', stopTimeout: 100_000 }).tell('go')
    await kit.settle()
    const { report, took } = await ended(kit, { drain: true, deadline: 10_000 })
    expect([report.killed, took]).toEqual([['/user/stuck'], 10_000])
  })

  test('gives those that stop the time from the drain to the deadline, although they ask for more', async () => {
    const kit = createTestKit()
    const log: string[] = []
    const slow = receive<string>(
      () => new Promise<void>(() => {}),
      async (_c, s) => {
        if (s.type === 'PostStop') log.push(`gone at ${kit.clock.now}`)
        return same
      },
    )
    kit.system.spawn(slow, { name: 'slow', stopTimeout: 3000 }).tell('go')
    await kit.settle()
    const { report } = await ended(kit, { drain: true, deadline: 20_000 }, log)
    expect(log).toEqual(['gone at 13000'])
    expect(report.killed).toEqual([])
  })

  test.each([
    [{ drain: 10_000, deadline: 10_000 }],
    [{ drain: 30_000 }],
    [{ drain: -1 }],
    [{ drain: NaN }],
    [{ drain: Infinity }],
    [{ drain: 'yes' }],
  ])('is refused where it leaves no time to stop, or is no time: %j', async (options) => {
    const kit = createTestKit()
    expect(() => kit.system.shutdown(options as never)).toThrow(expect.objectContaining({ code: 'invalid-option', option: 'drain' }))
    expect(kit.system.phase).toBe('open')
    await kit.end()
  })
})

test('a draining shutdown stops the youngest first and waits for it, so that its last messages are handled', async () => {
  const kit = createTestKit()
  const stored: string[] = []
  const store = kit.system.spawn(
    receive<string>((_ctx, m) => {
      stored.push(m)
      return same
    }),
    { name: 'store' },
  )
  const { clock } = kit.system
  for (const name of ['a', 'b'])
    kit.system.spawn(
      receive<string>(
        () => same,
        async (_ctx, signal) => {
          if (signal.type !== 'PreStop') return same
          await delay(100, { clock })
          store.tell(`last of ${name}`)
          return same
        },
      ),
      { name },
    )
  const { report, took } = await ended(kit, { drain: true })
  expect(stored).toEqual(['last of b', 'last of a'])
  expect(report).toEqual({ stopped: 3, killed: [], undelivered: 0 })
  expect(kit.system.metrics().messages.deadLettered).toBe(0)
  expect(took).toBe(200)
})

test('one that takes long to stop holds up the others for a second at most', async () => {
  const kit = createTestKit()
  const stops: string[] = []
  const { clock } = kit.system
  for (const [name, ms] of [
    ['quick', 0],
    ['slow', 4000],
  ] as const)
    kit.system.spawn(
      receive<string>(
        () => same,
        async (_ctx, signal) => {
          if (signal.type === 'PreStop') stops.push(`${name} at ${clock.now()}`)
          if (signal.type === 'PreStop' && ms > 0) await delay(ms, { clock })
          return same
        },
      ),
      { name },
    )
  const { took } = await ended(kit, { drain: true })
  expect(stops).toEqual(['slow at 0', 'quick at 1000'])
  expect(took).toBe(4000)
})

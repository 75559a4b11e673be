import { createTestKit, seeded } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { type ActorRef, Cancelled, delay, NotAllowed, race, receive, same, TaskGroup, TasksFailed } from '../index.ts'

const until = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
const microtasks = async (n: number): Promise<void> => {
  for (let i = 0; i < n; i++) await Promise.resolve()
}

test('waitAll resolves when every task has ended, those spawned by tasks included', async () => {
  const kit = createTestKit()
  const log: string[] = []
  const { clock } = kit.system
  const group = new TaskGroup()
  const value = group.spawn(async (signal) => {
    await delay(10, { signal, clock })
    void group.spawn(async () => {
      await delay(30, { clock })
      log.push('inner')
    })
    return 'value'
  })
  void group.spawn(async () => void (await delay(20, { clock }).then(() => log.push('second'))))
  const all = group.waitAll().then(() => log.push('all'))
  await kit.advance(100)
  await all
  expect(await value).toBe('value')
  expect(log).toEqual(['second', 'inner', 'all'])
  expect(() => group.spawn(() => 1)).toThrow(NotAllowed)
  await kit.end()
})

test('the first failure cancels the others, and waitAll tells of all errors once everybody has ended', async () => {
  const group = new TaskGroup()
  const log: string[] = []
  const first = group.spawn(async () => {
    await Promise.resolve()
    throw new Error('first')
  })
  const second = group.spawn(async (signal) => {
    await until(signal).catch(() => {})
    await microtasks(20)
    log.push('cleaned up')
    throw new Error('second')
  })
  const third = group.spawn((signal) => until(signal))
  const error = await group.waitAll().catch((e: unknown) => e)
  expect(log).toEqual(['cleaned up'])
  expect(error).toBeInstanceOf(TasksFailed)
  expect(error).toMatchObject({ cause: { message: 'first' }, errors: [{ message: 'first' }, { message: 'second' }] })
  await expect(first).rejects.toThrow('first')
  await expect(second).rejects.toThrow('second')
  await expect(third).rejects.toBeInstanceOf(Cancelled)
})

test('a task that throws before its first await is a failure as any other', async () => {
  const group = new TaskGroup()
  void group.spawn(() => {
    throw new Error('at once')
  })
  await expect(group.waitAll()).rejects.toMatchObject({ errors: [{ message: 'at once' }] })
})

test('a group given ctx.signal ends with the incarnation', async () => {
  const kit = createTestKit()
  const ends: unknown[] = []
  const ref = kit.system.spawn(
    receive<'go'>((ctx) => {
      const group = new TaskGroup({ signal: ctx.signal })
      void group.spawn((signal) => delay(1000, { signal, clock: ctx.system.clock }))
      group.waitAll().catch((e: unknown) => ends.push(e))
      return same
    }),
  )
  ref.tell('go')
  await kit.settle()
  expect(ends).toEqual([])
  ref.stop()
  await kit.settle()
  expect(ends).toMatchObject([{ code: 'cancelled' }])
  await kit.end()
})

test('cancel ends all, also those that wait for their turn, which never start', async () => {
  const group = new TaskGroup({ limit: 1 })
  let started = 0
  void group.spawn((signal) => (started++, until(signal)))
  const waiting = group.spawn(() => started++)
  expect(group.size).toBe(2)
  group.cancel('enough')
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled', cause: 'enough' })
  await expect(group.waitAll()).rejects.toMatchObject({ code: 'cancelled', cause: 'enough' })
  expect(started).toBe(1)
  const late = new TaskGroup()
  late.cancel()
  await expect(late.spawn(() => 1)).rejects.toMatchObject({ code: 'cancelled' })
})

test('at most limit tasks run at once, and start in the order in which they were spawned', async () => {
  const group = new TaskGroup({ limit: 2 })
  let running = 0
  let most = 0
  const order: number[] = []
  for (let i = 0; i < 8; i++)
    void group.spawn(async () => {
      order.push(i)
      most = Math.max(most, ++running)
      await microtasks(i % 3)
      running--
    })
  await group.waitAll()
  expect([most, order]).toEqual([2, [0, 1, 2, 3, 4, 5, 6, 7]])
  expect(() => new TaskGroup({ limit: 0 })).toThrow(/limit/)
})

test('race settles as the first task to end, after the others have ended too', async () => {
  let left = 2
  const loser = async (signal: AbortSignal): Promise<string> => {
    await until(signal).catch(() => {})
    await microtasks(10)
    left--
    return 'loser'
  }
  expect(await race([loser, async () => 'winner', loser])).toBe('winner')
  expect(left).toBe(0)
  await expect(race([loser, () => Promise.reject(new Error('fast failure'))])).rejects.toThrow('fast failure')
  await expect(race([])).rejects.toBeInstanceOf(NotAllowed)
  const abort = new AbortController()
  const aborted = race([(signal) => until(signal)], { signal: abort.signal })
  abort.abort('stop')
  await expect(aborted).rejects.toMatchObject({ code: 'cancelled' })
})

test('await using cancels what nobody waited for, waits for its end, and tells of failures that nobody heard', async () => {
  const log: string[] = []
  {
    await using group = new TaskGroup()
    void group.spawn(async (signal) => {
      await until(signal).catch(() => {})
      await microtasks(5)
      log.push('ended')
    })
  }
  expect(log).toEqual(['ended'])
  const silent = async (): Promise<void> => {
    await using group = new TaskGroup()
    void group.spawn(() => Promise.reject(new Error('unheard')))
    await microtasks(5)
  }
  await expect(silent()).rejects.toMatchObject({ code: 'tasks-failed', cause: { message: 'unheard' } })
  const heard = async (): Promise<string> => {
    await using group = new TaskGroup()
    void group.spawn(() => Promise.reject(new Error('heard')))
    return group.waitAll().then(
      () => 'no',
      () => 'yes',
    )
  }
  expect(await heard()).toBe('yes')
})

test('a group that was given a long-lived signal lets go of it', async () => {
  const abort = new AbortController()
  let listening = 0
  const signal = new Proxy(abort.signal, {
    get(target, key) {
      if (key === 'addEventListener') return (...args: Parameters<AbortSignal['addEventListener']>) => (listening++, target.addEventListener(...args))
      if (key === 'removeEventListener')
        return (...args: Parameters<AbortSignal['removeEventListener']>) => (listening--, target.removeEventListener(...args))
      return Reflect.get(target, key, target) as unknown
    },
  })
  for (let i = 0; i < 10; i++) {
    const group = new TaskGroup({ signal })
    void group.spawn(() => i)
    await group.waitAll()
  }
  expect(listening).toBe(0)
})

/** One random life of a group; returns how many tasks still ran, or had begun beyond the limit, when it settled. */
async function schedule(seed: number): Promise<{ orphans: number; over: number }> {
  const random = seeded(seed)
  const below = (n: number): number => Math.floor(random() * n)
  const limit = random() < 0.5 ? 1 + below(3) : undefined
  const abort = new AbortController()
  const group = new TaskGroup({ limit, signal: random() < 0.5 ? abort.signal : undefined })
  let running = 0
  let over = 0
  let budget = 20
  const task = async (signal: AbortSignal): Promise<number> => {
    running++
    if (running > (limit ?? Infinity)) over++
    try {
      const kind = below(8)
      for (let i = below(10); i > 0; i--) {
        await Promise.resolve()
        if (kind < 4) signal.throwIfAborted()
      }
      // Some listen to the signal, some do not; some spawn, some fail, before or after being cancelled.
      if (kind === 5 && budget-- > 0) void group.spawn(task)
      if (kind === 6) throw new Error('failed')
      if (kind === 7) await Promise.race([until(signal).catch(() => microtasks(below(6))), microtasks(12)])
      return kind
    } finally {
      running--
    }
  }
  for (let i = 1 + below(6); i > 0; i--) void group.spawn(random() < 0.1 ? () => Promise.reject(new Error('at once')) : task)
  const aborting = microtasks(below(12)).then(() => void (random() < 0.4 && abort.abort('outside')))
  const end = [() => group.waitAll(), () => group.race(), () => group[Symbol.asyncDispose]()][below(3)]!
  await microtasks(below(6))
  await end().catch(() => {})
  const orphans = running + group.size
  await aborting
  return { orphans, over }
}

test('no task outlives its group, in any of 5,000 random schedules', async () => {
  for (let seed = 0; seed < 5000; seed++) {
    const found = await schedule(seed)
    if (found.orphans !== 0 || found.over !== 0) throw new Error(`seed ${seed}: ${JSON.stringify(found)}`)
  }
})

test('a task group inside a handler holds the actor until its tasks have ended', async () => {
  const kit = createTestKit()
  type Fetch = { type: 'fetch'; ids: readonly number[]; replyTo: ActorRef<readonly number[]> }
  const fetcher = kit.system.spawn(
    receive<Fetch>(async (ctx, m) => {
      await using group = new TaskGroup({ signal: ctx.signal, limit: 2 })
      const found = m.ids.map((id) =>
        group.spawn(async (signal) => {
          await delay(id, { signal, clock: ctx.system.clock })
          return id * 2
        }),
      )
      await group.waitAll()
      m.replyTo.tell(await Promise.all(found))
      return same
    }),
  )
  const answer = fetcher.ask({ type: 'fetch', ids: [10, 30, 20] })
  await kit.advance(30)
  expect(await answer).toEqual([20, 60, 40])
  await kit.end()
})

test('a race whose signal is already aborted is cancelled, and starts no task', async () => {
  const source = new AbortController()
  source.abort('gone')
  let started = 0
  const lost = race([() => ++started], { signal: source.signal })
  await expect(lost).rejects.toBeInstanceOf(Cancelled)
  expect(started).toBe(0)
})

import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { CancellationToken, Cancelled, delay, hostClock, InvalidOption, retry, RetriesExhausted, TimedOut, timeout } from '../index.ts'

const outcomeOf = (promise: Promise<unknown>): Promise<unknown> => promise.catch((e: unknown) => e)
const forever = new Promise<never>(() => {})

test('delay resolves when its time has come on the clock it was given', async () => {
  const kit = createTestKit()
  let done = false
  void delay(50, { clock: kit.system.clock }).then(() => (done = true))
  await kit.advance(49)
  expect(done).toBe(false)
  await kit.advance(1)
  expect(done).toBe(true)
  await kit.end()
})

test('an aborted delay rejects at once with Cancelled and the reason', async () => {
  const kit = createTestKit()
  const abort = new AbortController()
  const { clock } = kit.system
  const outcome = outcomeOf(delay(50, { clock, signal: abort.signal }))
  abort.abort('enough')
  expect(await outcome).toMatchObject({ code: 'cancelled', cause: 'enough' })
  expect(await outcomeOf(delay(50, { clock, signal: abort.signal }))).toBeInstanceOf(Cancelled)
  for (const ms of [-1, Number.NaN, Infinity]) expect(await outcomeOf(delay(ms))).toMatchObject({ code: 'invalid-option' })
  await kit.end()
})

test('whoever waits on the clock of a system that ends is told so', async () => {
  const kit = createTestKit()
  const { clock } = kit.system
  const outcome = outcomeOf(delay(1_000_000, { clock }))
  await kit.end()
  expect(await outcome).toMatchObject({ code: 'system-closed' })
  expect(await outcomeOf(delay(1, { clock }))).toMatchObject({ code: 'system-closed' })
})

test('the host clock is the default', async () => {
  const before = hostClock.now()
  await delay(1)
  expect(hostClock.now()).toBeGreaterThanOrEqual(before + 1)
  const cancel = hostClock.after(
    2 ** 40,
    () => {},
    () => {},
  )
  cancel()
})

test('timeout passes on what is in time, and rejects with TimedOut what is not', async () => {
  const kit = createTestKit()
  const { clock } = kit.system
  expect(await timeout(Promise.resolve(5), 10, { clock })).toBe(5)
  expect(await outcomeOf(timeout(Promise.reject(new Error('own')), 10, { clock }))).toMatchObject({ message: 'own' })
  const late = outcomeOf(timeout(forever, 10, { clock }))
  await kit.advance(10)
  expect(await late).toMatchObject({ code: 'timed-out', ms: 10 })
  expect(await late).toBeInstanceOf(TimedOut)
  await kit.end()
})

test('timeout ends the work it was given as a function, and observes what it does later', async () => {
  const kit = createTestKit()
  const { clock } = kit.system
  let reason: unknown
  const work = (signal: unknown): Promise<never> =>
    new Promise((_, reject) =>
      (signal as AbortSignal).addEventListener('abort', () => {
        reason = (signal as AbortSignal).reason
        reject(new Error('late rejection'))
      }),
    )
  const outcome = outcomeOf(timeout(work, 10, { clock }))
  await kit.advance(10)
  expect(await outcome).toBeInstanceOf(TimedOut)
  expect(reason).toBeInstanceOf(TimedOut)
  const thrown = timeout(
    () => {
      throw new Error('at once')
    },
    10,
    { clock },
  )
  await expect(thrown).rejects.toThrow('at once')
  const abort = new AbortController()
  const aborted = outcomeOf(timeout(work, 10, { clock, signal: abort.signal }))
  abort.abort('gone')
  expect(await aborted).toMatchObject({ code: 'cancelled', cause: 'gone' })
  let ran = false
  expect(await outcomeOf(timeout(() => (ran = true), 10, { clock, signal: abort.signal }))).toMatchObject({ code: 'cancelled' })
  expect(ran).toBe(false)
  await kit.end()
})

test('a token is cancelled once, keeps the first reason, and says so', () => {
  const token = new CancellationToken()
  expect([token.isCancelled, token.signal.aborted]).toEqual([false, false])
  token.throwIfCancelled()
  token.cancel('first')
  token.cancel('second')
  expect([token.isCancelled, token.reason]).toEqual([true, 'first'])
  expect(() => token.throwIfCancelled()).toThrow(Cancelled)
  const own = new CancellationToken()
  own.cancel()
  expect(own.reason).toBeInstanceOf(Cancelled)
})

test('linked tokens follow those they are linked to, and not the other way round', () => {
  const parent = new CancellationToken()
  const abort = new AbortController()
  const child = new CancellationToken(parent, abort.signal, undefined)
  const sibling = new CancellationToken(parent)
  const free = new CancellationToken(parent)
  free.dispose()
  child.cancel('child')
  expect([parent.isCancelled, sibling.isCancelled]).toEqual([false, false])
  parent.cancel('parent')
  expect([child.reason, sibling.reason, free.isCancelled]).toEqual(['child', 'parent', false])
  expect(new CancellationToken(parent).reason).toBe('parent')
})

test('a token with a time limit cancels itself, unless it was let go', async () => {
  const kit = createTestKit()
  const { clock } = kit.system
  const token = CancellationToken.after(20, { clock })
  let kept: CancellationToken
  {
    using short = CancellationToken.after(10, { clock })
    kept = short
  }
  await kit.advance(20)
  expect(token.reason).toBeInstanceOf(TimedOut)
  expect(kept.isCancelled).toBe(false)
  expect(() => token.throwIfCancelled()).toThrow(TimedOut)
  await kit.end()
})

test('retry tries again with growing pauses until it succeeds', async () => {
  const kit = createTestKit()
  const { clock } = kit.system
  const times: number[] = []
  const work = retry(
    (attempt) => {
      times.push(kit.clock.now)
      if (attempt < 4) throw new Error(`attempt ${attempt}`)
      return `attempt ${attempt}`
    },
    { attempts: 5, backoff: { min: 10, max: 30, factor: 2, jitter: 0 }, clock },
  )
  await kit.advance(100)
  expect(await work).toBe('attempt 4')
  expect(times).toEqual([0, 10, 30, 60])
  await kit.end()
})

test('retry gives up with all errors, or at once with the cause where it is told to', async () => {
  const kit = createTestKit()
  const { clock } = kit.system
  const exhausted = outcomeOf(retry((n) => Promise.reject(new Error(`e${n}`)), { clock }))
  await kit.advance(1000)
  expect(await exhausted).toBeInstanceOf(RetriesExhausted)
  expect(await exhausted).toMatchObject({ errors: [{ message: 'e1' }, { message: 'e2' }, { message: 'e3' }], cause: { message: 'e3' } })
  const refused = new Error('permanent')
  expect(await outcomeOf(retry(() => Promise.reject(refused), { clock, retryIf: (cause) => cause !== refused }))).toBe(refused)
  for (const options of [{ attempts: 0 }, { backoff: { jitter: 2 } }, { backoff: { factor: 0 } }])
    expect(await outcomeOf(retry(() => 1, options))).toMatchObject({ code: 'invalid-option' })
  await kit.end()
})

test('retry begins no attempt once it is aborted, and bounds each attempt', async () => {
  const kit = createTestKit()
  const { clock } = kit.system
  const abort = new AbortController()
  let attempts = 0
  const outcome = outcomeOf(retry(() => (attempts++, Promise.reject(new Error('x'))), { clock, signal: abort.signal, attempts: 9 }))
  await kit.settle()
  abort.abort('stop')
  expect(await outcome).toMatchObject({ code: 'cancelled', cause: 'stop' })
  expect(attempts).toBe(1)
  const last = new AbortController()
  const ended = retry(() => (last.abort('late'), Promise.reject(new Error('x'))), { clock, signal: last.signal, attempts: 1 })
  expect(await outcomeOf(ended)).toMatchObject({ code: 'cancelled', cause: 'late' })
  const slow = outcomeOf(retry(() => forever, { clock, timeout: 5, attempts: 2, backoff: { min: 1, jitter: 0 } }))
  await kit.advance(11)
  expect(await slow).toMatchObject({ code: 'retries-exhausted', errors: [{ code: 'timed-out' }, { code: 'timed-out' }] })
  await kit.end()
})

test('retry refuses pauses whose least exceeds their most, and makes no attempt', async () => {
  let attempts = 0
  await expect(retry(() => ++attempts, { backoff: { min: 5000 } })).rejects.toMatchObject({ code: 'invalid-option', option: 'backoff.min' })
  expect(attempts).toBe(0)
})

test('retry refuses a bad timeout at once, and makes no attempt', async () => {
  let attempts = 0
  await expect(retry(() => ++attempts, { timeout: -1 })).rejects.toBeInstanceOf(InvalidOption)
  expect(attempts).toBe(0)
})

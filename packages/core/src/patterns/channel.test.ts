import { fc } from '../../test/properties.ts'
import { expect, test } from 'vitest'
import { Channel, ChannelClosed, type Receiver, type Sender } from '../index.ts'

const codeOf = (cause: unknown): unknown => (cause as { code?: unknown }).code
const microtasks = async (n = 8): Promise<void> => {
  for (let i = 0; i < n; i++) await Promise.resolve()
}
/** Whether a promise is still pending, and if not, how it ended. */
const track = (promise: Promise<unknown>): { state: unknown } => {
  const tracked: { state: unknown } = { state: 'pending' }
  promise.then(
    (value) => (tracked.state = value === undefined ? 'done' : value),
    (cause: unknown) => (tracked.state = codeOf(cause)),
  )
  return tracked
}

test('values come out in the order in which they were sent', async () => {
  const channel = new Channel<number>(2)
  const producer = (async () => {
    for (let i = 0; i < 100; i++) await channel.send(i)
    channel.close()
  })()
  const got: number[] = []
  for await (const n of channel) got.push(n)
  await producer
  expect(got).toEqual(Array.from({ length: 100 }, (_, i) => i))
})

test('send waits while the buffer is full, and goes on when there is room', async () => {
  const channel = new Channel<number>(1)
  await channel.send(1)
  const second = track(channel.send(2))
  await microtasks()
  expect([second.state, channel.size]).toEqual(['pending', 1])
  expect(await channel.receive()).toEqual({ done: false, value: 1 })
  await microtasks()
  expect([second.state, channel.size]).toEqual(['done', 1])
})

test('without a buffer a send is done when its value was received', async () => {
  const channel = new Channel<string>(0)
  expect(channel.trySend('nobody waits')).toBe(false)
  const sent = track(channel.send('x'))
  await microtasks()
  expect(sent.state).toBe('pending')
  expect(channel.tryReceive()).toEqual({ done: false, value: 'x' })
  await microtasks()
  expect(sent.state).toBe('done')
  const received = channel.receive()
  expect(channel.trySend('y')).toBe(true)
  expect(await received).toEqual({ done: false, value: 'y' })
})

test('receivers are served in the order in which they came', async () => {
  const channel = new Channel<number>(4)
  const waits = [channel.receive(), channel.receive(), channel.receive()]
  for (const n of [1, 2, 3]) channel.trySend(n)
  expect((await Promise.all(waits)).map((r) => r.value)).toEqual([1, 2, 3])
})

test('after close receivers drain the buffer, then end; sending is refused', async () => {
  const channel = new Channel<number>(3)
  channel.trySend(1)
  channel.trySend(2)
  channel.close()
  channel.close()
  expect(channel.closed).toBe(true)
  await expect(channel.send(3)).rejects.toBeInstanceOf(ChannelClosed)
  expect(() => channel.trySend(3)).toThrow(ChannelClosed)
  expect([await channel.receive(), await channel.receive(), await channel.receive(), channel.tryReceive()]).toEqual([
    { done: false, value: 1 },
    { done: false, value: 2 },
    { done: true, value: undefined },
    { done: true, value: undefined },
  ])
})

test('closing ends those who wait: receivers with the end, senders with ChannelClosed', async () => {
  const empty = new Channel<number>(0)
  const waiting = [track(empty.receive()), track(empty.receive())]
  empty.close()
  await microtasks()
  expect(waiting.map((w) => w.state)).toEqual([
    { done: true, value: undefined },
    { done: true, value: undefined },
  ])
  const full = new Channel<number>(1)
  full.trySend(1)
  const sender = track(full.send(2))
  full.close()
  await microtasks()
  expect(sender.state).toBe('channel-closed')
  expect([await full.receive(), await full.receive()].map((r) => r.done)).toEqual([false, true])
})

test('an aborted wait rejects with Cancelled, leaves the line, and neither sends nor takes', async () => {
  const channel = new Channel<number>(1)
  const abort = new AbortController()
  const gone = track(channel.receive({ signal: abort.signal }))
  const stays = track(channel.receive())
  abort.abort('enough')
  await microtasks()
  expect(gone.state).toBe('cancelled')
  channel.trySend(1)
  await microtasks()
  expect(stays.state).toEqual({ done: false, value: 1 })
  channel.trySend(2)
  const late = new AbortController()
  const unsent = track(channel.send(3, { signal: late.signal }))
  late.abort()
  await microtasks()
  expect(unsent.state).toBe('cancelled')
  expect(channel.tryReceive()).toEqual({ done: false, value: 2 })
  expect(channel.tryReceive()).toBeUndefined()
  await expect(channel.send(1, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' })
  await expect(channel.receive({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' })
})

test('undefined, null and false are values', async () => {
  const channel = new Channel<unknown>(3)
  for (const value of [undefined, null, false]) channel.trySend(value)
  channel.close()
  const got: unknown[] = []
  for await (const value of channel) got.push(value)
  expect(got).toEqual([undefined, null, false])
})

test('sides do only what their name says', async () => {
  const channel = new Channel<number>(1)
  const sender: Sender<number> = channel.sender
  const receiver: Receiver<number> = channel.receiver
  expect('receive' in sender || 'close' in receiver || 'send' in receiver).toBe(false)
  await sender.send(4)
  expect(await receiver.receive()).toEqual({ done: false, value: 4 })
  sender.close()
  for await (const _ of receiver) throw new Error('nothing was sent')
})

test('leaving a loop early closes nothing; another loop goes on', async () => {
  const channel = new Channel<number>(4)
  for (const n of [1, 2, 3]) channel.trySend(n)
  for await (const n of channel) if (n === 1) break
  channel.close()
  const rest: number[] = []
  for await (const n of channel) rest.push(n)
  expect(rest).toEqual([2, 3])
})

test('a capacity that makes no sense is refused', () => {
  for (const capacity of [-1, 1.5, Number.NaN, Infinity]) expect(() => new Channel(capacity)).toThrow(/capacity/)
})

test('waits that are aborted again and again leave nothing behind', async () => {
  const channel = new Channel<number>(0)
  const abort = new AbortController()
  let cancelled = 0
  for (let i = 0; i < 2_000; i++) {
    const one = new AbortController()
    channel.receive({ signal: one.signal }).catch(() => cancelled++)
    one.abort()
  }
  const last = channel.receive({ signal: abort.signal })
  await microtasks()
  expect(cancelled).toBe(2_000)
  channel.trySend(1)
  expect(await last).toEqual({ done: false, value: 1 })
})

/** The plainest queue that does what a channel promises; outcomes by operation. */
class Model {
  readonly capacity: number
  readonly outcomes: unknown[] = []
  buffer: number[] = []
  senders: { op: number; value: number }[] = []
  receivers: number[] = []
  closed = false
  constructor(capacity: number) {
    this.capacity = capacity
  }
  send(op: number, value: number, wait: boolean): void {
    const receiver = this.receivers.shift()
    if (this.closed) this.outcomes[op] = 'channel-closed'
    else if (receiver !== undefined) {
      this.outcomes[receiver] = { done: false, value }
      this.outcomes[op] = wait ? 'done' : true
    } else if (this.buffer.length < this.capacity) {
      this.buffer.push(value)
      this.outcomes[op] = wait ? 'done' : true
    } else if (wait) {
      this.outcomes[op] = 'pending'
      this.senders.push({ op, value })
    } else this.outcomes[op] = false
  }
  receive(op: number, wait: boolean): void {
    const all = [...this.buffer, ...this.senders.map((s) => s.value)]
    if (all.length > 0) {
      this.outcomes[op] = { done: false, value: all.shift() }
      const accepted = this.senders.splice(
        0,
        Math.max(0, Math.min(this.senders.length, this.capacity === 0 ? 1 : this.capacity - (this.buffer.length - 1))),
      )
      for (const s of accepted) this.outcomes[s.op] = 'done'
      this.buffer = this.capacity === 0 ? [] : [...this.buffer.slice(1), ...accepted.map((s) => s.value)]
    } else if (this.closed) this.outcomes[op] = { done: true, value: undefined }
    else if (wait) {
      this.outcomes[op] = 'pending'
      this.receivers.push(op)
    } else this.outcomes[op] = undefined
  }
  close(): void {
    this.closed = true
    for (const op of this.receivers.splice(0)) this.outcomes[op] = { done: true, value: undefined }
    for (const { op } of this.senders.splice(0)) this.outcomes[op] = 'channel-closed'
  }
  abort(op: number): void {
    if (this.outcomes[op] !== 'pending') return
    this.outcomes[op] = 'cancelled'
    this.receivers = this.receivers.filter((r) => r !== op)
    this.senders = this.senders.filter((s) => s.op !== op)
  }
}

const operation = fc.oneof(
  { weight: 4, arbitrary: fc.constant(['send'] as const) },
  { weight: 4, arbitrary: fc.constant(['receive'] as const) },
  { weight: 1, arbitrary: fc.constant(['trySend'] as const) },
  { weight: 1, arbitrary: fc.constant(['tryReceive'] as const) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('abort' as const), fc.nat(30)) },
  { weight: 2, arbitrary: fc.constant(['tick'] as const) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('close' as const), fc.nat(5)) },
)

test('a channel behaves as a plain queue does, under any interleaving of any operations', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(3), fc.array(operation, { maxLength: 40 }), async (capacity, operations) => {
      const channel = new Channel<number>(capacity)
      const model = new Model(capacity)
      const real: { state: unknown }[] = []
      const aborts: AbortController[] = []
      let op = 0
      for (const [kind, n] of operations) {
        const abort = new AbortController()
        const attempt = (act: () => unknown): void => {
          try {
            real[op] = { state: act() }
          } catch (cause) {
            real[op] = { state: codeOf(cause) }
          }
        }
        aborts[op] = abort
        if (kind === 'send') {
          real[op] = track(channel.send(op, { signal: abort.signal }))
          model.send(op, op, true)
        } else if (kind === 'receive') {
          real[op] = track(channel.receive({ signal: abort.signal }))
          model.receive(op, true)
        } else if (kind === 'trySend') {
          attempt(() => channel.trySend(op))
          model.send(op, op, false)
        } else if (kind === 'tryReceive') {
          attempt(() => channel.tryReceive())
          model.receive(op, false)
        } else if (kind === 'abort') {
          aborts[n]?.abort()
          if (n < op) model.abort(n)
          continue
        } else if (kind === 'close') {
          // Mostly left open, so that there is something to interleave.
          if (n > 0) continue
          channel.close()
          model.close()
          continue
        } else {
          await microtasks()
          continue
        }
        op++
        expect(channel.size).toBe(model.buffer.length)
      }
      await microtasks()
      expect(real.map((r) => r.state)).toEqual(model.outcomes)
    }),
    { numRuns: 500 },
  )
})

test('many senders and receivers: every value arrives once, each sender in order, never more than fits', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.nat(3),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 4 }),
      async (scheduler, capacity, senders, receivers) => {
        const channel = new Channel<{ from: number; n: number }>(capacity)
        const got: { from: number; n: number }[] = []
        const pause = (): Promise<void> => scheduler.schedule(Promise.resolve())
        const producers = Array.from({ length: senders }, async (_, from) => {
          for (let n = 0; n < 4; n++) {
            await pause()
            await channel.send({ from, n })
            expect(channel.size).toBeLessThanOrEqual(capacity)
          }
        })
        const consumers = Array.from({ length: receivers }, async () => {
          for (;;) {
            await pause()
            const received = await channel.receive()
            if (received.done) return
            got.push(received.value)
          }
        })
        const all = Promise.all([Promise.all(producers).then(() => channel.close()), ...consumers])
        await scheduler.waitFor(all)
        expect(got).toHaveLength(senders * 4)
        if (receivers === 1)
          for (let from = 0; from < senders; from++) expect(got.filter((v) => v.from === from).map((v) => v.n)).toEqual([0, 1, 2, 3])
        expect(new Set(got.map((v) => `${v.from}.${v.n}`)).size).toBe(senders * 4)
      },
    ),
    { numRuns: 100 },
  )
})

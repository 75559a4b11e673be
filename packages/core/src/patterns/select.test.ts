import { fc } from '../../test/properties.ts'
import { expect, expectTypeOf, test } from 'vitest'
import { Channel, select, sending } from '../index.ts'

test('the case that is ready happens, and only that one', async () => {
  const a = new Channel<number>(1)
  const b = new Channel<string>(1)
  b.trySend('x')
  expect(await select({ a, b })).toEqual({ key: 'b', done: false, value: 'x' })
  a.trySend(1)
  b.trySend('y')
  const got = await select({ a, b })
  expect(a.size + b.size).toBe(1)
  expectTypeOf(got).toEqualTypeOf<
    | ({ readonly key: 'a' } & ({ readonly done: false; readonly value: number } | { readonly done: true; readonly value: undefined }))
    | ({ readonly key: 'b' } & ({ readonly done: false; readonly value: string } | { readonly done: true; readonly value: undefined }))
  >()
})

test('a select that waits takes one value, and leaves no one behind in the other channels', async () => {
  const a = new Channel<number>(0)
  const b = new Channel<number>(0)
  const got = select({ a, b: b.receiver })
  expect(b.trySend(2)).toBe(true)
  expect(await got).toEqual({ key: 'b', done: false, value: 2 })
  expect(a.trySend(1)).toBe(false)
  expect(b.trySend(1)).toBe(false)
})

test('ready channels take turns', async () => {
  const a = new Channel<number>(10)
  const b = new Channel<number>(10)
  for (let i = 0; i < 10; i++) {
    a.trySend(i)
    b.trySend(i)
  }
  const keys: string[] = []
  for (let i = 0; i < 10; i++) keys.push((await select({ a, b })).key)
  expect(keys.filter((k) => k === 'a')).toHaveLength(5)
})

test('a case may send, at once or when there is room', async () => {
  const out = new Channel<number>(0)
  const quit = new Channel<never>(0)
  const waiting = select({ sent: sending(out.sender, 7), quit })
  expect(await out.receive()).toEqual({ done: false, value: 7 })
  expect(await waiting).toEqual({ key: 'sent', done: false, value: undefined })
  const receiver = out.receive()
  expect(await select({ sent: sending(out, 8), quit })).toMatchObject({ key: 'sent' })
  expect(await receiver).toMatchObject({ value: 8 })
  const undone = select({ sent: sending(out, 9), quit })
  quit.close()
  expect(await undone).toEqual({ key: 'quit', done: true, value: undefined })
  expect(out.tryReceive()).toBeUndefined()
})

test('a select does not hand a value to itself', async () => {
  const channel = new Channel<number>(0)
  const abort = new AbortController()
  const both = select({ in: channel, out: sending(channel, 1) }, { signal: abort.signal })
  await Promise.resolve()
  abort.abort()
  await expect(both).rejects.toMatchObject({ code: 'cancelled' })
  expect(channel.tryReceive()).toBeUndefined()
  expect(channel.trySend(2)).toBe(false)
})

test('closing while a select waits: receiving ends, sending fails', async () => {
  const a = new Channel<number>(0)
  const received = select({ a })
  const sent = select({ b: sending(new Channel<number>(1), 1), a })
  a.close()
  expect(await received).toEqual({ key: 'a', done: true, value: undefined })
  await sent
  const full = new Channel<number>(0)
  const stuck = select({ out: sending(full, 1) })
  full.close()
  await expect(stuck).rejects.toMatchObject({ code: 'channel-closed' })
  await expect(select({ out: sending(full, 1) })).rejects.toMatchObject({ code: 'channel-closed' })
})

test('an aborted signal, no case, and what is no channel are refused', async () => {
  const a = new Channel<number>(0)
  await expect(select({ a }, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' })
  await expect(select({})).rejects.toMatchObject({ code: 'invalid-option' })
  await expect(select({ a: {} as never })).rejects.toMatchObject({ code: 'invalid-option', option: 'cases.a' })
})

test('however selects and plain waits interleave, every value arrives once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.nat(2), fc.nat(2), async (scheduler, first, second) => {
      const a = new Channel<number>(first)
      const b = new Channel<number>(second)
      const got: number[] = []
      const pause = (): Promise<void> => scheduler.schedule(Promise.resolve())
      const produce = async (from: number): Promise<void> => {
        for (let n = 0; n < 3; n++) {
          await pause()
          const value = from + n
          if (n % 2 === 0) await select({ a: sending(a, value), b: sending(b, value) })
          else await (from % 20 === 0 ? a : b).send(value)
        }
      }
      const consume = async (): Promise<void> => {
        for (;;) {
          await pause()
          const open = { ...(aOpen && { a }), ...(bOpen && { b }) }
          if (!aOpen && !bOpen) return
          const it = await select(open as { a: typeof a; b: typeof b })
          if (!it.done) got.push(it.value)
          else if (it.key === 'a') aOpen = false
          else bOpen = false
        }
      }
      let aOpen = true
      let bOpen = true
      const produced = Promise.all([produce(0), produce(10), produce(20)]).then(() => {
        a.close()
        b.close()
      })
      await scheduler.waitFor(Promise.all([produced, consume(), consume()]))
      expect(got.toSorted((x, y) => x - y)).toEqual([0, 1, 2, 10, 11, 12, 20, 21, 22])
    }),
    { numRuns: 150 },
  )
})

// The least that must be done to get small objects from one thread to another: by port one at a time, by port in
// batches, and through shared memory with msgpackr. Both ends are in this file.

import { isMainThread, MessageChannel, type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads'
import { Packr, Unpackr } from 'msgpackr'
import { burn } from './actors.ts'

const size = 1024 * 1024
const batch = 256

interface Order {
  readonly mode: 'one' | 'batch' | 'ring' | 'ping' | 'burn'
  readonly count: number
  readonly ring: SharedArrayBuffer
  readonly port: MessagePort
}

function serve(): void {
  const { mode, count, ring, port } = workerData as Order
  let seen = 0
  if (mode === 'one') {
    port.on('message', (m: { by: number }) => {
      if (m.by >= 0 && ++seen === count) port.postMessage(seen)
    })
  } else if (mode === 'batch') {
    port.on('message', (list: { by: number }[]) => {
      for (const m of list) if (m.by >= 0) seen++
      if (seen === count) port.postMessage(seen)
    })
  } else if (mode === 'ping') port.on('message', (n: number) => port.postMessage(n))
  else if (mode === 'burn') port.on('message', (n: number) => port.postMessage(burn(n)))
  else readRing(ring, count, port)
  port.postMessage('ready')
}

/** Frames of length and bytes; the reader polls, with a turn of the loop between. */
function readRing(memory: SharedArrayBuffer, count: number, port: MessagePort): void {
  const header = new Int32Array(memory, 0, 4)
  const data = new Uint8Array(memory, 64)
  const unpackr = new Unpackr({ structures: shared(), useRecords: true })
  const into = Buffer.alloc(size)
  let seen = 0
  const poll = (): void => {
    for (let read = Atomics.load(header, 1); read !== Atomics.load(header, 0); read = Atomics.load(header, 1)) {
      const at = read & (size - 1)
      const length = data[at]! | (data[(at + 1) & (size - 1)]! << 8) | (data[(at + 2) & (size - 1)]! << 16)
      for (let i = 0, from = (at + 4) & (size - 1); i < length;) {
        const part = Math.min(length - i, size - from)
        into.set(data.subarray(from, from + part), i)
        i += part
        from = (from + part) & (size - 1)
      }
      Atomics.store(header, 1, (read + 4 + length) | 0)
      for (const m of unpackr.unpack(into.subarray(0, length)) as { by: number }[]) if (m.by >= 0) seen++
    }
    if (seen === count) port.postMessage(seen)
    else setImmediate(poll)
  }
  poll()
}

const shared = (): string[][] => [['type', 'by']]

async function writeRing(memory: SharedArrayBuffer, count: number): Promise<void> {
  const header = new Int32Array(memory, 0, 4)
  const data = new Uint8Array(memory, 64)
  const packr = new Packr({ structures: shared(), useRecords: true })
  let list: unknown[] = []
  for (let i = 0; i < count;) {
    list.push({ type: 'add', by: i++ })
    if (list.length < batch && i < count) continue
    const bytes = packr.pack(list)
    list = []
    while (size - ((Atomics.load(header, 0) - Atomics.load(header, 1)) >>> 0) < bytes.length + 4)
      await new Promise((resolve) => setImmediate(resolve))
    const written = Atomics.load(header, 0)
    const at = written & (size - 1)
    data[at] = bytes.length & 255
    data[(at + 1) & (size - 1)] = (bytes.length >> 8) & 255
    data[(at + 2) & (size - 1)] = bytes.length >> 16
    for (let k = 0, to = (at + 4) & (size - 1); k < bytes.length;) {
      const part = Math.min(bytes.length - k, size - to)
      data.set(bytes.subarray(k, k + part), to)
      k += part
      to = (to + part) & (size - 1)
    }
    Atomics.store(header, 0, (written + 4 + bytes.length) | 0)
  }
}

async function withWorker<T>(mode: Order['mode'], count: number, run: (port: MessagePort, ring: SharedArrayBuffer) => Promise<T>): Promise<T> {
  const { port1, port2 } = new MessageChannel()
  const ring = new SharedArrayBuffer(64 + size)
  const worker = new Worker(new URL(import.meta.url), { workerData: { mode, count, ring, port: port2 } satisfies Order, transferList: [port2] })
  await new Promise((resolve) => port1.once('message', resolve))
  try {
    return await run(port1, ring)
  } finally {
    port1.close()
    await worker.terminate()
  }
}

/** Messages per second of one way of sending, one direction. */
export function rawRate(mode: 'one' | 'batch' | 'ring', count: number): Promise<number> {
  return withWorker(mode, count, async (port, ring) => {
    const done = new Promise((resolve) => port.once('message', resolve))
    const since = performance.now()
    if (mode === 'one') {
      for (let i = 0; i < count; i++) {
        port.postMessage({ type: 'add', by: i })
        if (i % 20_000 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
    } else if (mode === 'batch') {
      for (let i = 0; i < count; i += batch) {
        port.postMessage(Array.from({ length: Math.min(batch, count - i) }, (_, k) => ({ type: 'add', by: i + k })))
        if (i % (batch * 80) === 0) await new Promise((resolve) => setImmediate(resolve))
      }
    } else await writeRing(ring, count)
    await done
    return (count / (performance.now() - since)) * 1000
  })
}

/** Milliseconds of each round trip over a port. */
export function rawPings(count: number): Promise<number[]> {
  return withWorker('ping', count, async (port) => {
    const times: number[] = []
    for (let i = 0; i < count; i++) {
      const since = performance.now()
      await new Promise((resolve) => {
        port.once('message', resolve)
        port.postMessage(i)
      })
      times.push(performance.now() - since)
    }
    return times
  })
}

/** How much faster two workers are than one with the same work, as far as the machine lets them just now. */
export function rawSpeedUp(load: number): Promise<number> {
  return withWorker('burn', 0, (a) =>
    withWorker('burn', 0, async (b) => {
      const run = (port: MessagePort, rounds: number): Promise<void> =>
        new Promise((resolve) => {
          port.once('message', () => resolve())
          port.postMessage(rounds)
        })
      let one = Infinity
      let two = Infinity
      for (let i = 0; i < 5; i++) {
        let since = performance.now()
        await run(a, load)
        one = Math.min(one, performance.now() - since)
        since = performance.now()
        await Promise.all([run(a, load / 2), run(b, load / 2)])
        two = Math.min(two, performance.now() - since)
      }
      return one / two
    }),
  )
}

if (!isMainThread && parentPort !== null && typeof (workerData as Order | undefined)?.mode === 'string') serve()

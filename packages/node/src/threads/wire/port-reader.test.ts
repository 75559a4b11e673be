import { MessageChannel, Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { PortReader } from './port-reader.ts'

const total = 20_000
const writer = `
const { workerData } = require('node:worker_threads')
let n = 0
const go = () => {
  for (let i = 0; i < 20; i++) workerData.postMessage(n++)
  if (n < ${total}) setImmediate(go)
}
go()`

test('who listens and looks besides has everything in order, whichever of both finds it', async () => {
  const { port1, port2 } = new MessageChannel()
  const worker = new Worker(writer, { eval: true, workerData: port2, transferList: [port2] })
  const seen: number[] = []
  const reader = new PortReader<number>(port1, (n) => void seen.push(n))
  reader.listen(() => reader.look())
  port1.ref()
  while (seen.length < total) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    reader.look()
  }
  expect(seen.findIndex((n, i) => n !== i)).toBe(-1)
  port1.close()
  await worker.terminate()
})

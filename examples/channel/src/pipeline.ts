// A producer that is faster than its consumers, slowed down by the channel between them; and several consumers that
// share the work, each value going to one of them.

import { Channel, type Receiver, type Sender, TaskGroup } from '@troupe/core'

export async function produce(out: Sender<number>, count: number, log: (line: string) => void): Promise<void> {
  for (let i = 0; i < count; i++) {
    await out.send(i)
    log(`sent ${i}`)
  }
  out.close()
}

export async function consume(numbers: Receiver<number>, work: (n: number) => Promise<void>): Promise<number> {
  let count = 0
  for await (const n of numbers) {
    await work(n)
    count++
  }
  return count
}

/** Runs one producer and `consumers` of them to the end; returns how many values each consumed. */
export async function pipeline(
  count: number,
  capacity: number,
  consumers: number,
  work: (n: number) => Promise<void>,
  log: (line: string) => void,
): Promise<number[]> {
  const channel = new Channel<number>(capacity)
  await using group = new TaskGroup()
  void group.spawn(() => produce(channel.sender, count, log))
  const counts = Array.from({ length: consumers }, () => group.spawn(() => consume(channel.receiver, work)))
  await group.waitAll()
  return Promise.all(counts)
}

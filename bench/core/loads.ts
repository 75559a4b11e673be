// The loads of `bench:core`, each for Troupe and for the raw floor, written alike. A load runs `n` operations, checks
// its result, and resolves; a wrong result is an error, not a time.

import { type ActorRef, ActorSystem, type Behavior, receive, same, stopped } from '@troupe/core'
import { RawActor, RawSystem } from '../raw/raw-actors.ts'

export type Load = (n: number) => Promise<void>

export interface Contest {
  readonly n: number
  readonly troupe: Load
  readonly raw: Load
}

type Count = { type: 'add'; by: number } | { type: 'done' }
type Ball = { type: 'ball'; left: number }
type Job = { type: 'job'; id: number }
type Next = { type: 'next'; left: number }

function expectEqual(actual: number, expected: number, what: string): void {
  if (actual !== expected) throw new Error(`${what}: expected ${expected}, got ${actual}`)
}

async function withSystem(run: (system: ActorSystem, done: () => void) => void): Promise<void> {
  const system = ActorSystem.create('bench')
  await new Promise<void>((resolve) => run(system, resolve))
  await system.shutdown()
}

function withRaw(run: (system: RawSystem, done: () => void) => void): Promise<void> {
  return new Promise((resolve) => run(new RawSystem(), resolve))
}

export const contests: Readonly<Record<string, Contest>> = {
  counting: {
    n: 1_000_000,
    troupe: (n) =>
      withSystem((system, done) => {
        let sum = 0
        const counter = system.spawn(
          receive<Count>((_ctx, m) => {
            if (m.type === 'add') sum += m.by
            else {
              expectEqual(sum, n, 'counting')
              done()
            }
            return same
          }),
        )
        const producer = system.spawn(
          receive<'go'>(() => {
            for (let i = 0; i < n; i++) counter.tell({ type: 'add', by: 1 })
            counter.tell({ type: 'done' })
            return same
          }),
        )
        producer.tell('go')
      }),
    raw: (n) =>
      withRaw((system, done) => {
        let sum = 0
        const counter = new RawActor<Count>(system, (m) => {
          if (m.type === 'add') sum += m.by
          else {
            expectEqual(sum, n, 'counting')
            done()
          }
        })
        const producer = new RawActor<'go'>(system, () => {
          for (let i = 0; i < n; i++) counter.tell({ type: 'add', by: 1 })
          counter.tell({ type: 'done' })
        })
        producer.tell('go')
      }),
  },
  'ping-pong': ring(2, 4_000_000),
  'ring of 100': ring(100, 4_000_000),
  'spawn, message, stop': {
    n: 500_000,
    troupe: (n) =>
      withSystem((system, done) => {
        let handled = 0
        const worker: Behavior<Job> = receive((_ctx, _m) => {
          if (++handled === n) done()
          return stopped
        })
        const driver: ActorRef<Next> = system.spawn(
          receive<Next>((_ctx, m) => {
            const batch = Math.min(100, m.left)
            for (let i = 0; i < batch; i++) system.spawn(worker).tell({ type: 'job', id: i })
            if (m.left > batch) driver.tell({ type: 'next', left: m.left - batch })
            return same
          }),
        )
        driver.tell({ type: 'next', left: n })
      }),
    raw: (n) =>
      withRaw((system, done) => {
        let handled = 0
        const worker = (_m: Job): void => {
          if (++handled === n) done()
        }
        const driver = new RawActor<Next>(system, (m) => {
          const batch = Math.min(100, m.left)
          for (let i = 0; i < batch; i++) new RawActor<Job>(system, worker).tell({ type: 'job', id: i })
          if (m.left > batch) driver.tell({ type: 'next', left: m.left - batch })
        })
        driver.tell({ type: 'next', left: n })
      }),
  },
}

/** A token that goes round `size` actors `n` times in all; with two of them this is ping-pong. */
function ring(size: number, n: number): Contest {
  return {
    n,
    troupe: (hops) =>
      withSystem((system, done) => {
        const members: ActorRef<Ball>[] = []
        let seen = 0
        for (let i = 0; i < size; i++)
          members.push(
            system.spawn(
              receive<Ball>((_ctx, m) => {
                seen++
                if (m.left > 0) members[i + 1 === size ? 0 : i + 1]!.tell({ type: 'ball', left: m.left - 1 })
                else {
                  expectEqual(seen, hops + 1, 'ring')
                  done()
                }
                return same
              }),
            ),
          )
        members[0]!.tell({ type: 'ball', left: hops })
      }),
    raw: (hops) =>
      withRaw((system, done) => {
        const members: RawActor<Ball>[] = []
        let seen = 0
        for (let i = 0; i < size; i++)
          members.push(
            new RawActor<Ball>(system, (m) => {
              seen++
              if (m.left > 0) members[i + 1 === size ? 0 : i + 1]!.tell({ type: 'ball', left: m.left - 1 })
              else {
                expectEqual(seen, hops + 1, 'ring')
                done()
              }
            }),
          )
        members[0]!.tell({ type: 'ball', left: hops })
      }),
  }
}

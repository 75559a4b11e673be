// How costs grow: `node growth.js <troupe|raw> <message|spawn|timer> <n>` prints nanoseconds per operation at n actors
// (or timers), several times, as JSON. Actors are visited in a shuffled order, as in a real program: neighbours in
// memory are not neighbours in time. CPU time, so that waiting for a timer's hour does not count.

import { ActorSystem, receive, same } from '@troupe/core'
import { RawActor, RawSystem } from '../raw/raw-actors.ts'
import { Dice } from '../savina/stage.ts'
import { timersOnRaw, timersOnTroupe } from './timers.ts'

type Ball = { type: 'ball'; left: number }
type Target = { tell(message: Ball): void }
type Spawn = (handler: (m: Ball) => void) => Target

const [side = '', what = '', size = '10', repetitions = '3'] = process.argv.slice(2)
const n = Number(size)

/** Runs on a system of the side, and closes it after the time was taken. */
async function staged(run: (spawn: Spawn) => Promise<number>): Promise<number> {
  if (side === 'raw') {
    const raw = new RawSystem()
    return run((handler) => new RawActor<Ball>(raw, handler))
  }
  const system = ActorSystem.create('growth')
  const ns = await run((handler) =>
    system.spawn(
      receive<Ball>((_ctx, m) => {
        handler(m)
        return same
      }),
    ),
  )
  await system.shutdown()
  return ns
}

async function cpu(operations: number, run: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await run()
  const used = process.cpuUsage(before)
  return ((used.user + used.system) * 1000) / operations
}

function shuffled(count: number): Int32Array {
  const order = Int32Array.from({ length: count }, (_, i) => i)
  const dice = new Dice(count)
  for (let i = count - 1; i > 0; i--) {
    const j = dice.roll(i + 1)
    const kept = order[i]!
    order[i] = order[j]!
    order[j] = kept
  }
  return order
}

/** Balls that go round all actors in a shuffled order. */
async function perMessage(): Promise<number> {
  const balls = Math.min(n, 1_000)
  const hops = Math.ceil(Math.max(2_000_000, n * 2) / balls)
  return staged(async (spawn) => {
    const order = shuffled(n)
    const members = new Array<Target>(n)
    let done = 0
    let end = (): void => {}
    for (let i = 0; i < n; i++) {
      const next = order[i]!
      members[i] = spawn((m) => {
        if (m.left > 0) members[next]!.tell({ type: 'ball', left: m.left - 1 })
        else if (++done === balls) end()
      })
    }
    const round = (left: number): Promise<void> =>
      new Promise((resolve) => {
        done = 0
        end = resolve
        for (let b = 0; b < balls; b++) members[Math.floor((b * n) / balls)]!.tell({ type: 'ball', left })
      })
    // Every actor has started before time is taken.
    await round(Math.ceil(n / balls))
    return cpu(balls * hops, () => round(hops - 1))
  })
}

/** Actors made, each after its first message. */
async function perSpawn(): Promise<number> {
  const rounds = Math.max(1, Math.floor(200_000 / n))
  let sum = 0
  for (let r = 0; r < rounds; r++)
    sum += await staged((spawn) => {
      let left = n
      return cpu(
        n,
        () =>
          new Promise<void>((resolve) => {
            const handler = (): void => {
              if (--left === 0) resolve()
            }
            for (let i = 0; i < n; i++) spawn(handler).tell({ type: 'ball', left: i })
          }),
      )
    })
  return sum / rounds
}

async function perTimer(): Promise<number> {
  const rounds = Math.max(1, Math.floor(20_000 / n))
  return cpu(n * rounds, async () => {
    // Rounds at once share the wait, not the work.
    await Promise.all(Array.from({ length: rounds }, () => (side === 'raw' ? timersOnRaw(n) : timersOnTroupe(n))))
  })
}

const measure = { message: perMessage, spawn: perSpawn, timer: perTimer }[what]
if (measure === undefined) throw new Error('usage: growth.js <troupe | raw> <message | spawn | timer> <n>')
if (n <= 100_000) await measure()
const figures: number[] = []
for (let i = 0; i < Number(repetitions); i++) figures.push(await measure())
console.log(JSON.stringify(figures))
process.exit(0)

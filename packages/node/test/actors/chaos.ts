// Threads are killed at random while messages flow between many actors. At the end every actor must answer, every
// message must be accounted for, and none may have come out of order.

import { type ActorRef, ActorSystem, type LedgerReport, type Observation, receive, same, supervise } from 'troupe'
import { threads } from '@troupe/node'
import { type Chaos, chaosActor } from './chaos-actor.ts'

export interface ChaosPlan {
  readonly actors: number
  readonly milliseconds: number
  readonly hangAfter: number
  /** Milliseconds between kills. */
  readonly every: number
  readonly seed: number
}

export interface ChaosResult {
  readonly kills: Readonly<Record<string, number>>
  readonly losses: Readonly<Record<string, number>>
  /** Milliseconds from the deadline of each hung thread to its end. */
  readonly overdue: readonly number[]
  readonly restarts: number
  readonly answered: number
  readonly complaints: readonly string[]
  readonly ledger: LedgerReport
  readonly accounted: number
  readonly settledIn: number
}

export async function runChaos(plan: ChaosPlan): Promise<ChaosResult> {
  const { actors, hangAfter } = plan
  const random = generator(plan.seed)
  const system = ActorSystem.create('chaos', {
    supervision: supervise({ retryStart: true, limit: { restarts: 1_000_000, within: 1000 }, backoff: { min: 1, max: 50 } }),
  })
  const pool = threads(system, { size: 2, hangAfter })
  const complaints: string[] = []
  const complain = system.spawn(
    receive<string>((_ctx, complaint) => {
      complaints.push(complaint)
      return same
    }),
  )
  const losses: Record<string, number> = {}
  const kills: Record<string, number> = {}
  const overdue: number[] = []
  system.events.listen((event) => {
    const { why, silent, cause } = event as Extract<Observation, { type: 'thread.lost' }>
    losses[why] = (losses[why] ?? 0) + 1
    // The only error that the actors throw outside of handlers; any other is ours.
    const thrown = ((cause as Error).cause as Error | undefined)?.message
    if (why === 'error' && thrown !== 'chaos') complaints.push(`a thread broke: ${thrown}`)
    if (why === 'hung') overdue.push(silent - hangAfter)
  }, 'thread.lost')
  const refs: ActorRef<Chaos>[] = []
  for (let i = 0; i < actors; i++) refs.push(system.spawn(chaosActor(i, complain), { dispatcher: 'parallel' }))
  const any = (): ActorRef<Chaos> => refs[Math.floor(random() * actors)]!

  const end = performance.now() + plan.milliseconds
  let nextKill = performance.now() + plan.every
  let seq = 0
  while (performance.now() < end) {
    for (let i = 0; i < 500; i++) any().tell({ type: 'work', seq: seq++, from: 0, next: random() < 0.3 ? any() : undefined })
    if (performance.now() > nextKill) {
      nextKill = performance.now() + plan.every
      const how = (['exit', 'throw', 'spin', 'terminate', 'fail'] as const)[Math.floor(random() * 5)]!
      kills[how] = (kills[how] ?? 0) + 1
      if (how === 'terminate') {
        const up = pool.vitals().filter((v) => v.state === 'up')
        if (up.length > 0) pool.terminate(up[Math.floor(random() * up.length)]!.thread)
      } else any().tell({ type: how })
    }
    await new Promise((resolve) => setImmediate(resolve))
  }

  const since = performance.now()
  let answered = 0
  const answers = async (ref: ActorRef<Chaos>): Promise<void> => {
    // A question may be lost with a thread that dies of an earlier kill: it is asked again.
    for (let tries = 0; tries < 20; tries++) {
      try {
        await ref.ask({ type: 'ping' }, { timeout: 10_000 })
        answered++
        return
      } catch {
        continue
      }
    }
  }
  for (let i = 0; i < refs.length; i += 500) await Promise.all(refs.slice(i, i + 500).map(answers))
  const settledIn = performance.now() - since
  const ledger = await system.ledger()
  const { sent: _sent, ...rest } = ledger
  const accounted = Object.values(rest).reduce((a, b) => a + b, 0)
  const { restarts } = system.counts().supervision
  await system.shutdown({ deadline: 10_000 })
  return { kills, losses, overdue, restarts, answered, complaints, ledger, accounted, settledIn }
}

function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return (Math.imul(state ^ (state >>> 13), 0x297a2d39) >>> 0) / 4294967296
  }
}

// Threads are killed at random while messages flow between many actors. At the end every actor must answer, every
// message must be accounted for, and none may have come out of order. A run in which nothing comes back any more says where it stands.

import { type ActorRef, ActorSystem, type LedgerReport, type Observation, receive, same, supervise } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { threads, type Threads } from '@troupe/node'
import { standingOf, type ThreadPool } from '@troupe/node/internal'
import { type Chaos, chaosActor } from './chaos-actor.ts'

/** How an actor takes its thread down, or only itself. */
export const kills = ['exit', 'throw', 'spin', 'terminate', 'fail'] as const
export type Kill = (typeof kills)[number]

export interface ChaosPlan {
  readonly actors: number
  readonly milliseconds: number
  readonly hangAfter: number
  /** Milliseconds between kills. */
  readonly every: number
  readonly seed: number
  readonly sharedMemory?: boolean | undefined
  /** Those that are chosen from; all if left out. */
  readonly kills?: readonly Kill[] | undefined
  /** So many looks, a second apart, at which nothing has come back since the one before end the run with a diagnosis. However slow, it may go on. */
  readonly patience: number
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

/** What a run is doing. */
interface Progress {
  phase: string
  answered: number
  asked: number
  seq: number
  lost: number
  /** Those who were asked and have not answered. */
  readonly silent: Set<ActorRef<Chaos>>
}

export async function runChaos(plan: ChaosPlan): Promise<ChaosResult> {
  const system = ActorSystem.create('chaos', {
    supervision: supervise({ retryStart: true, limit: { restarts: 1_000_000, within: 1000 }, backoff: { min: 1, max: 50 } }),
  })
  const pool = threads(system, { size: 2, hangAfter: plan.hangAfter, sharedMemory: plan.sharedMemory })
  const progress: Progress = { phase: 'spawning', answered: 0, asked: 0, seq: 0, lost: 0, silent: new Set() }
  let timer: NodeJS.Timeout | undefined
  const stuck = new Promise<never>((_resolve, reject) => {
    let before = ''
    let unchanged = 0
    timer = setInterval(() => {
      const now = cameBack(progress, system)
      unchanged = now === before ? unchanged + 1 : 0
      before = now
      if (unchanged === plan.patience) diagnosis(progress, system, pool).then((text) => reject(new Error(text)), reject)
    }, 1000)
  })
  try {
    return await Promise.race([run(plan, system, pool, progress), stuck])
  } finally {
    clearInterval(timer)
  }
}

/** Whatever changes while the run gets on: not what is asked, for that goes on for ever. */
function cameBack({ phase, answered, lost, silent }: Progress, system: ActorSystem): string {
  const { messages, supervision, active } = system.metrics()
  return JSON.stringify([phase, answered, lost, silent.size, messages.handled, supervision, active])
}

async function diagnosis({ phase, answered, asked, seq, silent }: Progress, system: ActorSystem, pool: Threads): Promise<string> {
  const standing = await standingOf(
    coreOf(system).otherPlaces as ThreadPool,
    [...silent].slice(0, 20).map((ref) => ref.uid),
  )
  return [
    `nothing comes back any more, ${phase}: ${seq} told, ${asked} asked, ${answered} answered, ${silent.size} silent`,
    ...pool.report(),
    ...standing,
  ].join('\n  ')
}

async function run(plan: ChaosPlan, system: ActorSystem, pool: Threads, progress: Progress): Promise<ChaosResult> {
  const { actors, hangAfter } = plan
  const random = generator(plan.seed)
  const complaints: string[] = []
  const complain = system.spawn(
    receive<string>((_ctx, complaint) => {
      complaints.push(complaint)
      return same
    }),
  )
  const losses: Record<string, number> = {}
  const done: Record<string, number> = {}
  const choice = plan.kills ?? kills
  const overdue: number[] = []
  system.events.listen((event) => {
    const { why, silent, cause } = event as Extract<Observation, { type: 'thread.lost' }>
    losses[why] = (losses[why] ?? 0) + 1
    progress.lost++
    // The only error that the actors throw outside of handlers; any other is ours.
    const thrown = ((cause as Error).cause as Error | undefined)?.message
    if (why === 'error' && thrown !== 'chaos') complaints.push(`a thread broke: ${thrown}`)
    if (why === 'hung') overdue.push(silent - hangAfter)
  }, 'thread.lost')
  const refs: ActorRef<Chaos>[] = []
  for (let i = 0; i < actors; i++) refs.push(system.spawn(chaosActor(i, complain), { dispatcher: 'parallel' }))
  const any = (): ActorRef<Chaos> => refs[Math.floor(random() * actors)]!

  progress.phase = 'telling and killing'
  const end = performance.now() + plan.milliseconds
  let nextKill = performance.now() + plan.every
  while (performance.now() < end) {
    for (let i = 0; i < 500; i++) any().tell({ type: 'work', seq: progress.seq++, from: 0, next: random() < 0.3 ? any() : undefined })
    if (performance.now() > nextKill) {
      nextKill = performance.now() + plan.every
      const how = choice[Math.floor(random() * choice.length)]!
      done[how] = (done[how] ?? 0) + 1
      if (how === 'terminate') {
        const up = pool.vitals().filter((v) => v.state === 'up')
        if (up.length > 0) pool.terminate(up[Math.floor(random() * up.length)]!.thread)
      } else any().tell({ type: how })
    }
    await new Promise((resolve) => setImmediate(resolve))
  }

  progress.phase = 'asking'
  const since = performance.now()
  const answers = async (ref: ActorRef<Chaos>): Promise<void> => {
    // A question may be lost with a thread that dies of an earlier kill: it is asked again, until nothing comes back at all.
    progress.silent.add(ref)
    while (progress.silent.has(ref)) {
      progress.asked++
      try {
        await ref.ask({ type: 'ping' }, { timeout: 10_000 })
        progress.silent.delete(ref)
        progress.answered++
      } catch {
        continue
      }
    }
  }
  for (let i = 0; i < refs.length; i += 500) await Promise.all(refs.slice(i, i + 500).map(answers))
  const settledIn = performance.now() - since
  // Nothing may be left on the way: what no lost thread took along ends by and by.
  progress.phase = 'waiting for messages between actors'
  let ledger = await system.ledger()
  while (ledger.queued + ledger.inProgress > 0) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    ledger = await system.ledger()
  }
  const { sent: _sent, ...rest } = ledger
  const accounted = Object.values(rest).reduce((a, b) => a + b, 0)
  const { restarts } = system.counts().supervision
  progress.phase = 'shutting down'
  await system.shutdown({ deadline: 10_000 })
  return { kills: done, losses, overdue, restarts, answered: progress.answered, complaints, ledger, accounted, settledIn }
}

function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return (Math.imul(state ^ (state >>> 13), 0x297a2d39) >>> 0) / 4294967296
  }
}

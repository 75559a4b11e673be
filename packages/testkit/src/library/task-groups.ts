// Groups of tasks that end, fail, spawn others or ignore that they are cancelled, inside actors that may be ended meanwhile.
// No task outlives its group, no more run at once than the limit says, the first failure cancels the others, and whoever
// waits hears what went wrong.

import { Cancelled, NotAllowed, receive, same, TaskGroup, TasksFailed } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Ending = 'waitAll' | 'race' | 'dispose'
type Signal = TaskGroup['signal']

/** One group and what its tasks did. */
class Account {
  readonly limit: number
  running = 0
  started = 0
  ended = 0
  /** Promises of `spawn` that have settled, and how many there were. */
  spawned = 0
  settled = 0
  readonly errors: unknown[] = []
  /** How the first task to end by itself did so. */
  first: { readonly ok: boolean; readonly value: unknown } | undefined = undefined
  constructor(limit: number) {
    this.limit = limit
  }
}

function run(sim: Simulation): void {
  const accounts: Account[] = []
  let over = 0
  let cutOff = 0

  const spawn = (group: TaskGroup, account: Account, depth: number): void => {
    const kind = sim.oneOf(['ends', 'fails', 'ends at once', 'fails at once', 'heeds', 'begets'] as const)
    const n = account.spawned++
    const task = (signal: Signal): Promise<number> | number => {
      account.running++
      account.started++
      sim.check(account.running <= account.limit, `${account.running} tasks run in a group of ${account.limit}`)
      sim.check(!signal.aborted, 'a task began in a group that was cancelled')
      const end = (): void => {
        account.running--
        account.ended++
      }
      const fail = (): never => {
        const error = new Error(`task ${n}`)
        end()
        account.errors.push(error)
        account.first ??= { ok: false, value: error }
        throw error
      }
      const finish = (): number => {
        end()
        account.first ??= { ok: true, value: n }
        return n
      }
      if (kind === 'ends at once') return finish()
      if (kind === 'fails at once') return fail()
      if (kind === 'begets' && depth < 2) spawn(group, account, depth + 1)
      const ms = sim.oneOf([1, 0, 10, 40])
      if (kind !== 'heeds') return sim.delay(ms).then(kind === 'fails' ? fail : finish)
      // Ends soon after its group is cancelled, in one of the ways in which that is done.
      return sim.delay(ms).then(() => {
        if (!signal.aborted) return finish()
        end()
        throw sim.choose(2) === 0 ? signal.reason : new Cancelled('task')
      })
    }
    group.spawn(task).then(
      () => account.settled++,
      () => account.settled++,
    )
  }

  const check = (group: TaskGroup, account: Account, how: Ending, ok: boolean, value: unknown, cancelled: boolean): void => {
    over++
    sim.check(account.running === 0 && group.size === 0, `${how} settled, and ${account.running} tasks still run`)
    sim.check(account.started === account.ended, `${how} settled after ${account.ended} of ${account.started} tasks`)
    let refused = false
    try {
      void group.spawn(() => 0)
    } catch (cause) {
      refused = cause instanceof NotAllowed
    }
    sim.check(refused, 'a group that has ended took another task')
    const { errors, first } = account
    if (errors.length > 0) sim.check(group.signal.aborted, 'a task failed, and the others were not cancelled')
    if (how === 'race') {
      // A task that ends while it is cancelled from outside may or may not have been the first.
      if (cancelled) return
      if (first === undefined) sim.check(!ok, 'a race without an end was won')
      else sim.check(ok === first.ok && value === first.value, `a race ended with ${String(value)}, and the first to end gave ${String(first.value)}`)
    } else if (errors.length > 0) {
      const told = value instanceof TasksFailed ? value : undefined
      sim.check(!ok && told !== undefined && told.cause === errors[0], `${how} ended with ${String(value)}, and ${errors.length} tasks failed`)
      sim.check(told?.errors.length === errors.length, `${how} told of ${told?.errors.length} failures of ${errors.length}`)
    } else if (how === 'waitAll') sim.check(ok === !group.signal.aborted, `waitAll ${ok ? 'resolved' : `ended with ${String(value)}`}`)
    else sim.check(ok, `the end of a group failed with ${String(value)}, and no task had`)
  }

  const worker = receive<Ending>((ctx, how) => {
    const limit = sim.oneOf([Infinity, 1, 2])
    const outer = sim.choose(2) === 0 ? { signal: ctx.signal } : {}
    const group = new TaskGroup({ ...outer, ...(limit === Infinity ? {} : { limit }) })
    const account = new Account(limit)
    accounts.push(account)
    let cancelled = false
    group.signal.addEventListener('abort', () => (cancelled ||= ctx.signal.aborted))
    for (let left = sim.int(1, 4); left > 0; left--) spawn(group, account, 0)
    if (sim.choose(5) === 4)
      sim.after(sim.choose(20), () => {
        cancelled = true
        group.cancel()
      })
    const ending = how === 'waitAll' ? group.waitAll() : how === 'race' ? group.race() : group[Symbol.asyncDispose]()
    const waited = ending.then(
      (value) => check(group, account, how, true, value, cancelled),
      (cause: unknown) => check(group, account, how, false, cause, cancelled),
    )
    return sim.choose(3) === 0 ? waited.then(() => same) : same
  })
  const refs = [0, 1].map((i) => sim.system.spawn(worker, { name: `w${i}`, stopTimeout: 30, supervision: 'restart' }))
  sim.plan(sim.int(1, 8), () => {
    const ref = refs[sim.choose(2)]!
    if (sim.choose(8) === 7) {
      cutOff++
      return sim.system.restart(ref)
    }
    ref.tell(sim.oneOf(['waitAll', 'race', 'dispose']))
  })
  sim.eventually(
    'every group ends, and every task of it is settled',
    () => over === accounts.length && accounts.every((a) => a.settled === a.spawned),
  )
  sim.eventually('whoever was cut off took nobody with him', () => cutOff >= 0 && accounts.every((a) => a.running === 0))
}

export const taskGroups: LibraryScenario = {
  name: 'task groups',
  about: 'no task outlives its group, and whoever waits hears what went wrong',
  run,
}

// Slow subscribers with small buffers. Each gets what it subscribed to in order, holds no more than it said, loses by its own
// policy, and gets nothing more once it is cancelled but what was in its mailbox already.

import { type ActorRef, type Behavior, receive, same, setup, stopped, type Subscription } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Heard = { readonly type: 'news'; readonly n: number } | { readonly type: 'wait' | 'fail' | 'end' }

/** One subscription as it should be: half of its capacity in the mailbox, the rest beside it, and nothing after its end. */
class Account {
  readonly capacity: number
  readonly dropsOldest: boolean
  ref!: ActorRef<Heard>
  subscription!: Subscription
  /** In the mailbox, in order; and what waits beside it. */
  readonly sent: number[] = []
  buffer: number[] = []
  active = true
  delivered = 0
  dropped = 0
  constructor(capacity: number, dropsOldest: boolean) {
    this.capacity = capacity
    this.dropsOldest = dropsOldest
  }
  get #window(): number {
    return Math.ceil(this.capacity / 2)
  }
  published(n: number): void {
    if (!this.active) return
    const room = this.capacity - this.#window
    if (this.sent.length < this.#window && this.buffer.length === 0) this.#send(n)
    else if (this.buffer.length < room) this.buffer.push(n)
    else {
      this.dropped++
      if (!this.dropsOldest || room === 0) return
      this.buffer.shift()
      this.buffer.push(n)
    }
  }
  /** Takes one out of the mailbox; another takes its place. */
  landed(): number | undefined {
    const n = this.sent.shift()
    const next = this.active && this.sent.length < this.#window ? this.buffer.shift() : undefined
    if (next !== undefined) this.#send(next)
    return n
  }
  cancelled(): void {
    this.active = false
    this.buffer = []
  }
  #send(n: number): void {
    this.sent.push(n)
    this.delivered++
  }
}

function run(sim: Simulation): void {
  const accounts: Account[] = []
  let published = 0
  const compare = (a: Account): void => {
    const { waiting, delivered, dropped, active } = a.subscription
    sim.check(waiting <= a.capacity, `${waiting} events wait for a subscriber that allows ${a.capacity}`)
    if (sim.faulted || sim.system.phaseOf(a.ref) === 'terminated' || sim.system.phaseOf(a.ref) === 'stopping') return
    sim.check(active === a.active, `a subscription is ${active ? 'active' : 'over'}, and should not be`)
    const is = [waiting, delivered, dropped].join()
    const should = [a.sent.length + a.buffer.length, a.delivered, a.dropped].join()
    sim.check(is === should, `of a subscription wait, went on, are lost ${is}; it should be ${should}`)
  }
  const listener = (a: Account): Behavior<Heard> =>
    setup<Heard>(() => {
      return receive<Heard>((_c, m) => {
        switch (m.type) {
          case 'news': {
            const expected = a.landed()
            sim.check(sim.faulted || expected === m.n, `news ${m.n} came, and ${String(expected)} was next`)
            compare(a)
            return sim.choose(4) === 1 ? sim.delay().then(() => same) : same
          }
          case 'wait':
            return sim.delay().then(() => same)
          case 'fail':
            throw new Error('listener')
          case 'end':
            return stopped
        }
      })
    })
  const join = (): void => {
    const a = new Account(sim.oneOf([4, 1, 2, 3, 7]), sim.choose(2) === 0)
    a.ref = sim.system.spawn(listener(a), { supervision: sim.oneOf(['restart', 'resume']), stopTimeout: 20 })
    const overflow = a.dropsOldest ? 'drop-oldest' : 'drop-newest'
    a.subscription = sim.system.events.subscribe(a.ref, 'news', { capacity: a.capacity, overflow })
    accounts.push(a)
  }
  join()
  // Listeners: what one rejects with is nobody's failure, and one that ends the other while both are told is obeyed at once.
  let last = -1
  const doubtful = sim.system.events.listen((event) => {
    if ((event as { n: number }).n !== 4) return Promise.reject(new Error('listener')) as never
    obedient.cancel()
    sim.check(obedient.state === 'pending-removal', `a subscription that was cancelled in a publication is ${obedient.state}`)
    return undefined
  }, 'news')
  const obedient = sim.system.events.listen((event) => {
    last = (event as { n: number }).n
    sim.check(last < 4, `news ${last} came to a listener whose subscription was cancelled`)
  }, 'news')
  sim.plan(sim.int(3, 24), () => {
    const a = accounts[sim.choose(accounts.length)]!
    switch (sim.choose(9)) {
      case 1:
        return accounts.length < 3 ? join() : undefined
      case 2:
        return a.ref.tell({ type: sim.oneOf(['wait', 'fail', 'wait', 'end']) })
      case 3:
        a.cancelled()
        a.subscription.cancel()
        if (!sim.faulted) sim.check(a.subscription.state === 'removed', `a subscription that was cancelled is ${a.subscription.state}`)
        return compare(a)
      case 4:
        return sim.choose(3) === 0 ? sim.system.restart(a.ref) : undefined
      default:
        for (let left = sim.int(1, 6); left > 0; left--) {
          for (const b of accounts) if (b.subscription.active || b.active) b.published(published)
          sim.system.events.publish({ type: 'news', n: published++ })
        }
        return accounts.forEach(compare)
    }
  })
  sim.eventually('all that was not lost has been heard', () =>
    accounts.every((a) => sim.faulted || sim.system.phaseOf(a.ref) !== 'running' || (a.sent.length === 0 && a.subscription.waiting === 0)),
  )
  sim.eventually('what was published reached the listeners', () => {
    const expected = Math.min(published - 1, 3)
    return last === expected && doubtful.delivered === published && obedient.state === (published > 4 ? 'removed' : 'active')
  })
  sim.eventually('a subscription ends with its actor', () =>
    accounts.every((a) => sim.system.phaseOf(a.ref) !== 'terminated' || !a.subscription.active),
  )
}

export const subscriptions: LibraryScenario = {
  name: 'subscriptions',
  about: 'slow subscribers lose by their own policy, and hear nothing once they are cancelled',
  run,
}

// Two channels, and many who send, receive and select on them, give up or are ended meanwhile. Of those that came to
// something, the n-th who asked for a value gets the n-th that was sent: none is lost, none comes twice, nobody overtakes.

import { Cancelled, Channel, ChannelClosed, receive, same, select, sending } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Errand = 'send' | 'try-send' | 'receive' | 'try-receive' | 'select' | 'select-send'

/** One who sends or receives, in the order of asking. */
interface Wait {
  state: 'waiting' | 'done' | 'aborted' | 'closed'
  value: number
}

class Account {
  readonly channel: Channel<number>
  readonly sends: Wait[] = []
  readonly receives: Wait[] = []
  constructor(capacity: number) {
    this.channel = new Channel(capacity)
  }
  /** What was sent and received so far fits together. */
  get agrees(): boolean {
    const sent = this.sends.filter((s) => s.state === 'done')
    const received = this.receives.filter((r) => r.state === 'done')
    return received.every((r, i) => sent[i]?.value === r.value) && sent.length === received.length + this.channel.size
  }
  /** Whether somebody waits for what is there. */
  get isStuck(): boolean {
    const waits = (list: readonly Wait[]): boolean => list.some((w) => w.state === 'waiting')
    const { size, capacity, closed } = this.channel
    return (waits(this.receives) && (size > 0 || waits(this.sends) || closed)) || (waits(this.sends) && (size < capacity || closed))
  }
}

interface Aborter {
  readonly signal: NonNullable<NonNullable<Parameters<typeof select>[1]>['signal']>
  abort(): void
}
const { AbortController } = globalThis as unknown as { readonly AbortController: new () => Aborter }

function run(sim: Simulation): void {
  const accounts = [new Account(sim.oneOf([1, 0, 2, 3])), new Account(sim.oneOf([0, 1, 2]))] as const
  const aborters: Aborter[] = []
  let value = 0
  const begin = (list: Wait[], n: number): Wait => {
    const wait: Wait = { state: 'waiting', value: n }
    list.push(wait)
    return wait
  }
  const over = (wait: Wait, cause: unknown): void => {
    wait.state = cause instanceof ChannelClosed ? 'closed' : 'aborted'
    sim.check(cause instanceof ChannelClosed || cause instanceof Cancelled, `a wait ended with ${String(cause)}`)
  }
  const send = async (account: Account, signal: Aborter['signal']): Promise<void> => {
    const wait = begin(account.sends, value++)
    await account.channel.send(wait.value, { signal }).then(
      () => (wait.state = 'done'),
      (cause: unknown) => over(wait, cause),
    )
  }
  const take = async (account: Account, signal: Aborter['signal']): Promise<void> => {
    const wait = begin(account.receives, -1)
    await account.channel.receive({ signal }).then(
      (got) => {
        wait.state = got.done ? 'closed' : 'done'
        wait.value = got.done ? -1 : got.value
      },
      (cause: unknown) => over(wait, cause),
    )
  }
  /** Of the cases that did not happen nothing is left. */
  const choose = async (sends: boolean, signal: Aborter['signal']): Promise<void> => {
    const [one, other] = sim.choose(2) === 0 ? accounts : [accounts[1], accounts[0]]
    const first = begin(one.receives, -1)
    const second = sends ? begin(other.sends, value++) : begin(other.receives, -1)
    const cases = { first: one.channel, second: sends ? sending(other.channel, second.value) : other.channel }
    await select(cases, { signal }).then(
      (got) => {
        const [happened, not] = got.key === 'first' ? [first, second] : [second, first]
        not.state = 'aborted'
        happened.state = got.done ? 'closed' : 'done'
        if (!got.done && !(sends && happened === second)) happened.value = got.value as number
      },
      (cause: unknown) => {
        over(first, cause)
        over(second, cause)
      },
    )
  }
  const go = (errand: Errand, signal: Aborter['signal']): Promise<void> => {
    const account = accounts[sim.choose(2)]!
    for (const { channel: c } of accounts) sim.check(c.size <= c.capacity, `a channel of ${c.capacity} holds ${c.size}`)
    const { channel } = account
    switch (errand) {
      case 'send':
        return send(account, signal)
      case 'receive':
        return take(account, signal)
      case 'select':
        return choose(false, signal)
      case 'select-send':
        return choose(true, signal)
      case 'try-send': {
        if (channel.closed) return Promise.resolve()
        const wait = begin(account.sends, value++)
        wait.state = channel.trySend(wait.value) ? 'done' : 'aborted'
        return Promise.resolve()
      }
      case 'try-receive': {
        const wait = begin(account.receives, -1)
        const got = channel.tryReceive()
        wait.state = got === undefined ? 'aborted' : got.done ? 'closed' : 'done'
        if (got?.done === false) wait.value = got.value
        return Promise.resolve()
      }
    }
  }
  const worker = receive<Errand>((ctx, errand) => {
    const aborter = new AbortController()
    aborters.push(aborter)
    // Some wait with their mailbox, and are ended with their actor; others go on beside it.
    if (sim.choose(3) === 1) return go(errand, ctx.signal).then(() => same)
    void go(errand, aborter.signal)
    return same
  })
  const workers = [0, 1, 2].map((i) => sim.system.spawn(worker, { name: `w${i}`, stopTimeout: 20, supervision: 'restart' }))
  const errands: readonly Errand[] = ['send', 'receive', 'select', 'select-send', 'try-send', 'try-receive']
  sim.plan(sim.int(2, 24), () => {
    if (sim.choose(8) === 7 && aborters.length > 0) return aborters[sim.choose(aborters.length)]!.abort()
    if (sim.choose(24) === 23) return accounts[sim.choose(2)]!.channel.close()
    workers[sim.choose(3)]!.tell(sim.oneOf(errands))
  })
  const settled = (): boolean => accounts.every((a) => a.agrees && !a.isStuck)
  sim.eventually('the n-th who asked has the n-th that was sent, and nobody waits for what is there', settled)
  // Whoever waits with his mailbox would wait for ever.
  sim.after(980, () => accounts.forEach((a) => a.channel.close()))
  sim.eventually('after the end of a channel nobody waits for it', () =>
    accounts.every((a) => [...a.sends, ...a.receives].every((w) => w.state !== 'waiting')),
  )
}

export const selects: LibraryScenario = {
  name: 'selects',
  about: 'who sends, receives and selects is served in turn, and nothing is lost or taken twice',
  run,
}

// What happens to the nodes of a chaos run, chosen by a seed, and what must hold after each of them.

const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
/** Beside lease and 2 s: reading an actor from the journal, and a machine that is busy with other things. */
const activation = 1_500
/** What a node may have beside its own 64 MiB for a peer that takes nothing, in MiB. */
const memoryAtMost = 450

export const kinds = ['kill', 'stop', 'cut', 'nats', 'leave', 'roll', 'flood', 'two']

export class Faults {
  done = 0
  /** Rolling restarts, what clients asked meanwhile, how much of it failed, and how long the slowest node took to leave. */
  rolls = { count: 0, asked: 0, failed: 0, slowest: 0 }
  #options
  #state
  #counts = new Map()
  #gaps = new Map()

  constructor(options) {
    this.#options = options
    this.#state = options.seed >>> 0
  }

  get counts() {
    return [...this.#counts].map(([kind, count]) => `${count} ${kind}`).join(', ')
  }
  get gaps() {
    return [...this.#gaps].map(([kind, ms]) => `${kind} ${(ms / 1_000).toFixed(1)} s`).join(', ')
  }

  #random() {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return this.#state / 2 ** 32
  }
  #between(from, to) {
    return from + this.#random() * (to - from)
  }
  #oneOf(list) {
    return list[Math.floor(this.#random() * list.length)]
  }

  async strike(number) {
    const { nodes, account, only } = this.#options
    const kind = only ?? this.#oneOf(kinds)
    const [first, second] = nodes.names.toSorted(() => this.#random() - 0.5)
    const ended = account.ended.size
    const since = performance.now()
    let outage = 0
    const lost = []
    if (kind === 'two') {
      const [one, other] = [this.#oneOf(['kill', 'stop', 'cut', 'nats']), this.#oneOf(['kill', 'stop', 'cut'])]
      const both = await Promise.all([this.#do(one, first, lost), after(this.#between(0, 300)).then(() => this.#do(other, second, lost))])
      outage = Math.max(...both)
    } else outage = await this.#do(kind, first, lost)
    await nodes.allUp(60_000)
    const until = performance.now() + 40_000
    while (!account.allSince(since + outage) && performance.now() < until) await after(100)
    if (!account.allSince(since + outage)) account.wrong.push(`K9: after fault ${number} (${kind}) an id acknowledges nothing for 40 s`)
    // Often long enough for shards to have moved, and often not.
    await after(this.#between(200, 2_500))
    this.#check(kind, since, outage, lost, ended)
    this.done++
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1)
    const gap = account.gap(since, performance.now())
    console.log(
      `${String(number).padStart(3)} ${kind.padEnd(6)} silence ${(gap.ms / 1_000).toFixed(1)} s, ${account.acknowledged} acknowledged, ${account.wrong.length} wrong`,
    )
    this.#gaps.set(kind, Math.max(this.#gaps.get(kind) ?? 0, gap.ms))
  }

  #check(kind, since, outage, lost, endedBefore) {
    const { account, nodes, lease, untimed } = this.#options
    const gap = account.gap(since, performance.now())
    // Without NATS handlers wait for it once leases run out, which no promise forbids.
    const allowed = lease + 2_000 + activation + (kind === 'nats' || kind === 'two' ? outage + lease : 0)
    if (!untimed && gap.ms > allowed)
      account.wrong.push(`K9: ${gap.id} was silent for ${gap.ms.toFixed(0)} ms after a ${kind}, and ${allowed.toFixed(0)} are allowed`)
    if (kind === 'roll') this.#checkRoll(since)
    if (kind === 'nats' && account.ended.size > endedBefore) account.wrong.push('K11: an outage of the engine ended a session')
    if (account.memory > memoryAtMost) account.wrong.push(`K6: a node has ${account.memory} MiB`)
    for (const { session, at } of lost) {
      const deaf = account.deaf(session, (pid) => nodes.isAlive(pid))
      if (!untimed && deaf.length > 0 && performance.now() - at > lease + 2_000 + activation)
        account.wrong.push(`K4: nobody told ${deaf.join(' and ')}`)
    }
  }

  /** K12: no client sees that all nodes are restarted, one after the other. */
  #checkRoll(since) {
    const { account } = this.#options
    const failures = account.failures.filter(({ asked }) => asked >= since)
    this.rolls.failed += failures.length
    for (const { id, code } of failures.slice(0, 5)) account.wrong.push(`K12: an ask of ${id} failed with ${code} in a rolling restart`)
  }

  /** Does it; resolves when it is over, with how long NATS was away. */
  async #do(kind, name, lost) {
    const { nodes, server, lease } = this.#options
    switch (kind) {
      case 'kill': {
        lost.push({ session: nodes.session(name), at: performance.now() })
        await nodes.kill(name, this.#between(0, 1.5 * lease))
        return 0
      }
      case 'stop':
        await nodes.stop(name, this.#between(0.5 * lease, 2 * lease))
        return 0
      case 'cut':
        await nodes.cut(name, this.#between(0.5 * lease, 2 * lease))
        return 0
      case 'leave':
        await nodes.leave(name)
        return 0
      case 'roll': {
        const { account } = this.#options
        const before = account.echoed
        for (const one of nodes.names) {
          const since = performance.now()
          await nodes.leave(one)
          this.rolls.slowest = Math.max(this.rolls.slowest, performance.now() - since)
          await nodes.allUp(60_000)
          // Time for what is on its way to it to arrive, and to be asked there.
          await after(2_000)
        }
        this.rolls.count++
        this.rolls.asked += account.echoed - before
        return 0
      }
      case 'flood': {
        const from = nodes.names.find((other) => other !== name)
        nodes.tell(from, `flood ${name} 120`)
        await nodes.stop(name, this.#between(0.5 * lease, 2 * lease))
        return 0
      }
      default: {
        const ms = this.#between(0.1 * lease, 1.5 * lease)
        const since = performance.now()
        await server.kill()
        await after(ms)
        await server.start()
        return performance.now() - since
      }
    }
  }
}

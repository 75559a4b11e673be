// Does things to nodes, says so, and brings back who is gone, as the manager of processes of a real machine would. With --chaos it does so by itself, from
// a seed: one thing at a time, sometimes two.

import type { Strike, Troop } from './troop.ts'

export interface DirectorOptions {
  readonly lease: number
  readonly random: () => number
  /** Whether all rooms answer. */
  readonly calm: () => boolean
  readonly say: (what: string) => void
}

/** Waits, or less where the signal comes first. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}

export class Director {
  strikes = 0
  readonly #troop: Troop
  readonly #options: DirectorOptions
  /** Nodes that are to stay down until somebody starts them. */
  readonly #keptDown = new Set<string>()
  #closing = false

  constructor(troop: Troop, options: DirectorOptions) {
    this.#troop = troop
    this.#options = options
  }

  /** Starts a node, again and again where its name is still that of an earlier life. */
  async start(name: string): Promise<void> {
    this.#keptDown.delete(name)
    await this.#troop.start(name)
  }

  /** A node has ended, and nobody asked it to. */
  ended(name: string, why: string): void {
    this.#options.say(`${name} ended by itself: ${why}`)
    if (!this.#closing && !this.#keptDown.has(name)) setTimeout(() => void (this.#closing ? undefined : this.#back(name)), 300)
  }
  async #back(name: string): Promise<void> {
    if (this.#state(name) !== 'down') return
    await this.#troop.start(name)
    if (this.#state(name) === 'up') this.#options.say(`${name} is back`)
  }
  #state(name: string): string {
    return this.#troop.nodes.find((node) => node.name === name)!.state
  }

  // What a key does: the same key undoes it.

  async killOrStart(name: string): Promise<void> {
    const state = this.#state(name)
    if (state === 'down') {
      this.#options.say(`${name} is started`)
      return await this.start(name)
    }
    if (state === 'leaving') return
    this.strikes++
    this.#keptDown.add(name)
    if (this.#troop.strikes.includes('kill')) {
      this.#options.say(`${name} is killed (SIGKILL); its name starts it again`)
      return this.#troop.kill(name)
    }
    this.#options.say(`${name} leaves; its name starts it again`)
    await this.#troop.leave(name)
  }
  pauseOrResume(name: string): void {
    const state = this.#state(name)
    if (!this.#troop.strikes.includes('pause')) return
    if (state === 'paused') {
      this.#options.say(`${name} goes on (SIGCONT)`)
      return this.#troop.resume(name)
    }
    if (state !== 'up') return
    this.strikes++
    this.#options.say(`${name} stands still (SIGSTOP)`)
    this.#troop.pause(name)
  }
  async outage(ms: number = this.#options.lease * 1.2): Promise<void> {
    if (!this.#troop.strikes.includes('outage') || this.#troop.isAway) return
    this.strikes++
    this.#options.say(`NATS is killed, for ${(ms / 1000).toFixed(1)} s`)
    await this.#troop.outage(ms)
    this.#options.say('NATS is back')
  }

  /** Strikes until told otherwise, and returns when all nodes are up again. */
  async chaos(over: AbortSignal): Promise<void> {
    const { random, calm } = this.#options
    const { nodes, strikes } = this.#troop
    while (!over.aborted) {
      await wait(500 + random() * 1000, over)
      while (!over.aborted && !(calm() && this.#allUp())) await wait(100, over)
      if (over.aborted) break
      const first = Math.floor(random() * nodes.length)
      const two = random() < 0.2
      const one = this.#strike(nodes[first]!.name, strikes[Math.floor(random() * strikes.length)]!)
      // Another at the same time, but never the third: somebody must play on.
      if (two) await Promise.all([one, wait(random() * 1000).then(() => this.#strike(nodes[(first + 1) % nodes.length]!.name, 'kill'))])
      else await one
    }
  }
  #allUp(): boolean {
    return this.#troop.nodes.every(({ state }) => state === 'up') && !this.#troop.isAway
  }

  async #strike(name: string, strike: Strike): Promise<void> {
    const { lease, random, say } = this.#options
    if (strike === 'kill' && !this.#troop.strikes.includes('kill')) return
    if (strike !== 'outage' && this.#state(name) !== 'up') return
    switch (strike) {
      case 'outage':
        return await this.outage(lease * (0.3 + random()))
      case 'kill': {
        this.strikes++
        say(`${name} is killed (SIGKILL)`)
        this.#troop.kill(name)
        await wait(200 + random() * lease)
        return await this.#back(name)
      }
      case 'pause': {
        const ms = lease * (0.5 + random() * 1.5)
        this.strikes++
        say(`${name} stands still (SIGSTOP), for ${(ms / 1000).toFixed(1)} s`)
        this.#troop.pause(name)
        await wait(ms)
        say(`${name} goes on (SIGCONT)`)
        return this.#troop.resume(name)
      }
      case 'leave':
        this.strikes++
        say(`${name} leaves, and is started again`)
        await this.#troop.leave(name)
        return await this.#back(name)
    }
  }

  /** Brings everybody back, so that what is under way can be finished. */
  async calmDown(): Promise<void> {
    this.#keptDown.clear()
    for (const { name } of this.#troop.nodes) this.#troop.resume(name)
    for (const { name, state } of this.#troop.nodes) if (state === 'down') await this.#back(name)
  }
  close(): void {
    this.#closing = true
  }
}

// The nodes, and everything that can be done to them. On NATS each is a process of its own; with `memory()` all are in this one, where nothing can be
// killed or paused but much can leave.

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Engine, memory, nats } from '@troupe/cluster'
import { type JournalSource, memory as memoryJournal } from '@troupe/persistence'
import type { News, Orders } from './member.ts'
import { type Joined, joinAsNode } from './node.ts'
import { journalAt, type Store } from './store.ts'

export type NodeState = 'starting' | 'up' | 'paused' | 'leaving' | 'down'

/** What can be done to a node, or to what all depend on. */
export type Strike = 'kill' | 'pause' | 'leave' | 'outage'

/** One node, through all its lives. */
export interface NodeFacts {
  readonly name: string
  readonly state: NodeState
}

export interface Troop {
  readonly nodes: readonly NodeFacts[]
  /** What carries and counts, in words. */
  readonly engine: string
  readonly strikes: readonly Strike[]
  readonly journal: JournalSource
  /** For a node more, in this process. */
  readonly own: Engine
  /** Whether the engine is there. */
  readonly isAway: boolean
  start(name: string): Promise<void>
  kill(name: string): void
  pause(name: string): void
  resume(name: string): void
  leave(name: string): Promise<void>
  /** Takes the engine away for so many ms. */
  outage(ms: number): Promise<void>
  end(): Promise<void>
}

/** Hears what happened to nodes that nobody asked for. */
export type Listener = (node: string, what: string) => void

export const names = ['a', 'b', 'c'] as const

/** What `tools/engines` of this repository offers. */
export interface NatsServer {
  readonly url: string
  kill(): Promise<void>
  start(): Promise<void>
  end(): Promise<void>
}

const member = fileURLToPath(new URL('./member.js', import.meta.url))

interface Process {
  readonly name: string
  state: NodeState
  child: ChildProcess | undefined
}

export class Processes implements Troop {
  readonly nodes: readonly Process[] = names.map((name) => ({ name, state: 'down', child: undefined }))
  readonly engine: string
  readonly strikes = ['kill', 'pause', 'leave', 'outage'] as const
  readonly journal: JournalSource
  readonly own: Engine
  isAway = false
  readonly #server: NatsServer
  readonly #store: Store
  readonly #lease: number
  readonly #listener: Listener

  constructor(version: string, server: NatsServer, store: Store, lease: number, listener: Listener) {
    this.engine = `NATS ${version}`
    this.journal = journalAt(store.place)
    this.own = nats({ servers: server.url })
    this.#server = server
    this.#store = store
    this.#lease = lease
    this.#listener = listener
  }

  #node(name: string): Process {
    return this.nodes.find((node) => node.name === name)!
  }

  start(name: string): Promise<void> {
    const node = this.#node(name)
    const orders: Orders = { node: name, servers: this.#server.url, place: this.#store.place, lease: this.#lease }
    const child = spawn(process.execPath, [member, JSON.stringify(orders)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    node.child = child
    node.state = 'starting'
    return new Promise((resolve) => {
      let why: string | undefined
      child.on('message', (news: News) => {
        if (node.child !== child) return
        if (news.news === 'joined') node.state = 'up'
        else why = news.why
        if (news.news === 'joined') resolve()
      })
      child.once('exit', () => {
        if (node.child !== child) return resolve()
        const asked = node.state === 'down' || node.state === 'leaving'
        node.state = 'down'
        node.child = undefined
        if (!asked) this.#listener(name, why ?? 'ended by itself')
        resolve()
      })
    })
  }

  kill(name: string): void {
    const node = this.#node(name)
    node.state = 'down'
    node.child?.kill('SIGKILL')
  }
  pause(name: string): void {
    const node = this.#node(name)
    if (node.state !== 'up') return
    node.state = 'paused'
    node.child?.kill('SIGSTOP')
  }
  resume(name: string): void {
    const node = this.#node(name)
    if (node.state !== 'paused') return
    node.state = 'up'
    node.child?.kill('SIGCONT')
  }
  async leave(name: string): Promise<void> {
    const node = this.#node(name)
    const { child } = node
    if (child === undefined || node.state !== 'up') return
    node.state = 'leaving'
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    child.send('leave')
    await gone
  }
  async outage(ms: number): Promise<void> {
    this.isAway = true
    await this.#server.kill()
    await new Promise((resolve) => setTimeout(resolve, ms))
    await this.#server.start()
    this.isAway = false
  }
  async end(): Promise<void> {
    for (const { name, child } of this.nodes)
      if (child !== undefined) {
        const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
        this.kill(name)
        await gone
      }
    await this.#server.end()
  }
}

interface Neighbour {
  readonly name: string
  state: NodeState
  joined: Joined | undefined
}

export class Neighbours implements Troop {
  readonly nodes: readonly Neighbour[] = names.map((name) => ({ name, state: 'down', joined: undefined }))
  readonly engine = 'memory(), all in this process'
  readonly strikes = ['leave'] as const
  readonly journal: JournalSource = memoryJournal()
  readonly own: Engine
  readonly isAway = false
  readonly #lease: number
  readonly #listener: Listener

  constructor(lease: number, listener: Listener, engine: Engine = memory()) {
    this.own = engine
    this.#lease = lease
    this.#listener = listener
  }

  async start(name: string): Promise<void> {
    const node = this.nodes.find((one) => one.name === name)!
    node.state = 'starting'
    try {
      node.joined = await joinAsNode({ node: name, engine: this.own, journal: this.journal, lease: this.#lease, logger: false })
    } catch (cause) {
      node.state = 'down'
      return this.#listener(name, (cause as Error).message)
    }
    node.state = 'up'
    const { joined } = node
    const { cluster, system } = joined
    // A process that gets no time for longer than the lease loses the sessions of its nodes. They end then, as a process of their own would.
    void cluster.ended.then(async (cause) => {
      if (cause === undefined) return
      await system.shutdown()
      // Where it was asked to leave in the meantime, that is what takes it away.
      if (node.joined !== joined || node.state !== 'up') return
      node.joined = undefined
      node.state = 'down'
      this.#listener(name, (cause as Error).message)
    })
  }
  async leave(name: string): Promise<void> {
    const node = this.nodes.find((one) => one.name === name)!
    const { joined } = node
    if (joined === undefined || node.state !== 'up') return
    node.state = 'leaving'
    await joined.cluster.leave()
    await joined.system.shutdown()
    node.joined = undefined
    node.state = 'down'
  }
  // A part of a process cannot be killed, or stand still by itself.
  kill(): void {}
  pause(): void {}
  resume(): void {}
  async outage(): Promise<void> {}
  async end(): Promise<void> {
    // One after the other, so that each but the last has somebody to hand over to.
    for (const { name } of this.nodes) await this.leave(name)
  }
}

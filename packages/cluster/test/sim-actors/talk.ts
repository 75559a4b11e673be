// Members of a simulated cluster that talk: numbered notes, questions and watches between nodes, and an account of them that is kept from the
// promises and not from the code.

import { type ActorRef, type AnyRef, type Behavior, receive, same } from '@troupe/core'
import type { SimulatedCluster, SimulatedNode } from '@troupe/cluster/testing'

type Note = { readonly type: 'note'; readonly from: string; readonly n: number }
type Question = { readonly type: 'question'; readonly id: number; readonly late: boolean; readonly replyTo: ActorRef<string> }
type Meet = { readonly type: 'meet'; readonly node: string; readonly ref: ActorRef<Told> }
type Told = Note | Question | Meet

interface Watched {
  readonly by: SimulatedNode
  readonly session: string
  /** By what it is known. Who hears of it by another node that knows of its end has a ref of nobody, which is another one. */
  readonly ref: AnyRef
  terminated: number
}

/** What happened in all runs: one in which nothing happens breaks no promise. */
export const tally = { counts: 0, notes: 0, answers: 0, lost: 0, terminated: 0, ledgers: 0, unknown: 0, passedOn: 0 }

export class Talk {
  readonly world: SimulatedCluster
  /** Refs that a node has of members of others, by its session and theirs. */
  readonly #refs = new Map<string, ActorRef<Told>>()
  readonly #sent = new Map<string, number>()
  readonly #got = new Map<string, number>()
  readonly #questions = new Map<number, { readonly by: SimulatedNode; readonly to: string; settled: number }>()
  readonly #watches: Watched[] = []
  readonly #counts = new Map<number, SimulatedNode>()

  constructor(world: SimulatedCluster) {
    this.world = world
    world.onJoin = (node) => this.#joined(node)
    world.sim.eventually('K1: all that was sent between two that are up has arrived', () => this.#allArrived())
    world.sim.eventually('K5: every question of a node that is up was settled, once', () => this.#allSettled())
    world.sim.eventually('K4: every watch of a session that ended was told of it, once', () => this.#allTold())
    world.sim.eventually('K3: every count came to an end', () => [...this.#counts.values()].every((by) => !by.isUp))
  }

  #joined(node: SimulatedNode): void {
    node.system.spawn(this.#member(node), { name: 'member' })
    const meet = (name: string): void =>
      void node.cluster!.find(name, '/user/member').then((ref) => {
        const session = node.cluster!.members.find((member) => member.session.node === name)?.session
        if (ref !== undefined && session !== undefined && ref.path === `//${name}/user/member`)
          this.#refs.set(`${node.name} ${name}#${session.number}`, ref as ActorRef<Told>)
        // It may not have been there yet.
        else if (node.isUp && session !== undefined) node.place.after(500, () => meet(name))
      })
    for (const { session } of node.cluster!.members) if (session.node !== node.node) meet(session.node)
    node.cluster!.events.listen(({ type, member }) => {
      if (type === 'joined') meet(member.session.node)
    })
  }

  #member(node: SimulatedNode): Behavior<Told> {
    const waiting: Question[] = []
    return receive<Told>(
      (_ctx, message) => {
        switch (message.type) {
          case 'note': {
            const key = `${message.from} ${node.name}`
            const last = this.#got.get(key) ?? 0
            // What was under way on a connection that broke may be lost; it is never doubled or overtaken.
            if (this.world.expectsBreaks ? message.n <= last : message.n !== last + 1)
              this.world.sim.violate('invariant', `K1: ${node.name} got ${message.n} of ${message.from} after ${last}`)
            this.#got.set(key, message.n)
            tally.notes++
            for (const { id, replyTo } of waiting.splice(0)) replyTo.tell(`answer to ${id}`)
            return same
          }
          case 'question':
            if (message.late) waiting.push(message)
            else message.replyTo.tell(`answer to ${message.id}`)
            return same
          case 'meet':
            // A ref that came in a message is as good as any.
            this.#refs.set(`${node.name} ${message.node}`, message.ref)
            tally.passedOn++
            return same
        }
      },
      (_ctx, signal) => {
        if (signal.type !== 'Terminated') return undefined
        this.#terminated(node, signal.ref, signal.cause)
        return same
      },
    )
  }

  /** Each node that is up says something to all whom it knows. */
  tellAll(): void {
    for (const by of this.world.up)
      for (const [key, ref] of this.#refs) if (key.startsWith(`${by.name} `)) this.#tell(by, key.slice(by.name.length + 1), ref)
  }

  /** A node says something to another that it knows. */
  act(): void {
    const { world } = this
    const by = world.pick()
    if (by === undefined || by.place.state !== 'running') return
    const known = [...this.#refs].filter(([key]) => key.startsWith(`${by.name} `))
    const chosen = known[world.sim.choose(known.length)]
    if (chosen === undefined) return
    const [key, ref] = chosen
    const to = key.slice(by.name.length + 1)
    switch (world.sim.choose(6)) {
      case 0:
      case 1:
        for (let i = world.sim.oneOf([1, 3, 20]); i > 0; i--) this.#tell(by, to, ref)
        return
      case 2:
        return this.#ask(by, to, ref)
      case 3:
        return this.#watch(by, to, ref)
      case 4:
        return this.count(by)
      default: {
        const other = known[world.sim.choose(known.length)]!
        // From one node to a second goes the ref of an actor of a third.
        if (other[0] !== key) ref.tell({ type: 'meet', node: other[0].slice(by.name.length + 1), ref: other[1] })
      }
    }
  }

  #tell(by: SimulatedNode, to: string, ref: ActorRef<Told>): void {
    const key = `${by.name} ${to}`
    const n = (this.#sent.get(key) ?? 0) + 1
    this.#sent.set(key, n)
    ref.tell({ type: 'note', from: by.name, n })
  }

  #ask(by: SimulatedNode, to: string, ref: ActorRef<Told>): void {
    const { sim } = this.world
    const id = this.#questions.size + 1
    const question = { by, to, settled: 0 }
    this.#questions.set(id, question)
    const settled = (): void => {
      if (++question.settled > 1) sim.violate('C9', `K5: question ${id} was settled twice`)
    }
    ref.ask({ type: 'question', id, late: sim.choose(3) === 2 } as never, { timeout: 30_000 }).then(
      (answer: unknown) => {
        settled()
        tally.answers++
        if (answer !== `answer to ${id}`) sim.violate('C9', `question ${id} got the answer of another: ${String(answer)}`)
      },
      (cause: unknown) => {
        settled()
        const { code } = cause as { readonly code?: string }
        const ended = this.world.over.get(to)
        if (code === 'ask-timeout' && ended !== undefined && sim.now > ended + 1_000 && by.isUp && this.world.over.get(by.name) === undefined)
          sim.violate('invariant', `K5: question ${id} to ${to}, which ended at ${ended} ms, timed out at ${sim.now} ms`)
        if (code === 'node-lost' && ended === undefined && by.state === 'alive')
          sim.violate('invariant', `K5: question ${id} was rejected because ${to} was lost, and it was not`)
        if (
          code !== undefined &&
          !['ask-timeout', 'node-lost', 'session-ended', 'ask-target-stopped'].includes(code) &&
          !(code === 'connection-lost' && this.world.expectsBreaks)
        )
          sim.violate('invariant', `K5: question ${id} was rejected with ${code}: ${String(cause)}`)
        if (code === 'node-lost') tally.lost++
      },
    )
  }

  #watch(by: SimulatedNode, to: string, ref: AnyRef): void {
    const self = by.system.find('/user/member')
    if (self === undefined || this.#watches.some((watch) => watch.by === by && watch.session === to)) return
    this.#watches.push({ by, session: to, ref, terminated: 0 })
    by.system.watch(ref, self)
  }
  #terminated(node: SimulatedNode, ref: AnyRef, cause: unknown): void {
    const { sim } = this.world
    const watch = this.#watches.find((one) => one.by === node && one.ref === ref)
    if (watch === undefined) return sim.violate('C5', `${node.name} was told of the end of ${ref.path}, whom it does not watch`)
    if (++watch.terminated > 1) sim.violate('C5', `K4: ${node.name} was told twice of the end of ${watch.session}`)
    tally.terminated++
    const code = (cause as { readonly code?: string } | undefined)?.code
    if (this.world.over.get(watch.session) === undefined && code === 'node-lost' && this.world.over.get(node.name) === undefined && node.isUp)
      sim.violate('invariant', `K4: ${node.name} was told that ${watch.session} was lost, and it was not`)
  }

  /** Counts all messages of the cluster, whatever goes on. */
  count(by: SimulatedNode): void {
    const { sim } = this.world
    const id = ++tally.counts
    this.#counts.set(id, by)
    by.cluster!.ledger().then(
      (l) => {
        this.#counts.delete(id)
        tally.ledgers++
        tally.unknown += l.unknown
        const ended = l.handled + l.failed + l.unhandled + l.dropped + l.deadLettered + l.unknown
        const open = l.queued + l.stashed + l.inProgress
        if (l.sent !== ended + open)
          sim.violate('invariant', `K3: the ledger says ${l.sent} sent, and accounts for ${ended + open}: ${JSON.stringify(l)}`)
        if (l.unknown > 0 && this.world.over.size === 0 && !this.world.expectsBreaks)
          sim.violate('invariant', `K3: ${l.unknown} messages are unknown, and no session has ended`)
        if (Object.values(l).some((count) => count < 0)) sim.violate('invariant', `K3: the ledger counts less than nothing: ${JSON.stringify(l)}`)
      },
      (cause: unknown) => {
        this.#counts.delete(id)
        const { code } = cause as { readonly code?: string }
        if (code !== 'ledger-incomplete') sim.violate('invariant', `K3: the ledger could not be had: ${String(cause)}`)
      },
    )
  }

  #allArrived(): boolean {
    for (const [key, sent] of this.#sent) {
      const [from, to] = key.split(' ') as [string, string]
      const both = this.world.life(from)?.isUp === true && this.world.life(to)?.isUp === true
      if (both && (this.#got.get(key) ?? 0) !== sent) return false
    }
    return true
  }
  #allSettled(): boolean {
    return [...this.#questions.values()].every(({ by, settled }) => !by.isUp || settled === 1)
  }
  #allTold(): boolean {
    return this.#watches.every(({ by, session, terminated }) => !by.isUp || !this.world.over.has(session) || terminated === 1)
  }
}

// A second account of what actors on several places do, kept from the promises and not from the code: who was born where, what
// each was told and asked, in which order, and how it ended. It sees all places at once, which no place does.

import type { ActorRef, AnyRef } from '@troupe/core'
import { homeOf } from '@troupe/border'
import { type Cell, cellOf } from '@troupe/core/internal'
import type { SimPlace, Simulation } from '@troupe/testkit/internal'
import type { Act, Note, Query, Told } from './acts.ts'
import { isUp, judgeAtRest } from './at-rest.ts'
import { Beginnings } from './beginnings.ts'
import { Sums } from './sums.ts'
import { SimThreads, type ThreadsSetup } from './simulated-threads.ts'

/** One incarnation. */
export interface Life {
  readonly uid: number
  readonly path: string
  readonly cell: Cell
  /** The thread it runs on. */
  readonly at: number
  preStarts: number
  postStops: number
  /** Handlers that have begun and not ended. */
  busy: number
  /** The question its handler waits for. */
  waitsFor: number | undefined
  /** Signals of the end of others, by their number; undefined once given up. */
  readonly watching: Map<number, number>
  readonly order: Map<string, number>
}

export interface Question {
  readonly id: number
  /** Before which time it must not time out, and by when it must have. */
  readonly least: number
  readonly most: number
  readonly by: Life | undefined
  /** Who has it, as far as handlers have seen it. */
  holder: number
  settled: boolean
  /** When it was last one of a circle that another question left. */
  freed: number
}

/** Longer than a probe takes to go around, in virtual milliseconds. */
const oneRound = 30

export class World {
  readonly sim: Simulation
  readonly threads: SimThreads
  readonly refs: ActorRef<Told>[] = []
  readonly lives: Life[] = []
  readonly questions: Map<number, Question> = new Map()
  readonly beginnings: Beginnings
  readonly #sums: Sums
  readonly #sent = new Map<string, number>()
  /** Whether a thread was lost or hung so far. */
  struck = false
  /** Counts of all threads that have not come to an end. */
  #counts = 0
  handled = 0

  constructor(sim: Simulation, setup: ThreadsSetup) {
    this.sim = sim
    this.threads = new SimThreads(sim, setup)
    this.#sums = new Sums(sim, this.threads)
    this.beginnings = new Beginnings(sim)
    sim.always(() => this.#always())
    sim.system.events.listen((event) => {
      const { thread, why, cause } = event as { readonly thread: number; readonly why: string; readonly cause: Error }
      if (why === 'bad-record' || (why === 'error' && !cause.message.includes('it crashed')))
        sim.violate('T1', `thread ${thread} was lost because of what one thread wrote and another could not read: ${String(cause.cause)}`)
    }, 'thread.lost')
  }

  // What happens to threads.

  /** Any thread, or the one that an actor is on. */
  crash(under?: AnyRef): void {
    const { living } = this.threads
    const thread =
      under === undefined ? living[this.sim.choose(living.length)] : living.find((t) => t.started?.exchange.residents.hosted(under.uid) !== undefined)
    if (thread === undefined) return
    this.struck = true
    this.sim.note(`thread ${thread.epoch} crashes`)
    thread.crash()
  }
  /** A thread closes its links to actors elsewhere, as if their refs had been collected; those with messages that wait for credit are in use. */
  closeLinks(): void {
    const { living } = this.threads
    const thread = living[this.sim.choose(living.length)]
    this.sim.note(`thread ${thread?.epoch ?? 0} closes links`)
    thread?.place.soon(() => {
      for (const { links } of thread.started?.exchange.crossings ?? [])
        for (const { queue } of links) if (queue?.ofProxy === true && !queue.wants) queue.unlink()
    })
  }
  hang(ms: number): void {
    const { living } = this.threads
    const thread = living[this.sim.choose(living.length)]
    // Nothing that could hang runs on a thread before it has said that it is up.
    const runs = [...this.threads.pool.threads].some((t) => t.epoch === thread?.epoch && t.state === 'up')
    if (thread === undefined || !runs || thread.hungSince !== undefined) return
    this.struck = true
    this.sim.note(`thread ${thread.epoch} hangs for ${ms} ms`)
    thread.hungSince = this.sim.now
    thread.place.hang()
    this.sim.after(ms, () => {
      thread.hungSince = undefined
      thread.place.goOn()
    })
  }

  // What actors do.

  /** Tells somebody the next thing, in order. */
  tell(from: string, to: ActorRef<Told>, act: Act): void {
    const key = `${from}→${to.uid}`
    const n = (this.#sent.get(key) ?? 0) + 1
    this.#sent.set(key, n)
    this.sim.sent(from === 'main' ? 0 : Number(from.split('/')[0]), to.uid, 'note', n)
    to.tell({ type: 'note', from, n, act })
  }
  /** Asks somebody; a question that serves another has no more time than that has left. */
  ask(by: Life | undefined, to: ActorRef<Told>, act: Act, timeout: number, serves?: Told): Promise<string> {
    const served = serves?.type === 'query' ? this.questions.get(serves.id) : undefined
    const { now } = this.sim
    const most = now + (served === undefined ? timeout : Math.min(timeout, Math.max(1, served.most - now)))
    // Whoever serves a question that has expired has no time at all, and may or may not know it yet.
    const least = served?.settled === true ? now : Math.min(most, Math.max(now, served?.least ?? most))
    const id = this.questions.size + 1
    const question: Question = { id, least, most: served?.settled === true ? Infinity : most, by, holder: to.uid, settled: false, freed: -Infinity }
    this.questions.set(id, question)
    this.sim.sent(by?.uid ?? 0, to.uid, 'query', id)
    const promise: Promise<string> = to.ask({ type: 'query', id, act, hops: 0 } as never, { timeout })
    promise.then(
      (answer) => this.#settled(question, answer, undefined),
      (cause: unknown) => this.#settled(question, undefined, cause),
    )
    return promise
  }
  #settled(question: Question, answer: string | undefined, cause: unknown): void {
    const { sim } = this
    const { id, least, most, holder } = question
    if (question.settled) sim.violate('C9', `question ${id} was settled twice`)
    const circle = this.#circleOf(question)
    for (const each of circle) each.freed = sim.now
    question.settled = true
    if (cause === undefined) {
      if (answer !== `answer to ${id}`) sim.violate('C9', `question ${id} got the answer of another: ${String(answer)}`)
      return
    }
    const { code } = cause as { readonly code?: unknown }
    if (code === 'ask-timeout' && sim.now < least) sim.violate('C9', `question ${id} timed out at ${sim.now} ms, and had time until ${least}`)
    // What a question takes to cross over does not count against it; much more than that does.
    if (code === 'ask-timeout' && sim.now > most + 60 && !this.struck)
      sim.violate('C9', `question ${id} timed out at ${sim.now} ms, and had time only until ${most}`)
    if (code === 'ask-target-stopped' && this.isWell(holder))
      sim.violate('C9', `question ${id} was refused because its target stopped, and #${holder}, who has it, runs`)
    // A question that another thread gave up meanwhile is heard of there first: the circle held when it was last gone around.
    if (code === 'deadlock' && sim.now - question.freed > oneRound)
      sim.violate('C9', `question ${id} was refused as one of a circle, and there is none`)
    if (code === 'thread-lost' && !this.struck) sim.violate('T2', `question ${id} was refused because of a lost thread, and none was`)
    if ((cause as Error).message !== 'boom') return
    const { labels, cause: behind } = cause as Error & { readonly labels?: { readonly of?: string } }
    if (code !== 'actor-error' || labels?.of !== 'a member' || (behind as Error | undefined)?.message !== 'what was behind it')
      sim.violate(
        'T1',
        `question ${id} failed with an error that lost something on its way: ${JSON.stringify({ code, labels, behind: String(behind) })}`,
      )
  }
  /** The questions of a circle of those who wait for each other, from one back to whoever asked it; none where there is no circle. */
  #circleOf(question: Question): readonly Question[] {
    const circle = new Set<Question>()
    let at: Question | undefined = question
    while (at !== undefined && !circle.has(at)) {
      circle.add(at)
      if (at.holder === question.by?.uid) return [...circle]
      at = this.questions.get(this.#current(at.holder)?.waitsFor ?? 0)
    }
    return []
  }
  /** Circles that nobody has broken. */
  get circles(): readonly Question[] {
    return [...this.questions.values()].filter((q) => !q.settled && q.by !== undefined && q.by.waitsFor === q.id && this.#circleOf(q).length > 0)
  }
  #current(uid: number): Life | undefined {
    return this.lives.findLast((l) => l.uid === uid)
  }
  /** Whether an actor is neither ended nor about to: as its parent's thread sees it, where that is the main one. */
  isWell(uid: number): boolean {
    const ref = this.refs.find((r) => r.uid === uid)
    const there = this.#current(uid)?.cell
    const cell = ref === undefined ? there : cellOf(ref)
    return isUp(cell) && (there === undefined || there.phase === 'restarting' || there.phase === 'starting' || isUp(there))
  }
  hasEnded(ref: AnyRef): boolean {
    return cellOf(ref)?.phase === 'terminated'
  }

  /** Tells an actor to begin anew. */
  restart(ref: AnyRef): void {
    this.beginnings.hasReason(ref.uid)
    this.sim.system.restart(ref)
  }

  // What actors see.

  born(self: AnyRef, systemName: string): Life {
    const { uid, path } = self
    const at = systemName.includes('-') ? Number(systemName.slice(systemName.lastIndexOf('-') + 1)) : 0
    if (this.#current(uid)?.at === at) this.beginnings.again(uid, path)
    // Watches are the actor's: a restart keeps them, a lost thread does not.
    const watching = this.lives.find((l) => l.uid === uid && l.at === at)?.watching ?? new Map<number, number>()
    const life: Life = { uid, path, cell: cellOf(self)!, at, preStarts: 0, postStops: 0, busy: 0, waitsFor: undefined, watching, order: new Map() }
    this.lives.push(life)
    return life
  }
  placeOf(life: Life): SimPlace {
    return life.at === 0 ? this.sim.home : this.threads.all.get(life.at)!.place
  }
  /** Resolves after a while, on the actor's own place. */
  pause(life: Life, ms: number): Promise<void> {
    return new Promise((resolve) => this.placeOf(life).after(ms, resolve))
  }
  begins(life: Life, message: Told): void {
    this.handled++
    this.sim.handles(life.uid, message.type, message.type === 'note' ? message.n : message.id)
    if (life.busy > 0) this.sim.violate('C3', `${life.path} handles two messages at once`)
    if (life.postStops > 0) this.sim.violate('C4', `${life.path} handles a message after PostStop`)
    for (const other of this.lives)
      if (other.uid === life.uid && other !== life && other.busy > 0 && this.placeOf(other).state !== 'gone' && other.postStops === 0)
        this.sim.violate('C3', `two incarnations of ${life.path} handle messages at once`)
    life.busy++
    if (message.type === 'query') {
      const question = this.questions.get(message.id)
      if (question !== undefined) question.holder = life.uid
    } else if (message.act.do !== 'stash') this.#inOrder(life, message)
  }
  /** Nobody is at it any more, though somebody may answer it yet. */
  keeps({ id }: Query): void {
    const question = this.questions.get(id)
    if (question !== undefined) question.holder = 0
  }
  ends(life: Life): void {
    life.busy--
  }
  #inOrder(life: Life, { from, n, act }: Note): void {
    // What an earlier life of the same actor had is what this one must not have again.
    const key = `${from}→${life.uid}`
    for (const other of this.lives) {
      if (other.uid !== life.uid) continue
      const before = other.order.get(key) ?? 0
      if (n <= before && act.do !== 'unstash' && !this.stashed.has(`${key}#${n}`))
        this.sim.violate('C1', `${life.path} got ${from}'s message ${n} after ${before}`)
    }
    life.order.set(key, Math.max(n, life.order.get(key) ?? 0))
  }
  /** Messages that were stashed come later than others. */
  readonly stashed: Set<string> = new Set()

  signalled(life: Life, signal: { readonly type: string; readonly ref?: AnyRef }): void {
    const { sim } = this
    if (signal.type === 'PreStart' && ++life.preStarts > 1) sim.violate('C4', `${life.path} saw PreStart twice`)
    if (signal.type === 'PostStop' && ++life.postStops > 1) sim.violate('C4', `${life.path} saw PostStop twice`)
    if (signal.type !== 'Terminated' || signal.ref === undefined) return
    const before = life.watching.get(signal.ref.uid)
    if (before === undefined) sim.violate('C5', `${life.path} was told of the end of #${signal.ref.uid}, whom it does not watch`)
    else if (before > 0) sim.violate('C5', `${life.path} was told twice of the end of #${signal.ref.uid}`)
    life.watching.set(signal.ref.uid, 1)
  }

  // What must hold.

  /** The ledger of all threads, as anybody may ask for it: of one instant, whatever goes on. */
  count(): void {
    this.#counts++
    this.threads.pool.ledger().then(
      (l) => {
        this.#counts--
        const ended = l.handled + l.failed + l.unhandled + l.dropped + l.deadLettered + l.unknown
        if (l.sent !== ended + l.queued + l.stashed + l.inProgress)
          this.sim.violate('T2', `the ledger says ${l.sent} sent, and accounts for ${ended + l.queued + l.stashed + l.inProgress}`)
      },
      (cause: unknown) => this.sim.violate('T2', `the ledger could not be had: ${String(cause)}`),
    )
  }

  #always(): void {
    this.#sums.check()
    const { sim, threads } = this
    const { hangAfter } = threads.setup
    for (const thread of threads.living) {
      if (thread.hungSince === undefined || thread.place.state !== 'hung') continue
      if (sim.now - thread.hungSince > hangAfter * 2)
        sim.violate('T4', `thread ${thread.epoch} has hung for ${sim.now - thread.hungSince} ms and was not ended`)
    }
    for (const { epoch, place } of threads.living) {
      if (place.state !== 'running') continue
      for (const { ref } of threads.exchangeOf(epoch)?.residents.allHosted ?? []) {
        const home = threads.exchangeOf(homeOf(ref.uid))
        if (home !== undefined && home.residents.stub(ref.uid) === undefined)
          sim.violate('C4', `${ref.path} is thought gone by its parent's thread, and still there on thread ${epoch}`)
      }
    }
    for (const stub of threads.pool.exchange.residents.stubs) {
      const { capacity } = stub.options.mailbox ?? {}
      if (capacity !== undefined && stub.wire.size > capacity)
        sim.violate('C10', `${stub.ref.path} holds ${stub.wire.size} messages in a mailbox of ${capacity}`)
    }
  }

  /** When all that was planned has long been done, and before anybody is told anything that would wake who sleeps. */
  judgeSleepers(): void {
    this.#sums.checkGone()
  }
  /** Once all is quiet. */
  judge(): void {
    this.#sums.checkAtRest()
    if (this.#counts > 0) this.sim.violate('T2', `${this.#counts} counts of all threads never came to an end`)
    this.beginnings.judge()
    judgeAtRest(this)
  }
}

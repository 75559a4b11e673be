// The actors of one kind that live on this node: made at their first message, gone after a silence, made again when they are needed. What arrives
// while one is leaving waits for its successor, behind what that one left in its mailbox and stash.

import { OfferRefused, passivate, receive, same } from '@troupe/core'
import { BehaviorWithOptions, type Cell, cellOf, type Meta, spawnUnder, type SystemCore } from '@troupe/core/internal'
import { handTo, PassingCell } from '../refs/passing-cell.ts'
import { OwnershipLost } from '../values/errors.ts'
import type { EntityOffer } from './accounts.ts'
import type { Backlog } from './backlog.ts'
import type { Credits } from './credits.ts'
import { EnteringLetter, HereOffer, windowOf } from './entering.ts'
import type { KindSpec } from './kind.ts'
import { leased, type LeasedKind, type LeaseGate } from './leased-mailbox.ts'
import { LetterCredit } from './letter-credit.ts'
import { entry, type Letter, letterAgain, type WatchItem } from './letter.ts'
import type { Refuse } from './refusal.ts'
import type { Tenancy, Unpacked } from './tenancy.ts'
import type { EntityWatchers } from './watchers.ts'
import type { EntityEnd } from './watches.ts'

interface Entity {
  readonly id: string
  readonly shard: number
  readonly cell: Cell
  readonly mailbox: LeasedKind
  /** What the actor left behind when it ended, in order. */
  readonly left: { readonly message: unknown; readonly meta: Meta }[]
  /** What was offered to it and waits for room in its mailbox. */
  readonly entering: Set<EnteringLetter>
  /** What came while it was on its way out. */
  readonly waiting: Letter[]
  /** Nodes that hear of its end. */
  readonly watchers: Set<WatchItem>
  /** Why it is asked to end: its shard moves, or is another's already; or it has had no message for long. */
  leaves: 'moves' | 'lost' | 'silent' | undefined
}

export interface EntitiesHost {
  readonly core: SystemCore
  readonly gate: LeaseGate
  readonly tenancy: Tenancy | undefined
  readonly backlog: Backlog
  readonly credits: Credits
  readonly watchers: EntityWatchers
  readonly refuse: Refuse
  /** An offer that waited here for room looks for its actor again. */
  offerAgain(id: string, offer: EntityOffer): void
  /** An actor has been made: before its first turn. */
  made(shard: number, cell: Cell): void
  /** An actor is gone, and these are for its successor. Empty: nobody waits. */
  gone(shard: number, id: string, letters: readonly Letter[]): void
}

export class Entities {
  readonly #spec: KindSpec
  readonly #host: EntitiesHost
  readonly #byId = new Map<string, Entity>()
  readonly #byCell = new Map<Cell, Entity>()
  readonly #perShard = new Map<number, number>()
  #parent: Cell | undefined
  #closed = false

  constructor(spec: KindSpec, host: EntitiesHost) {
    this.#spec = spec
    this.#host = host
  }

  /** How many actors of a shard there are, those that are leaving among them. */
  in(shard: number): number {
    return this.#perShard.get(shard) ?? 0
  }
  /** Whether the actor of an id is there, or its successor will be. */
  has(id: string): boolean {
    return this.#byId.has(id)
  }
  get size(): number {
    return this.#byId.size
  }
  /** Messages that wait for successors. */
  get waiting(): number {
    let count = 0
    for (const { left, entering, waiting } of this.#byId.values()) count += left.length + entering.size + waiting.length
    return count
  }

  deliver(shard: number, letter: Letter): void {
    const { core, backlog, refuse } = this.#host
    let entity = this.#byId.get(letter.id)
    if (entity === undefined) {
      try {
        entity = this.#make(shard, letter.id)
      } catch (cause) {
        backlog.release(letter)
        return refuse(letter, core.phase === 'open' ? 'stopped' : 'system-closed', cause)
      }
    }
    // One on its way out takes nothing more; its successor will.
    if (entity.cell.end === undefined) this.#hand(entity, letter)
    else if (backlog.admit(letter)) entity.waiting.push(letter)
    else refuse(letter, 'no-owner')
  }

  /** Takes an offer to an actor of this node; false if its message may be sent. */
  offer(id: string, offer: EntityOffer): boolean {
    const cell = this.#byId.get(id)?.cell
    if (cell === undefined || cell.end !== undefined || cell.queue?.hasRoom?.() !== false) return false
    if (cell.options.mailbox?.overflow === 'block') cell.queue.wait!(new HereOffer(offer, () => this.#host.offerAgain(id, offer)))
    else offer.waiting.fail(new OfferRefused(offer.path, 'its mailbox is full'))
    return true
  }

  /** Starts an actor that nobody has sent anything to yet. */
  start(shard: number, id: string): void {
    if (!this.#byId.has(id)) this.#make(shard, id)
  }

  /** Another node, or this one, is to hear when the actor of an id ends; at once where there is none. */
  watch(item: WatchItem): void {
    const { watchers } = this.#host
    const entity = this.#byId.get(item.id)
    if (entity === undefined) watchers.ended(item, { reason: 'passivated', cause: undefined })
    else watchers.keep(item, entity.watchers)
  }

  /** Lets all actors of a shard end after their current message. */
  stop(shard: number): void {
    for (const entity of this.#byId.values())
      if (entity.shard === shard) {
        entity.leaves = 'moves'
        entity.cell.command({ verb: 'stop', reason: 'shutdown', cause: undefined })
      }
  }

  /** Ends all actors of a shard at once: what they do next would be somebody else's. */
  kill(shard: number, cause: unknown): void {
    for (const entity of this.#byId.values())
      if (entity.shard === shard) {
        entity.leaves = 'lost'
        entity.cell.command({ verb: 'stop', reason: 'failure', cause })
        entity.cell.command({ verb: 'kill' })
      }
  }

  /** There will be no more of them: when the last is gone, what is above them goes too. */
  close(): void {
    this.#closed = true
    this.#leave()
  }
  #leave(): void {
    if (this.#closed && this.#byId.size === 0) this.#parent?.command({ verb: 'stop', reason: 'shutdown', cause: undefined })
  }

  #hand(entity: Entity, letter: Letter): void {
    const { backlog, refuse } = this.#host
    backlog.release(letter)
    let { message, meta } = letter
    try {
      if (letter.version === 0) ({ message, meta } = this.#word(message))
      else message = this.#current(message, letter.version)
    } catch (cause) {
      return refuse(letter, 'not-accepted', cause)
    }
    if (message === undefined) return refuse(letter, 'not-accepted')
    const { origin } = letter
    this.#enter(
      entity,
      letter,
      message,
      origin === undefined ? meta : new LetterCredit(this.#host.credits, origin, letter.entry === entry.offered, meta),
    )
  }
  /** Into the mailbox, or, for what was offered, before it until there is room. */
  #enter(entity: Entity, letter: Letter, message: unknown, meta: Meta): void {
    const { cell, entering } = entity
    const { queue, options } = cell
    if (letter.entry === entry.told || options.mailbox?.overflow !== 'block' || queue?.hasRoom?.() !== false) {
      handTo(cell, message, meta)
      if (meta instanceof LetterCredit) meta.entered(windowOf(cell))
      return
    }
    const { ledger } = this.#host.core
    const waiting = new EnteringLetter(letter, message, meta, cell, {
      entered: () => {
        entering.delete(waiting)
        // The mailbox counted it as sent, and so did its sender.
        ledger.sent--
      },
      // Its actor restarts with the mailbox it had; if it stops, the letter goes to its successor.
      again: () => {
        entering.delete(waiting)
        if (cell.end === undefined) this.#enter(entity, letter, message, meta)
        else entering.add(waiting)
      },
    })
    entering.add(waiting)
    queue.wait!(waiting)
  }
  /** What a message of a version is now. */
  #current(message: unknown, from: number): unknown {
    const { upcast, version } = this.#spec
    return from >= version || upcast === undefined ? message : upcast(message, from)
  }
  /** What persistence has to say to one of its actors. */
  #word(message: unknown): Unpacked {
    const [from, packed] = Array.isArray(message) ? (message as unknown[]) : []
    return this.#host.tenancy?.unpack(packed, (inner) => this.#current(inner, Number(from))) ?? { message: undefined, meta: undefined }
  }

  #make(shard: number, id: string): Entity {
    const { core, gate } = this.#host
    const { kind, make, passivateAfter, accepts, stopTimeout } = this.#spec
    const left: { message: unknown; meta: Meta }[] = []
    // Called as the ref of the actor is: a question that waits here says whom it waits for.
    const heir = new PassingCell(core, `sharded/${kind}/${id}`, (message, meta) => void left.push({ message, meta }))
    const made = make(id)
    const canPassivate = (): true => {
      entity.leaves ??= 'silent'
      return true
    }
    const behavior = passivateAfter === undefined ? made : passivate(made, { after: passivateAfter, canPassivate })
    const mailbox = leased(gate, mailboxOf(made))
    const ref = spawnUnder(this.#parentCell(), behavior, {
      ...(isName(id) ? { name: id } : undefined),
      mailbox,
      drain: { redirect: heir.ref as never },
      ...(accepts === undefined ? undefined : { accepts }),
      ...(stopTimeout === undefined ? undefined : { stopTimeout }),
    })
    const entity: Entity = { id, shard, cell: ref.cell, mailbox, left, entering: new Set(), waiting: [], watchers: new Set(), leaves: undefined }
    this.#byId.set(id, entity)
    this.#byCell.set(ref.cell, entity)
    this.#perShard.set(shard, this.in(shard) + 1)
    this.#host.made(shard, ref.cell)
    return entity
  }

  #gone(cell: Cell): void {
    const entity = this.#byCell.get(cell)
    if (entity === undefined) return
    this.#byCell.delete(cell)
    this.#byId.delete(entity.id)
    const rest = this.in(entity.shard) - 1
    if (rest > 0) this.#perShard.set(entity.shard, rest)
    else this.#perShard.delete(entity.shard)
    const { id, shard } = entity
    const { version } = this.#spec
    const letters: Letter[] = [
      ...entity.left.map(({ message, meta }) => letterAgain(id, message, meta, version, this.#host.tenancy)),
      ...Array.from(entity.entering, (waiting) => waiting.leave()),
      ...entity.waiting,
    ]
    const { core, backlog, credits } = this.#host
    for (const letter of letters) backlog.keep(letter)
    if (this.#wouldStopAgain(entity)) {
      // Its successor would stop, too: questions are rejected with the reason.
      for (const letter of letters.splice(0)) {
        backlog.release(letter)
        if (letter.origin !== undefined) credits.taken(letter.origin, letter.entry === entry.offered ? 1 : 0)
        core.bury(letter.message, letter.meta, cell.ref, 'stopped', cell.end?.cause)
      }
    }
    // Before its successor is made.
    const { watchers } = this.#host
    if (entity.watchers.size > 0) for (const item of entity.watchers) watchers.ended(item, endOf(this.#spec.kind, entity))
    this.#host.gone(shard, id, letters)
    this.#leave()
  }

  /** An actor that did not start, or stopped by itself before it had taken a message, has no successor: that would stop as well, without end. */
  #wouldStopAgain({ cell, leaves, mailbox }: Entity): boolean {
    const { reason, unstarted } = cell.end!
    if (unstarted === true && reason === 'failure') return true
    return leaves === undefined && (reason === 'normal' || reason === 'failure') && !mailbox.hasGiven && this.#host.gate.held
  }

  /** Above all actors of the kind on this node. */
  #parentCell(): Cell {
    if (this.#parent !== undefined && this.#parent.end === undefined) return this.#parent
    const { core } = this.#host
    const behavior = receive<never>(
      () => same,
      (_ctx, signal) => {
        const cell = signal.type === 'ChildStopped' ? cellOf(signal.child) : undefined
        if (cell !== undefined) this.#gone(cell)
        return same
      },
    )
    const name = `sharded-${this.#spec.kind}`
    // Somebody may have the name: an actor of the user's, or the one above those of an earlier session, on its way out.
    const isTaken = core.guardian.children?.find(name) !== undefined
    this.#parent = spawnUnder(core.guardian, behavior, { name: isTaken ? `${name}-${core.nextUid()}` : name }).cell
    return this.#parent
  }
}

/** What those who watch an actor hear of its end. One that moves is put to sleep here, and made again elsewhere. */
function endOf(kind: string, { cell, leaves }: Entity): EntityEnd {
  const { reason, cause } = cell.end!
  if (leaves === 'lost') return { reason: 'failure', cause: cause ?? new OwnershipLost(kind, undefined) }
  const isPassivated = (leaves === 'moves' && reason === 'shutdown') || (leaves === 'silent' && reason === 'normal')
  return isPassivated ? { reason: 'passivated', cause: undefined } : { reason, cause }
}

/** The mailbox that the behavior itself asks for. */
function mailboxOf(behavior: unknown): NonNullable<BehaviorWithOptions<never>['options']['mailbox']> | undefined {
  let at = behavior
  while (at instanceof BehaviorWithOptions) {
    if (at.options.mailbox !== undefined) return at.options.mailbox
    at = at.behavior
  }
  return undefined
}

/** Whether it can stand in a path. */
function isName(id: string): boolean {
  return id.length <= 255 && !/[/#$\s\p{Cc}]/u.test(id)
}

// The kinds of mailbox that `spawn` takes. Each is a storage, which decides the order, under rules, which decide who
// gets in. Options are checked here, where they are written down.

import type { Cell } from '../cell/turn/cell.ts'
import { CellMailboxOwner } from '../cell/message/mailbox-owner.ts'
import { checkFactor, checkFunction, checkOneOf, checkPart, checkText, checkUpTo, checkWhole, readOptions, type Table } from '../values/checks.ts'
import { InvalidOption } from '../values/errors.ts'
import type { Grow, MailboxKind, MailboxOwner, MailboxQueue, Overflow } from '../values/mailbox.ts'
import { ContainedQueue } from '../queues/contained.ts'
import { GovernedQueue, type Rules } from '../queues/governed-mailbox.ts'
import { OwnKind } from '../queues/own-kind.ts'
import { PriorityHeap } from '../queues/priority-heap.ts'
import { MessageRing } from '../queues/ring.ts'

/** What every kind of mailbox takes. */
export interface MailboxOptions {
  /** Percent of the actor's attention that signals may take while messages wait (0–100); 100 if left out. */
  readonly systemShare?: number | undefined
  /** At how many messages `mailbox.pressure` says `high`; 10,000 if left out, or four fifths of the capacity if less. */
  readonly highWater?: number | undefined
  /** At how many it says `low` again; half of `highWater` if left out. */
  readonly lowWater?: number | undefined
}

/** A bound, and what happens beyond it. */
export interface BoundOptions extends MailboxOptions {
  /** How many messages it holds; without bound if left out. */
  readonly capacity?: number | undefined
  /** What becomes of a message that finds it full; `reject` if left out. Needs a `capacity`. */
  readonly overflow?: Overflow | undefined
}

/**
 * A mailbox that takes everything, in order; the default. Grows as needed and gives the memory back.
 *
 * Guarantees: nothing is refused. Fails: with `InvalidOption` on a wrong option.
 *
 * @example
 * system.spawn(worker(), { mailbox: unbounded({ highWater: 500 }) })
 */
export function unbounded(options: MailboxOptions = {}): MailboxKind {
  return governed('unbounded', () => new MessageRing(), readOptions('unbounded', options, table))
}

/**
 * A mailbox of at most `capacity` messages, in order.
 *
 * Guarantees: never holds more; every message beyond is dropped and counted, refused as a dead letter, or waits in
 * `offer`, as the policy says. Fails: with `InvalidOption` on a wrong capacity or policy.
 *
 * @example
 * system.spawn(ticker(), { mailbox: bounded(1_000, 'drop-oldest') })
 */
export function bounded(capacity: number, overflow: Overflow, options: MailboxOptions = {}): MailboxKind {
  checkWhole('capacity', capacity, 1)
  return governed('bounded', () => new MessageRing(), {
    ...readOptions('bounded', options, table),
    capacity,
    overflow: checkOverflow('overflow', overflow),
  })
}

/**
 * A mailbox that gives the message which `compare` puts first, as `Array.sort` would; equals in order of arrival.
 *
 * Guarantees: stable, O(log n). What a `tell` says with `priority` goes before what `compare` says: more is earlier,
 * 0 if left out. Fails: a `compare` that throws makes its two messages equal, and is logged.
 *
 * @example
 * system.spawn(triage(), { mailbox: priority<Case>((a, b) => b.severity - a.severity, { capacity: 100, overflow: 'reject' }) })
 */
export function priority<M>(compare: (a: M, b: M) => number, options: BoundOptions = {}): MailboxKind {
  checkFunction('compare', compare)
  const storage = (owner: MailboxOwner): MailboxQueue =>
    new PriorityHeap(compare as (a: unknown, b: unknown) => number, (cause) => owner.fault(cause))
  return governed('priority', storage, readOptions('priority', options, boundTable))
}

/**
 * The overflow policy that lets a bound rise, by doubling, up to `maxFactor` times its capacity; beyond that messages
 * are rejected. It falls back when the mailbox has emptied to half the capacity.
 *
 * @example
 * bounded(1_000, grow(4))
 */
export function grow(maxFactor: number): Grow {
  return { policy: 'grow', maxFactor: checkFactor('maxFactor', maxFactor) }
}

/**
 * A kind of mailbox from a storage of your own: the storage keeps the order, the bound and the policies are Troupe's.
 *
 * Guarantees: what `bounded` does, for any storage that passes `mailboxContract` of the test kit.
 * Fails: with `InvalidOption` on a wrong option.
 *
 * @example
 * const lifo = mailboxOf('lifo', () => new Stack(), { capacity: 100, overflow: 'drop-oldest' })
 */
export function mailboxOf(kind: string, storage: (owner: MailboxOwner) => MailboxQueue, options?: BoundOptions): MailboxKind
/**
 * A kind of mailbox that is yours altogether: its queues decide what they take, drop, refuse and let wait.
 *
 * Guarantees: each message is counted once, whatever the queue does with it. Fails: with `InvalidOption` on a wrong option.
 *
 * @example
 * const picky = mailboxOf({ kind: 'picky', create: (owner) => new Picky(owner) })
 */
export function mailboxOf(mailbox: MailboxKind): MailboxKind
export function mailboxOf(kind: string | MailboxKind, storage?: (owner: MailboxOwner) => MailboxQueue, options: BoundOptions = {}): MailboxKind {
  if (typeof kind === 'object') {
    const made = readOptions('mailboxOf', kind, kindTable)
    return new OwnKind(made.kind, (owner) => new ContainedQueue(owner, (inner) => made.create.call(kind, inner)), made, ownerOf)
  }
  checkText('kind', kind)
  checkFunction('storage', storage)
  return governed(kind, (owner) => new ContainedQueue(owner, storage!), readOptions('mailboxOf', options, boundTable))
}

const ownerOf = (cell: Cell): MailboxOwner => new CellMailboxOwner(cell)

/** A storage that keeps its word, under rules. */
function governed(kind: string, storage: (owner: MailboxOwner) => MailboxQueue, options: BoundOptions): MailboxKind {
  const rules = rulesOf(options)
  return new OwnKind(kind, (owner) => new GovernedQueue(storage(owner), owner, rules), options, ownerOf)
}

export function checkOverflow(option: string, value: unknown): Overflow {
  if (typeof value !== 'object') return checkOneOf<Overflow & string>(option, value, ['drop-newest', 'drop-oldest', 'reject', 'block'])
  return checkPart<Grow>(option, value, { policy: [checkOneOf, ['grow'], true], maxFactor: [checkFactor, 0, true] })
}

const table: Table<MailboxOptions> = { systemShare: [checkUpTo, 100], highWater: [checkWhole, 1], lowWater: [checkWhole, 0] }
const boundTable: Table<BoundOptions> = /* @__PURE__ */ Object.assign({}, table, { capacity: [checkWhole, 1] as const, overflow: checkOverflow })
const kindTable: Table<MailboxKind> = {
  kind: [checkText, 0, true],
  capacity: [checkWhole, 1],
  overflow: checkOverflow,
  systemShare: [checkUpTo, 100],
  create: [checkFunction, 0, true],
}

function rulesOf(options: BoundOptions): Rules {
  const { overflow, capacity = Infinity } = options
  if (overflow !== undefined && capacity === Infinity) throw new InvalidOption('overflow', overflow, 'it needs a capacity to go with')
  const { highWater = Math.min(10_000, Math.max(1, Math.ceil(capacity * 0.8))) } = options
  const { lowWater = Math.floor(highWater / 2) } = options
  if (lowWater >= highWater) throw new InvalidOption('lowWater', lowWater, `use less than highWater, which is ${highWater}`)
  return { capacity, overflow: overflow ?? 'reject', highWater, lowWater }
}

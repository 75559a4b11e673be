// What every mailbox must keep, as cases that any test runner can run: nothing is lost or doubled, meta stays with its
// message, bounds hold, and the cell's own needs (pill, stash, stop, restart) are met. Troupe's own kinds run it too.

import { type ActorRef, type Behavior, type MailboxKind, type MailboxOwner, type MailboxQueue, receive, same } from '@troupe/core'
import { checkBoolean, checkFunction, readOptions } from '@troupe/core/internal'
import { seeded } from './random.ts'
import { createTestKit } from './test-kit.ts'

/** One claim of a contract; `run` rejects where it does not hold. */
export interface ContractCase {
  readonly name: string
  run(): Promise<void>
}

/** What is promised beyond the contract. */
export interface MailboxContractOptions {
  /** Whether messages come out in the order they went in; true if left out. */
  readonly fifo?: boolean | undefined
}

/**
 * The contract of a kind of mailbox. `make` gives a fresh kind each time; its messages here are numbers.
 *
 * Guarantees: a kind that passes keeps the ledger and works with stash, poison pill, stop and restart.
 * Fails: each case rejects with what it found.
 *
 * @example
 * describe('my mailbox', () => {
 *   for (const claim of mailboxContract(() => lifo(100))) test(claim.name, () => claim.run())
 * })
 */
export function mailboxContract(make: () => MailboxKind, options: MailboxContractOptions = {}): readonly ContractCase[] {
  checkFunction('make', make)
  const { fifo = true } = readOptions('mailboxContract', options, { fifo: checkBoolean })
  const cases: ContractCase[] = [
    { name: 'an empty mailbox gives undefined and has size 0', run: () => emptyCase(make) },
    { name: 'what goes in comes out once, with its own meta', run: () => pairsCase(make) },
    { name: 'random pushes and takes lose and double nothing, and size is right throughout', run: () => randomCase(make) },
    { name: 'every message that is not let in is ended through the owner', run: () => overCase(make) },
    { name: 'the pill comes after all that was queued before it, also into a full mailbox', run: () => pillCase(make) },
    { name: 'unstashed messages come first, in order', run: () => stashCase(make) },
    { name: 'a stop leaves nothing behind and the ledger adds up', run: () => stopCase(make) },
    { name: 'a restart keeps what is queued', run: () => restartCase(make) },
  ]
  if (fifo) cases.push({ name: 'messages come out in the order they went in', run: () => orderCase(make) })
  return cases
}

function check(holds: boolean, claim: string): asserts holds {
  if (!holds) throw new Error(`The mailbox contract does not hold: ${claim}.`)
}

class RecordingOwner implements MailboxOwner {
  readonly ended: unknown[] = []
  drop(message: unknown): void {
    this.ended.push(message)
  }
  refuse(message: unknown): void {
    this.ended.push(message)
  }
  sent(): void {}
  isPill(): boolean {
    return false
  }
  pressure(): void {}
  fault(cause: unknown): void {
    throw new Error('The mailbox contract does not hold: the mailbox reported a fault.', { cause })
  }
}

const roomOf = (kind: MailboxKind, most: number): number => Math.min(kind.capacity ?? most, most)

function takeAll(queue: MailboxQueue): [unknown, unknown][] {
  const taken: [unknown, unknown][] = []
  for (let m = queue.shift(); m !== undefined; m = queue.shift()) taken.push([m, queue.meta])
  return taken
}

async function emptyCase(make: () => MailboxKind): Promise<void> {
  const queue = make().create(new RecordingOwner())
  check(queue.size === 0, 'a new one has size 0')
  check(queue.shift() === undefined, 'shift of an empty one is undefined')
  queue.push(1, undefined)
  queue.shift()
  check(queue.size === 0 && queue.shift() === undefined, 'emptied, it is as good as new')
}

async function pairsCase(make: () => MailboxKind): Promise<void> {
  const kind = make()
  const queue = kind.create(new RecordingOwner())
  const count = roomOf(kind, 100)
  for (let i = 1; i <= count; i++) queue.push(i, i % 3 === 0 ? { of: i } : undefined)
  check(queue.size === count, `size is ${count} after as many pushes, not ${queue.size}`)
  const taken = takeAll(queue)
  check(new Set(taken.map(([m]) => m)).size === count && taken.length === count, 'each comes out once')
  for (const [m, meta] of taken) {
    const right = (m as number) % 3 === 0 ? (meta as { of?: unknown } | undefined)?.of === m : meta === undefined
    check(right, `message ${String(m)} has its own meta`)
  }
}

async function orderCase(make: () => MailboxKind): Promise<void> {
  const kind = make()
  const queue = kind.create(new RecordingOwner())
  let next = 1
  let expected = 1
  for (let round = 0; round < 50; round++) {
    for (let i = 0; i < roomOf(kind, 7); i++) queue.push(next++, undefined)
    for (const [m] of takeAll(queue)) check(m === expected++, 'order is kept')
  }
}

async function randomCase(make: () => MailboxKind): Promise<void> {
  for (let seed = 1; seed <= 20; seed++) {
    const random = seeded(seed)
    const owner = new RecordingOwner()
    const kind = make()
    const queue = kind.create(owner)
    const seen = new Set<unknown>()
    let pushed = 0
    for (let step = 0; step < 500; step++) {
      if (random() < 0.6) queue.push(++pushed, undefined)
      else {
        const m = queue.shift()
        check(m === undefined || !seen.has(m), `seed ${seed}: ${String(m)} came out twice`)
        if (m !== undefined) seen.add(m)
      }
      check(
        pushed === seen.size + owner.ended.length + queue.size,
        `seed ${seed}: ${pushed} pushed, ${seen.size} taken, ${owner.ended.length} ended, ${queue.size} left`,
      )
      check(kind.capacity === undefined || typeof kind.overflow === 'object' || queue.size <= kind.capacity, `seed ${seed}: the bound holds`)
    }
  }
}

async function overCase(make: () => MailboxKind): Promise<void> {
  const owner = new RecordingOwner()
  const kind = make()
  const queue = kind.create(owner)
  const count = roomOf(kind, 100) * 3
  for (let i = 1; i <= count; i++) queue.push(i, undefined)
  const left = takeAll(queue).map(([m]) => m)
  check(new Set([...left, ...owner.ended]).size === count, 'taken and ended together are all that was pushed')
}

async function pillCase(make: () => MailboxKind): Promise<void> {
  const kit = createTestKit()
  const seen: number[] = []
  const kind = make()
  const ref = kit.system.spawn<number>(keeping(seen), { mailbox: kind })
  const count = roomOf(kind, 20)
  for (let i = 1; i <= count; i++) ref.tell(i)
  ref.stop({ after: 'queued' })
  ref.tell(1_000_000)
  await kit.settle()
  check(kit.system.phaseOf(ref) === 'terminated', 'the actor has stopped')
  check(!seen.includes(1_000_000), 'nothing from behind the pill was handled')
  check(seen.length >= count - 1, 'what was before it was handled')
  await kit.end()
}

function keeping(seen: number[]): Behavior<number> {
  return receive<number>((_ctx, n) => {
    seen.push(n)
    return same
  })
}

async function stashCase(make: () => MailboxKind): Promise<void> {
  const kit = createTestKit()
  const seen: number[] = []
  const kind = make()
  const room = roomOf(kind, 6)
  let left = room
  const ref = kit.system.spawn<number>(
    receive((ctx, n) => {
      if (left > 0) {
        ctx.stash.add(n)
        if (--left === 0) {
          for (let i = 1; i <= room; i++) ctx.self.tell(100 + i)
          ctx.stash.unstashAll()
        }
        return same
      }
      seen.push(n)
      return same
    }),
    { mailbox: kind },
  )
  for (let i = 1; i <= room; i++) ref.tell(i)
  await kit.settle()
  const unstashed = seen.slice(0, room)
  check(unstashed.every((n) => n <= 100) && new Set(unstashed).size === room, 'unstashed messages are handled before those in the mailbox')
  check(seen.length === 2 * room, 'the others are handled after them')
  await kit.end()
}

async function stopCase(make: () => MailboxKind): Promise<void> {
  const kit = createTestKit()
  const kind = make()
  const ref: ActorRef<number> = kit.system.spawn<number>(
    receive((ctx, n) => (n === 0 ? ctx.stop() : undefined)),
    { mailbox: kind },
  )
  await kit.settle()
  kit.system.suspend(ref, 'to fill it')
  await kit.settle()
  for (let i = 0; i < roomOf(kind, 50) * 2; i++) ref.tell(i)
  await kit.checkLedger()
  kit.system.stop(ref)
  await kit.settle()
  const { queued } = await kit.checkLedger()
  check(queued === 0, 'nothing is queued any more')
  await kit.end()
}

async function restartCase(make: () => MailboxKind): Promise<void> {
  const kit = createTestKit()
  const seen: number[] = []
  const kind = make()
  const ref = kit.system.spawn<number>(keeping(seen), { mailbox: kind })
  await kit.settle()
  kit.system.suspend(ref, 'to fill it')
  await kit.settle()
  const count = roomOf(kind, 20)
  for (let i = 1; i <= count; i++) ref.tell(i)
  kit.system.restart(ref)
  await kit.settle()
  check(seen.length === count, `all ${count} are handled by the next incarnation, not ${seen.length}`)
  await kit.end()
}

import { mailboxContract } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { bounded, grow, InvalidOption, type MailboxKind, mailboxOf, type MailboxQueue, priority, unbounded } from '@troupe/core'

/** The smallest mailbox somebody might write: an array, last in first out, nothing optional. */
class Stack implements MailboxQueue {
  meta: unknown = undefined
  readonly #items: [unknown, unknown][] = []
  get size(): number {
    return this.#items.length
  }
  push(message: unknown, meta: unknown): void {
    this.#items.push([message, meta])
  }
  shift(): unknown {
    const item = this.#items.pop()
    this.meta = item?.[1]
    return item?.[0]
  }
}

const kinds: readonly (readonly [string, () => MailboxKind, boolean])[] = [
  ['unbounded', () => unbounded(), true],
  ['drop-newest', () => bounded(10, 'drop-newest'), true],
  ['drop-oldest', () => bounded(10, 'drop-oldest'), true],
  ['reject', () => bounded(10, 'reject'), true],
  ['block', () => bounded(10, 'block'), true],
  ['grow', () => bounded(10, grow(4)), true],
  ['a capacity of one', () => bounded(1, 'drop-oldest'), true],
  ['priority', () => priority<number>((a, b) => a - b), false],
  ['priority, all equal', () => priority<number>(() => 0), true],
  ['priority, bounded, drop-oldest', () => priority<number>((a, b) => b - a, { capacity: 10, overflow: 'drop-oldest' }), false],
  ['a storage of one’s own under Troupe’s rules', () => mailboxOf('stack', () => new Stack(), { capacity: 10, overflow: 'drop-oldest' }), false],
]

for (const [name, make, fifo] of kinds)
  describe(`the mailbox contract holds for ${name}`, () => {
    for (const claim of mailboxContract(make, { fifo })) test(claim.name, () => claim.run())
  })

describe('the contract finds what is wrong', () => {
  class Forgetful extends Stack {
    override push(message: unknown, meta: unknown): void {
      if (message !== 5) super.push(message, meta)
    }
  }
  test('a storage that loses a message fails it', async () => {
    const cases = mailboxContract(() => mailboxOf('forgetful', () => new Forgetful()), { fifo: false })
    const failed = await Promise.all(
      cases.map((c) =>
        c.run().then(
          () => false,
          () => true,
        ),
      ),
    )
    expect(failed.filter(Boolean).length).toBeGreaterThan(2)
  })
  test('a stack fails the claim of order', async () => {
    const cases = mailboxContract(() => mailboxOf('stack', () => new Stack()))
    await expect(cases.at(-1)!.run()).rejects.toThrow('order is kept')
  })
})

test.each([
  ['capacity', () => bounded(0, 'reject')],
  ['capacity', () => bounded(-1, 'reject')],
  ['capacity', () => bounded(1.5, 'reject')],
  ['capacity', () => priority(() => 0, { capacity: 0 })],
  ['overflow', () => bounded(1, 'explode' as never)],
  ['overflow', () => priority(() => 0, { overflow: 'reject' })],
  ['maxFactor', () => grow(0.5)],
  ['overflow.maxFactor', () => bounded(1, { policy: 'grow', maxFactor: 0 })],
  ['systemShare', () => unbounded({ systemShare: -1 })],
  ['systemShare', () => bounded(1, 'reject', { systemShare: 101 })],
  ['systemShare', () => unbounded({ systemShare: NaN })],
  ['lowWater', () => unbounded({ highWater: 10, lowWater: 10 })],
  ['compare', () => priority(undefined as never)],
  ['kind', () => mailboxOf({ kind: '', create: () => new Stack() })],
  ['create', () => mailboxOf({ kind: 'own' } as never)],
  ['capacity', () => mailboxOf({ kind: 'own', capacity: 0, create: () => new Stack() })],
  ['overflow', () => mailboxOf({ kind: 'own', overflow: 'explode' as never, create: () => new Stack() })],
  ['systemShare', () => mailboxOf({ kind: 'own', systemShare: 101, create: () => new Stack() })],
  ['options', () => mailboxOf(null as never)],
])('a wrong %s is refused by name', (option, make) => {
  let thrown: unknown
  try {
    make()
  } catch (cause) {
    thrown = cause
  }
  expect(thrown).toBeInstanceOf(InvalidOption)
  expect((thrown as InvalidOption).option).toBe(option)
})

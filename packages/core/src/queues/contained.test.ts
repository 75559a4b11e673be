import { createTestKit, type TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import {
  type ActorRef,
  InvalidOption,
  type MailboxKind,
  mailboxOf,
  type MailboxOwner,
  type MailboxQueue,
  receive,
  same,
  type WaitingOffer,
} from '@troupe/core'

class Fifo implements MailboxQueue {
  meta: unknown = undefined
  readonly items: [unknown, unknown][] = []
  get size(): number {
    return this.items.length
  }
  push(message: unknown, meta: unknown): void {
    this.items.push([message, meta])
  }
  shift(): unknown {
    const [message, meta] = this.items.shift() ?? []
    this.meta = meta
    return message
  }
}

/** The same queue as a mailbox made by hand, and as a storage under Troupe's rules. */
const ways: Readonly<Record<string, (make: (owner: MailboxOwner) => MailboxQueue) => MailboxKind>> = {
  'a mailbox made by hand': (create) => mailboxOf({ kind: 'own', create }),
  'a storage of one’s own': (storage) => mailboxOf('own', storage),
}

function collecting(kit: TestKit, mailbox: MailboxKind): { readonly ref: ActorRef<number>; readonly seen: number[] } {
  const seen: number[] = []
  const ref = kit.system.spawn(
    receive<number>((_ctx, n) => {
      seen.push(n)
      return same
    }),
    { mailbox },
  )
  return { ref, seen }
}

for (const [name, kindOf] of Object.entries(ways))
  describe(name, () => {
    const misfits: Readonly<Record<string, [unknown, string]>> = {
      nothing: [undefined, 'mailbox'],
      'a number': [7, 'mailbox'],
      'one without size': [{ meta: undefined, push() {}, shift() {} }, 'mailbox.size'],
      'one whose size is not a number': [{ meta: undefined, size: NaN, push() {}, shift() {} }, 'mailbox.size'],
      'one that is not empty': [{ meta: undefined, size: 1, push() {}, shift() {} }, 'mailbox.size'],
      'one without push': [{ meta: undefined, size: 0, shift() {} }, 'mailbox.push'],
      'one without shift': [{ meta: undefined, size: 0, push() {} }, 'mailbox.shift'],
      'one without meta': [{ size: 0, push() {}, shift() {} }, 'mailbox.meta'],
      'one whose evict is not a function': [{ meta: undefined, size: 0, push() {}, shift() {}, evict: 1 }, 'mailbox.evict'],
    }
    for (const [what, [queue, option]] of Object.entries(misfits))
      test(`that is ${what} is refused at spawn, and leaves nothing behind`, async () => {
        const kit = createTestKit()
        let thrown: unknown
        try {
          collecting(
            kit,
            kindOf(() => queue as MailboxQueue),
          )
        } catch (cause) {
          thrown = cause
        }
        expect(thrown).toBeInstanceOf(InvalidOption)
        expect((thrown as InvalidOption).option).toBe(option)
        expect(kit.system.counts().active).toBe(0)
        await kit.end()
      })

    test('whose push throws makes a dead letter of the message, says so once, and tell does not throw', async () => {
      const kit = createTestKit()
      class Throwing extends Fifo {
        override push(message: unknown, meta: unknown): void {
          if (message === 2 || message === 3) throw new Error('no')
          super.push(message, meta)
        }
      }
      const { ref, seen } = collecting(
        kit,
        kindOf(() => new Throwing()),
      )
      for (const n of [1, 2, 3, 4]) ref.tell(n)
      await kit.settle()
      expect(seen).toEqual([1, 4])
      expect(kit.system.deadLetters.list()).toMatchObject([
        { message: 2, reason: 'mailbox-failed', recipient: ref },
        { message: 3, reason: 'mailbox-failed', recipient: ref },
      ])
      expect(kit.logs.filter((l) => l.message === 'the mailbox of the actor is faulty')).toHaveLength(1)
      expect(await kit.checkLedger()).toMatchObject({ sent: 4, handled: 2, deadLettered: 2 })
      await kit.end()
    })

    test('whose push throws after it took the message gives it once', async () => {
      const kit = createTestKit()
      class Late extends Fifo {
        override push(message: unknown, meta: unknown): void {
          super.push(message, meta)
          if (message === 1) throw new Error('too late')
        }
      }
      const { ref, seen } = collecting(
        kit,
        kindOf(() => new Late()),
      )
      for (const n of [1, 2, 3]) ref.tell(n)
      await kit.settle()
      expect(seen).toEqual([2, 3])
      expect(await kit.checkLedger()).toMatchObject({ sent: 3, handled: 2, deadLettered: 1 })
      await kit.end()
    })

    test('whose shift throws gives its messages in order of arrival', async () => {
      const kit = createTestKit()
      class Stuck extends Fifo {
        override shift(): unknown {
          throw new Error('stuck')
        }
      }
      const { ref, seen } = collecting(
        kit,
        kindOf(() => new Stuck()),
      )
      for (const n of [1, 2, 3]) ref.tell(n)
      await kit.settle()
      expect(seen).toEqual([1, 2, 3])
      kit.expectLog('the mailbox of the actor is faulty')
      await kit.checkLedger()
      await kit.end()
    })

    test('that doubles and forgets messages handles each once', async () => {
      const kit = createTestKit()
      class Muddled extends Fifo {
        override push(message: unknown, meta: unknown): void {
          if (message === 2) return
          super.push(message, meta)
          if (message === 1) super.push(message, meta)
        }
      }
      const { ref, seen } = collecting(
        kit,
        kindOf(() => new Muddled()),
      )
      for (const n of [1, 2, 3]) ref.tell(n)
      await kit.settle()
      expect(seen.toSorted((a, b) => a - b)).toEqual([1, 2, 3])
      expect(await kit.checkLedger()).toMatchObject({ sent: 3, handled: 3 })
      await kit.end()
    })

    test('whose size goes wrong leaves the ledger right', async () => {
      const kit = createTestKit()
      class Lying extends Fifo {
        override get size(): number {
          return this.items.length === 0 ? 0 : NaN
        }
      }
      const { ref, seen } = collecting(
        kit,
        kindOf(() => new Lying()),
      )
      ref.tell(1)
      ref.tell(2)
      expect(await kit.checkLedger()).toMatchObject({ sent: 2, queued: 2 })
      await kit.settle()
      expect(seen).toEqual([1, 2])
      await kit.end()
    })

    test('that tells its own actor from push, over and over, comes to an end', async () => {
      const kit = createTestKit()
      class Chatty extends Fifo {
        override push(message: unknown, meta: unknown): void {
          super.push(message, meta)
          if (seen.length === 0) ref.tell(0)
        }
      }
      const { ref, seen } = collecting(
        kit,
        kindOf(() => new Chatty()),
      )
      ref.tell(1)
      await kit.settle()
      expect(seen.length).toBeGreaterThan(1)
      expect(kit.system.deadLetters.list()[0]).toMatchObject({ message: 0, reason: 'mailbox-failed' })
      await kit.checkLedger()
      await kit.end()
    })

    test('that holds messages back when its actor stops leaves none behind', async () => {
      const kit = createTestKit()
      const { ref, seen } = collecting(
        kit,
        kindOf(() => new Fifo()),
      )
      await kit.settle()
      kit.system.suspend(ref, 'so that they stay')
      await kit.settle()
      class Holding extends Fifo {
        override shift(): unknown {
          return undefined
        }
      }
      const holding = collecting(
        kit,
        kindOf(() => new Holding()),
      )
      kit.system.suspend(holding.ref, 'so that they stay')
      await kit.settle()
      for (const r of [ref, holding.ref]) for (const n of [1, 2]) r.tell(n)
      ref.stop()
      holding.ref.stop()
      await kit.settle()
      expect([...seen, ...holding.seen]).toEqual([])
      expect(await kit.checkLedger()).toMatchObject({ sent: 4, deadLettered: 4, queued: 0 })
      await kit.end()
    })
  })

describe('a mailbox made by hand', () => {
  test('ends messages through its owner, each once, and none that it does not hold', async () => {
    const kit = createTestKit()
    class Picky extends Fifo {
      readonly #owner: MailboxOwner
      constructor(owner: MailboxOwner) {
        super()
        this.#owner = owner
      }
      override push(message: unknown, meta: unknown): void {
        if (message === 1) return super.push(message, meta)
        this.#owner.drop(message, meta, false)
        this.#owner.drop(message, meta, false)
        this.#owner.refuse('made up', undefined)
      }
    }
    const { ref, seen } = collecting(kit, mailboxOf({ kind: 'picky', create: (owner) => new Picky(owner) }))
    ref.tell(1)
    ref.tell(2)
    await kit.settle()
    expect(seen).toEqual([1])
    expect(await kit.checkLedger()).toMatchObject({ sent: 2, handled: 1, dropped: 1, deadLettered: 0 })
    kit.expectLog('the mailbox of the actor is faulty')
    await kit.end()
  })

  test('makes one message of several, and the meta of each is its own', async () => {
    const kit = createTestKit()
    class Summing extends Fifo {
      readonly #owner: MailboxOwner
      constructor(owner: MailboxOwner) {
        super()
        this.#owner = owner
      }
      override push(message: unknown, meta: unknown): void {
        const last = this.items.pop()
        if (last === undefined) return super.push(message, meta)
        this.#owner.drop(last[0], last[1], true)
        super.push((last[0] as number) + (message as number), meta)
      }
    }
    const { ref, seen } = collecting(kit, mailboxOf({ kind: 'summing', create: (owner) => new Summing(owner) }))
    for (const n of [1, 2, 3]) ref.tell(n)
    await kit.settle()
    expect(seen).toEqual([6])
    expect(await kit.checkLedger()).toMatchObject({ sent: 3, handled: 1, dropped: 2 })
    await kit.end()
  })

  test('lets an offer wait and counts it when it takes it; one that has no wait refuses it', async () => {
    const kit = createTestKit()
    class One extends Fifo {
      readonly #waiting: WaitingOffer[] = []
      readonly #owner: MailboxOwner
      constructor(owner: MailboxOwner) {
        super()
        this.#owner = owner
      }
      hasRoom(): boolean {
        return this.items.length === 0
      }
      wait(offer: WaitingOffer): void {
        this.#waiting.push(offer)
      }
      override shift(): unknown {
        const message = super.shift()
        const { meta } = this
        const offer = this.#waiting.shift()
        if (offer === undefined) return message
        this.#owner.sent()
        this.push(offer.message, offer.meta)
        offer.took()
        this.meta = meta
        return message
      }
    }
    const { ref, seen } = collecting(kit, mailboxOf({ kind: 'one', overflow: 'block', capacity: 1, create: (owner) => new One(owner) }))
    ref.tell(1)
    const offered = ref.offer(2)
    expect(await kit.checkLedger()).toMatchObject({ sent: 1 })
    await kit.settle()
    await offered
    expect(seen).toEqual([1, 2])
    expect(await kit.checkLedger()).toMatchObject({ sent: 2, handled: 2 })

    class Full extends Fifo {
      hasRoom(): boolean {
        return false
      }
    }
    const full = collecting(kit, mailboxOf({ kind: 'full', overflow: 'block', capacity: 1, create: () => new Full() }))
    await expect(full.ref.offer(1)).rejects.toMatchObject({ code: 'offer-refused' })
    await kit.end()
  })
})

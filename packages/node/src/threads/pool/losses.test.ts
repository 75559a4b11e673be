import { expect, test } from 'vitest'
import type { LedgerCounts } from '../wire/ledger-shape.ts'
import { Losses } from './losses.ts'
import type { Thread } from './thread.ts'

const none: LedgerCounts = { sent: 0, handled: 0, failed: 0, unhandled: 0, dropped: 0, deadLettered: 0, unknown: 0 }

/** A thread that has shown this before it was lost. */
function lost(epoch: number, shown: Partial<LedgerCounts>): Thread {
  return { epoch, toGone: 0, fromGone: 0, signs: { lastLedger: { ...none, ...shown } } } as unknown as Thread
}

test('two threads that are lost one after the other, and had sent to each other, never make fewer messages unknown than there were', () => {
  const ledger = { ...none, sent: 1 }
  const losses = new Losses(ledger)
  const seen: number[] = []
  const look = (): void => void seen.push(ledger.unknown)
  // The first handled one message of the main thread's and one of the second's; the second hangs, and cannot say so.
  losses.begin(lost(1, { handled: 2 }), 1, 0, [2])
  look()
  // Now the second is lost as well; a third, which took the place of the first, is still to be heard.
  const second = lost(2, { sent: 1 })
  losses.begin(second, 0, 0, [3])
  losses.gone(2)
  look()
  losses.counted(2, lost(3, {}), 0, 0)
  look()
  expect(seen).toEqual([0, 0, 0])
  expect(losses.settled).toBe(true)
  expect(ledger).toMatchObject({ sent: 2, handled: 2, unknown: 0 })
})

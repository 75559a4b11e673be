// The outside world: a bank that drops every fourth connection, and is now and then not there at all.

/** What the payment gateway talks to. */
export interface Bank {
  online: boolean
  /** Returns a receipt, or throws as a network does. */
  charge(cents: number): string
}

export function makeBank(): Bank {
  let calls = 0
  let receipts = 0
  return {
    online: true,
    charge(cents) {
      if (!this.online) throw new Error('bank unreachable')
      if (++calls % 4 === 3) throw new Error('connection reset by bank')
      return `R${String(++receipts).padStart(3, '0')}-${cents}`
    },
  }
}

// The auditor reads the journal and nothing else. It follows every transfer by its name: it leaves one account once and reaches the other
// once, with the same amount, and in between it is in flight. So money in accounts and money in flight is always the same sum.

import type { Journal } from '@troupe/persistence'
import { opening } from './account.ts'

type Entry =
  | { readonly type: 'sent'; readonly transfer: string; readonly to: string; readonly amount: number }
  | { readonly type: 'received'; readonly transfer: string; readonly from: string; readonly amount: number }

export interface Books {
  readonly transfers: number
  readonly inAccounts: number
  readonly inFlight: number
  /** How many transfers are in flight. */
  readonly underWay: number
  readonly money: number
}

export class Auditor {
  /** What there is in all, ever. */
  readonly total: number
  readonly balances: Map<string, number>
  /** What is wrong, in words. */
  readonly problems: string[] = []
  readonly #sent = new Map<string, { readonly from: string; readonly to: string; readonly amount: number; received: boolean }>()
  #inFlight = 0
  #underWay = 0
  #after: string | undefined

  constructor(accounts: readonly string[]) {
    this.total = accounts.length * opening
    this.balances = new Map(accounts.map((name) => [name, opening]))
  }

  /** Takes in what one account did. */
  take(account: string, entry: Entry): void {
    const { transfer, amount } = entry
    const known = this.#sent.get(transfer)
    const change = entry.type === 'sent' ? -amount : amount
    this.balances.set(account, (this.balances.get(account) ?? opening) + change)
    if (entry.type === 'sent') {
      if (known !== undefined) return this.#note(`${transfer} was sent twice`)
      this.#sent.set(transfer, { from: account, to: entry.to, amount, received: false })
      this.#inFlight += amount
      this.#underWay++
      return
    }
    if (known === undefined) return this.#note(`${transfer} reached ${account}, and nobody sent it`)
    if (known.received) return this.#note(`${transfer} reached ${account} twice`)
    if (known.to !== account || known.from !== entry.from || known.amount !== amount)
      this.#note(`${transfer} reached ${account} as something else than was sent`)
    known.received = true
    this.#inFlight -= known.amount
    this.#underWay--
  }
  #note(problem: string): void {
    if (this.problems.length < 20) this.problems.push(problem)
  }

  /** Reads what a journal has had since the last time. */
  async read(journal: Journal): Promise<void> {
    for await (const batch of journal.events({ kind: 'account', after: this.#after, once: true, batch: 1000 }))
      for (const { id, type, data, offset } of batch) {
        this.#after = offset
        // Troupe's own events, which begin with $, say how deliveries stand; the auditor believes money only.
        if (type === 'sent' || type === 'received') this.take(id.slice('account/'.length), JSON.parse(data) as Entry)
      }
  }

  has(transfer: string): boolean {
    return this.#sent.has(transfer)
  }
  get books(): Books {
    let inAccounts = 0
    for (const balance of this.balances.values()) inAccounts += balance
    const inFlight = this.#inFlight
    return { transfers: this.#sent.size, inAccounts, inFlight, underWay: this.#underWay, money: inAccounts + inFlight }
  }
  /** Whether all is as it must be. */
  get balanced(): boolean {
    return this.problems.length === 0 && this.books.money === this.total
  }
}

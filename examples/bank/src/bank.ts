// A bank: a system with a journal, and an actor for each account. Opening it after a crash is the same as opening it for the first time.

import { ActorSystem, type ActorRef, type Extension } from '@troupe/core'
import { type JournalSource, persistence } from '@troupe/persistence'
import { type Account, account } from './account.ts'

/** The accounts of a bank, by name; `find` of `persistence` looks here where a delivery goes. */
export class Accounts {
  readonly names: readonly string[]
  readonly #refs = new Map<string, ActorRef<Account>>()

  constructor(count: number) {
    this.names = Array.from({ length: count }, (_, i) => String(i + 1).padStart(4, '0'))
  }
  /** What a system needs to have these accounts. */
  extension(journal: JournalSource): Extension {
    return persistence({ journal, find: (_kind, key) => this.#refs.get(key), redeliverEvery: 200 })
  }
  /** Starts them all; what they are asked meanwhile waits until they have recovered. */
  open(system: ActorSystem): void {
    for (const name of this.names) this.#refs.set(name, system.spawn(account(name), { name: `account-${name}` }))
  }
  get(name: string): ActorRef<Account> {
    return this.#refs.get(name)!
  }
  /** What every account says that it has. */
  async balances(): Promise<ReadonlyMap<string, number>> {
    const asked = this.names.map(async (name) => [name, await this.get(name).ask({ type: 'balance' }, { timeout: 60_000 })] as const)
    return new Map(await Promise.all(asked))
  }
}

/** A bank that is open: all accounts have recovered. */
export interface Bank {
  readonly system: ActorSystem
  readonly accounts: Accounts
}

export async function openBank(journal: JournalSource, count: number): Promise<Bank> {
  const accounts = new Accounts(count)
  const system = ActorSystem.create('bank', { extensions: [accounts.extension(journal)] })
  accounts.open(system)
  await accounts.balances()
  return { system, accounts }
}

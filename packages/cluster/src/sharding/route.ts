// The way from this node to one shard: whose it is, and what waits for it here, each in the order in which it came.

import type { Session } from '../values/session.ts'
import type { Account } from './accounts.ts'
import { Fifo } from './fifo.ts'
import type { Item, Letter } from './letter.ts'
import type { Ownership } from './ownership.ts'

interface Passing {
  readonly item: Item
  readonly epoch: number
}

export class Route {
  readonly shard: number
  owner: Ownership | undefined
  /** What actors of this node sent. */
  readonly own: Fifo<Letter> = new Fifo()
  /** What was on its way already and is here again: what never left for a node that is lost, and what a shard of this node had. Before all else. */
  readonly back: Fifo<Item> = new Fifo()
  /** What came from others and cannot go on yet. */
  readonly passing: Fifo<Passing> = new Fifo()
  /** Accounts in which something waits. */
  readonly behind: Set<Account> = new Set()
  /** Who has what went by this node last, in its mailboxes too: when it is the owner no longer, that is on its way to the next. */
  wentTo: Session | undefined
  /** Without `via` it is waited for that the owner knows of an end. */
  barrier: { readonly token: number; readonly via: Session | undefined; readonly since: number } | undefined
  constructor(shard: number) {
    this.shard = shard
  }
}

/** Whether something is here that was on its way before whatever comes now. */
export function waits({ back, passing }: Route): boolean {
  return back.length > 0 || passing.length > 0
}

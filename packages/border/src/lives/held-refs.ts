// Reports to the homes of lasting actors which refs of them this place holds, and takes such reports about its own: counts the descriptions that are
// written and read. The counts are in Holds.

import type { Cell } from '@troupe/core/internal'
import type { Writer } from '../codec/writer.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { homeOf } from '../values/epochs.ts'
import type { Crossing } from '../way/crossing.ts'
import { LastingCell } from '../way/lives.ts'
import { ProxyCell } from '../way/remote-ref.ts'
import { Holds } from './holds.ts'

export class HeldRefs {
  readonly #exchange: Exchange
  readonly #holds: Holds

  /** `free` is called when no other place holds an actor of this one any more. */
  constructor(exchange: Exchange, free: (uid: number) => void) {
    this.#exchange = exchange
    this.#holds = new Holds(free)
    exchange.on('held', ({ uid, place, count }) => {
      if (!exchange.isLost(place)) this.#holds.told(uid, place, count)
    })
  }

  /** A ref is being described to a place: where it outlives its actor, its home counts that, unless the record is not sent. */
  described(cell: Cell, { peer }: Crossing, writer: Writer): void {
    const exchange = this.#exchange
    let add: (count: number) => void
    if (cell instanceof LastingCell) {
      if (exchange.isLost(peer)) return
      add = (count) => this.#holds.add(exchange.numberOf(cell), peer, count)
    } else if (cell instanceof ProxyCell && exchange.isProxy(cell) && cell.lives !== undefined && cell.home !== peer) {
      add = (count) => {
        const home = exchange.crossingTo(cell.home)
        home?.control({ op: 'held', uid: cell.far, place: peer, count })
        // Before the ref leaves: this place may be lost in between, and the other would hold a ref of which the home knows nothing.
        home?.flush()
      }
    } else return
    add(1)
    writer.regret(() => add(-1))
  }
  /** A description of a lasting actor elsewhere came. */
  read(cell: ProxyCell): void {
    this.#holds.read(cell.far)
  }
  /** The ref of an actor elsewhere was collected. */
  collected(uid: number): void {
    const count = this.#holds.collected(uid)
    if (count > 0) this.#exchange.reach(homeOf(uid), { op: 'held', uid, place: this.#exchange.epoch, count: -count })
  }
  /** A place is gone, with all that it held. */
  lost(peer: number): void {
    this.#holds.lost(peer)
  }
}

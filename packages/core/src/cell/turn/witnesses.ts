// A dispatcher has one place for whoever looks on; where several do, this stands there and tells each of them, in the order in which they came.

import type { Cell } from './cell.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Witness } from './witness.ts'

class Several implements Witness {
  readonly all: readonly Witness[]
  constructor(all: readonly Witness[]) {
    this.all = all
  }
  turn(cell: Cell): void {
    for (const one of this.all) one.turn(cell)
  }
  clockRead(now: number, fired: boolean): void {
    for (const one of this.all) one.clockRead?.(now, fired)
  }
  rest(): void {
    for (const one of this.all) one.rest()
  }
}

/** Lets somebody look on, from the next drain on. */
export function addWitness(dispatcher: Dispatcher, witness: Witness): void {
  const { witness: there } = dispatcher
  dispatcher.witness = there === undefined ? witness : new Several([...(there instanceof Several ? there.all : [there]), witness])
}

/** Does nothing where that one does not look on. */
export function removeWitness(dispatcher: Dispatcher, witness: Witness): void {
  const { witness: there } = dispatcher
  if (there === witness) dispatcher.witness = undefined
  else if (there instanceof Several) {
    const left = there.all.filter((one) => one !== witness)
    dispatcher.witness = left.length === 1 ? left[0] : new Several(left)
  }
}

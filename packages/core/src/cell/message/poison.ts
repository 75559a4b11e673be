// The pill that stops an actor after what was queued before it. It travels as a message, and is counted as one, but
// never reaches a handler.

import type { Cell } from '../turn/cell.ts'
import { Envelope } from './envelope.ts'

class Poison extends Envelope {
  override open(cell: Cell, _message: unknown): undefined {
    cell.dispatcher.ledger.handled++
    cell.takePill()
    return undefined
  }
}

export const poisonPill: unique symbol = Symbol('poison pill')
export const poison: Envelope = /* @__PURE__ */ new Poison()

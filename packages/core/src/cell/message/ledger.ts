// Where every message went, as plain counters that the hot path adds to. What is still under way (queued, stashed,
// in progress) is not counted here but found by walking the cells, so that the sum is a real check and no tautology.

export class Ledger {
  sent = 0
  handled = 0
  failed = 0
  unhandled = 0
  dropped = 0
  deadLettered = 0
  unknown = 0
}

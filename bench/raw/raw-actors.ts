// The floor: the least code that still deserves the name. One growing ring per actor, a ready ring, one call per
// message, 64 messages per turn, try/catch per turn, a yield every 5 ms. No supervision, no ledger, no signals.

export class RawRing<T> {
  slots: (T | undefined)[] = new Array<T | undefined>(8).fill(undefined)
  mask = 7
  head = 0
  size = 0
  push(item: T): void {
    if (this.size > this.mask) this.grow()
    this.slots[(this.head + this.size++) & this.mask] = item
  }
  shift(): T | undefined {
    if (this.size === 0) return undefined
    const item = this.slots[this.head]
    this.slots[this.head] = undefined
    this.head = (this.head + 1) & this.mask
    this.size--
    return item
  }
  grow(): void {
    const { slots, mask, head } = this
    const bigger = new Array<T | undefined>(slots.length * 2).fill(undefined)
    for (let i = 0; i < slots.length; i++) bigger[i] = slots[(head + i) & mask]
    this.slots = bigger
    this.mask = bigger.length - 1
    this.head = 0
  }
}

export class RawActor<M> {
  readonly queue: RawRing<M> = new RawRing<M>()
  readonly system: RawSystem
  readonly handler: (message: M) => void
  scheduled = false
  constructor(system: RawSystem, handler: (message: M) => void) {
    this.system = system
    this.handler = handler
  }
  tell(message: M): void {
    this.queue.push(message)
    if (!this.scheduled) {
      this.scheduled = true
      this.system.schedule(this as unknown as RawActor<never>)
    }
  }
  turn(): void {
    try {
      for (let n = 0; n < 64; n++) {
        const message = this.queue.shift()
        if (message === undefined) break
        this.handler(message)
      }
    } catch (cause) {
      console.error(cause)
    }
    if (this.queue.size > 0) this.system.schedule(this as unknown as RawActor<never>)
    else this.scheduled = false
  }
}

export class RawSystem {
  readonly #ready = new RawRing<RawActor<never>>()
  #awake = false
  schedule(actor: RawActor<never>): void {
    this.#ready.push(actor)
    if (this.#awake) return
    this.#awake = true
    setImmediate(this.#drain)
  }
  readonly #drain = (): void => {
    const end = performance.now() + 5
    for (let n = 1; ; n++) {
      const actor = this.#ready.shift()
      if (actor === undefined) break
      actor.turn()
      if ((n & 63) === 0 && performance.now() >= end) {
        setImmediate(this.#drain)
        return
      }
    }
    this.#awake = false
  }
}

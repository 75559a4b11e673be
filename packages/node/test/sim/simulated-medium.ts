// What lies between places of one simulated run: the real rings and boards, and bells whose wakes arrive when the seed says.
// A place that sleeps through a wake which is still under way is as asleep as on a real machine.

import type { Bell, Line } from '@troupe/border'
import { type Berth, Board, ByteRing, makeBoard, makeRing, type Medium, type Way } from '@troupe/node/internal'
import type { SimPlace, Simulation } from '@troupe/testkit/internal'

class SimulatedBell implements Bell {
  asleep = false
  readonly #meanwhile: () => void
  /** `meanwhile` is what others do between the last look of a thread and its sleep. */
  constructor(meanwhile: () => void) {
    this.#meanwhile = meanwhile
  }
  rest(): void {
    this.#meanwhile()
    this.asleep = true
  }
  rise(): void {
    this.asleep = false
  }
  /** Whether it was rung by this call: then a wake is owed. */
  ring(): boolean {
    if (!this.asleep) return false
    this.asleep = false
    return true
  }
}

/** A ring whose writer is looked at in the very moment in which it says that there is more to read: it must be there by then. */
class WatchedRing extends ByteRing {
  readonly #memory: SharedArrayBuffer
  readonly #sim: Simulation
  constructor(memory: SharedArrayBuffer, sim: Simulation) {
    super(memory)
    this.#memory = memory
    this.#sim = sim
  }
  override write(frame: Uint8Array, from: number, to: number): number {
    const hooked = Atomics as { store: typeof Atomics.store }
    const { store } = hooked
    let seen: Buffer | undefined
    hooked.store = ((view: Int32Array, index: number, value: number) => {
      const stored = store(view, index, value)
      seen = Buffer.from(new Uint8Array(this.#memory).slice())
      return stored
    }) as typeof Atomics.store
    try {
      return super.write(frame, from, to)
    } finally {
      hooked.store = store
      if (seen !== undefined && seen.compare(new Uint8Array(this.#memory)) !== 0)
        this.#sim.violate('T1', 'a frame was to be read before all of its bytes were written')
    }
  }
}

class SimulatedLine implements Line {
  readonly out: ByteRing
  readonly in: ByteRing
  readonly #bell: SimulatedBell
  readonly #wakePeer: () => void
  #onWake: (() => void) | undefined
  constructor(out: ByteRing, incoming: SharedArrayBuffer, bell: SimulatedBell, wakePeer: () => void) {
    this.out = out
    this.in = new ByteRing(incoming)
    this.#bell = bell
    this.#wakePeer = wakePeer
  }
  open(onWake: () => void): void {
    this.#onWake = onWake
  }
  /** A wake has come; nobody hears it before the line is open, or after it was closed. */
  woken(): void {
    this.#onWake?.()
  }
  ring(): void {
    if (this.#bell.ring()) this.nudge()
  }
  nudge(): void {
    this.#wakePeer()
  }
  close(): void {
    this.#onWake = undefined
  }
}

export class SimulatedMedium implements Medium {
  readonly mainBell: SimulatedBell
  readonly #sim: Simulation
  readonly #placeOf: (epoch: number) => SimPlace
  readonly #ringBytes: number
  readonly #bells = new Map<number, SimulatedBell>()
  constructor(sim: Simulation, placeOf: (epoch: number) => SimPlace, ringBytes: number) {
    this.#sim = sim
    this.#placeOf = placeOf
    this.#ringBytes = ringBytes
    this.mainBell = this.#makeBell(0)
  }

  #makeBell(epoch: number): SimulatedBell {
    const bell = new SimulatedBell(() => this.#sim.meanwhile(this.#placeOf(epoch)))
    this.#bells.set(epoch, bell)
    return bell
  }
  berth(epoch: number): Berth {
    const bell = this.#makeBell(epoch)
    const board = makeBoard()
    return {
      get asleep() {
        return bell.asleep
      },
      signs: new Board(board),
      parts: { kind: 'given', berth: { bell, signs: new Board(board) } },
    }
  }
  way(a: number, b: number): Way {
    const ab = makeRing(this.#ringBytes)
    const ba = makeRing(this.#ringBytes)
    const atA: SimulatedLine = new SimulatedLine(new WatchedRing(ab, this.#sim), ba, this.#bells.get(b)!, () => this.#wake(b, () => atB.woken()))
    const atB: SimulatedLine = new SimulatedLine(new WatchedRing(ba, this.#sim), ab, this.#bells.get(a)!, () => this.#wake(a, () => atA.woken()))
    return {
      atA: { kind: 'given', line: atA },
      atB: { kind: 'given', line: atB },
      standing: () => `${atB.in.used} bytes unread, and ${atA.in.used} back`,
    }
  }
  forget(epoch: number): void {
    this.#bells.delete(epoch)
  }
  /** Now, as one of the things the place may do next; or a while later. */
  #wake(epoch: number, wake: () => void): void {
    const place = this.#placeOf(epoch)
    const delay = this.#sim.oneOf([0, 0, 0, 1, 4])
    if (delay === 0) place.soon(wake)
    else place.after(delay, wake)
  }
}

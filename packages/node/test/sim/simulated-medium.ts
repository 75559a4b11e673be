// What lies between places of one simulated run: the real rings and boards, and bells whose wakes arrive when the seed says.
// A place that sleeps through a wake which is still under way is as asleep as on a real machine.

import { type Bell, type Berth, Board, ByteRing, type Line, makeBoard, makeRing, type Medium, type Way } from '@troupe/node/internal'
import type { SimPlace, Simulation } from '@troupe/testkit/internal'

class SimulatedBell implements Bell {
  asleep = false
  rest(): void {
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

class SimulatedLine implements Line {
  readonly out: ByteRing
  readonly in: ByteRing
  readonly #bell: SimulatedBell
  readonly #wakePeer: () => void
  #onWake: (() => void) | undefined
  constructor(out: SharedArrayBuffer, incoming: SharedArrayBuffer, bell: SimulatedBell, wakePeer: () => void) {
    this.out = new ByteRing(out)
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
  readonly mainBell: SimulatedBell = new SimulatedBell()
  readonly #sim: Simulation
  readonly #placeOf: (epoch: number) => SimPlace
  readonly #ringBytes: number
  readonly #bells = new Map<number, SimulatedBell>([[0, this.mainBell]])
  constructor(sim: Simulation, placeOf: (epoch: number) => SimPlace, ringBytes: number) {
    this.#sim = sim
    this.#placeOf = placeOf
    this.#ringBytes = ringBytes
  }

  berth(epoch: number): Berth {
    const bell = new SimulatedBell()
    this.#bells.set(epoch, bell)
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
    const atA: SimulatedLine = new SimulatedLine(ab, ba, this.#bells.get(b)!, () => this.#wake(b, () => atB.woken()))
    const atB: SimulatedLine = new SimulatedLine(ba, ab, this.#bells.get(a)!, () => this.#wake(a, () => atA.woken()))
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

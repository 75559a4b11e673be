// Threads that share memory: frames go by rings, a sleeper says so on its bell and is woken by a port, and what a thread
// shows of itself is on its board.

import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { Board, makeBoard } from './board.ts'
import type { Bell, Line } from '@troupe/border'
import { SharedBell } from './bell.ts'
import type { Berth, BerthParts, LineParts, Medium, OwnBerth, Way } from './medium.ts'
import { ByteRing, makeRing } from './ring.ts'

export class SharedLine implements Line {
  readonly out: ByteRing
  readonly in: ByteRing
  readonly #bell: SharedBell
  readonly #wake: MessagePort
  constructor(parts: LineParts & { readonly kind: 'shared' }) {
    this.out = new ByteRing(parts.out)
    this.in = new ByteRing(parts.in)
    this.#bell = new SharedBell(parts.bell)
    this.#wake = parts.wake
  }
  open(onWake: () => void): void {
    this.#wake.on('message', onWake)
    this.#wake.unref()
  }
  ring(): void {
    if (this.#bell.ring()) this.nudge()
  }
  nudge(): void {
    this.#wake.postMessage(0, [])
  }
  close(): void {
    this.#wake.close()
  }
}

export function sharedBerth(parts: BerthParts & { readonly kind: 'shared' }): OwnBerth {
  return { bell: new SharedBell(parts.bell), signs: new Board(parts.board) }
}

export class SharedMedium implements Medium {
  readonly mainBell: Bell
  readonly #ringBytes: number
  /** By the number of their thread. */
  readonly #bells: Map<number, SharedArrayBuffer> = new Map()
  constructor(ringBytes: number) {
    this.#ringBytes = ringBytes
    this.mainBell = new SharedBell(this.#makeBell(0))
  }
  #makeBell(epoch: number): SharedArrayBuffer {
    const bell = new SharedArrayBuffer(8)
    this.#bells.set(epoch, bell)
    return bell
  }
  forget(epoch: number): void {
    this.#bells.delete(epoch)
  }

  berth(epoch: number): Berth {
    const memory = this.#makeBell(epoch)
    const bell = new SharedBell(memory)
    const board = makeBoard()
    return {
      get asleep() {
        return bell.asleep
      },
      signs: new Board(board),
      parts: { kind: 'shared', bell: memory, board },
    }
  }

  way(a: number, b: number): Way {
    const ab = makeRing(this.#ringBytes)
    const ba = makeRing(this.#ringBytes)
    const wake = new MessageChannel()
    const unread = (ring: SharedArrayBuffer): number => new ByteRing(ring).used
    return {
      atA: { kind: 'shared', out: ab, in: ba, bell: this.#bells.get(b)!, wake: wake.port1 },
      atB: { kind: 'shared', out: ba, in: ab, bell: this.#bells.get(a)!, wake: wake.port2 },
      standing: () => `${unread(ab)} bytes unread, and ${unread(ba)} back`,
    }
  }
}

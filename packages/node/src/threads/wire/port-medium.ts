// Threads without shared memory: frames, acknowledgements and signs of life all go by message ports. Whatever comes by a port
// wakes its thread by itself, so there is nothing to ring.

import { MessageChannel } from 'node:worker_threads'
import type { Bell, Line } from '@troupe/border'
import type { Berth, BerthParts, LineParts, Medium, OwnBerth, Way } from './medium.ts'
import { PortSigns, PortSignsSeen } from './port-board.ts'
import { PortStream } from './port-stream.ts'

/** Only its own thread knows. */
class OwnBell implements Bell {
  asleep = false
  rest(): void {
    this.asleep = true
  }
  rise(): void {
    this.asleep = false
  }
}

export class PortLine implements Line {
  readonly out: PortStream
  readonly in: PortStream
  constructor(parts: LineParts & { readonly kind: 'ports' }) {
    this.out = new PortStream(parts.out, parts.size)
    this.in = new PortStream(parts.in, parts.size)
  }
  open(onWake: () => void): void {
    this.out.listen(onWake)
    this.in.listen(onWake)
  }
  ring(): void {}
  nudge(): void {}
  close(): void {
    this.out.close()
    this.in.close()
  }
}

export function portBerth(parts: BerthParts & { readonly kind: 'ports' }): OwnBerth {
  return { bell: new OwnBell(), signs: new PortSigns(parts.board) }
}

export class PortMedium implements Medium {
  readonly mainBell: Bell = new OwnBell()
  readonly #size: number
  constructor(size: number) {
    this.#size = size
  }
  forget(): void {}

  berth(): Berth {
    const board = new MessageChannel()
    return { asleep: false, signs: new PortSignsSeen(board.port1), parts: { kind: 'ports', board: board.port2 } }
  }

  way(): Way {
    const ab = new MessageChannel()
    const ba = new MessageChannel()
    return {
      atA: { kind: 'ports', out: ab.port1, in: ba.port2, size: this.#size },
      atB: { kind: 'ports', out: ba.port1, in: ab.port2, size: this.#size },
      standing: () => 'what is unread only those two know',
    }
  }
}

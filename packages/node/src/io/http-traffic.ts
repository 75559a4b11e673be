// The requests under way at an HTTP server, of all connections and of each: bounded, because a client may send thousands
// without waiting for an answer, and known to be over when their answer is out or their connection gone. Node tells the
// latter only of the request whose turn it is to be answered, not of those behind it.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** One request under way. */
export interface Passage {
  readonly over: boolean
  /** Called once it is over; it must not be yet. */
  whenOver(then: () => void): void
}

/** A connection: its requests under way, and the answer to the last that came. */
interface Line {
  readonly under: Set<UnderWay>
  last: ServerResponse
}

class UnderWay implements Passage {
  over = false
  #then: () => void = () => {}
  readonly #line: Line
  readonly #left: () => void
  constructor(line: Line, left: () => void) {
    this.#line = line
    this.#left = left
    line.under.add(this)
  }
  whenOver(then: () => void): void {
    this.#then = then
  }
  end(): void {
    if (this.over) return
    this.over = true
    this.#line.under.delete(this)
    this.#left()
    this.#then()
  }
}

export class Traffic {
  readonly #max: number
  readonly #maxPipelined: number
  readonly #lines = new WeakMap<Duplex, Line>()
  #count = 0
  constructor(max: number, maxPipelined: number) {
    this.#max = max
    this.#maxPipelined = maxPipelined
  }
  /** Undefined where there are too many. */
  enter({ socket }: IncomingMessage, response: ServerResponse): Passage | undefined {
    const line = this.#lines.get(socket) ?? this.#open(socket, response)
    line.last = response
    if (this.#count >= this.#max || line.under.size >= this.#maxPipelined) return undefined
    this.#count++
    const passage = new UnderWay(line, () => this.#count--)
    response.on('close', () => passage.end())
    return passage
  }
  /** Whether an answer has begun on that connection and not ended. */
  answering(socket: Duplex): boolean {
    const last = this.#lines.get(socket)?.last
    return last !== undefined && last.headersSent && !last.writableFinished
  }
  #open(socket: Duplex, last: ServerResponse): Line {
    const line = { under: new Set<UnderWay>(), last }
    this.#lines.set(socket, line)
    socket.once('close', () => {
      for (const passage of line.under) passage.end()
    })
    return line
  }
}

// The requests under way at an HTTP server, of all connections and of each: bounded, because a client may send thousands
// without waiting for an answer, and known to be over when their answer is out or their connection gone. Node tells the
// latter only of the request whose turn it is to be answered, not of those behind it. What else is to be said on a connection waits
// until they are over: a client takes what comes in the middle for a part of an answer.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { budgets } from '@troupe/core/internal'
import { atMost } from './later.ts'

/** One request under way. */
export interface RequestUnderWay {
  readonly over: boolean
  /** Called once it is over; it must not be yet. */
  whenOver(then: () => void): void
}

/** Milliseconds that answers under way are given when nothing can come behind them. */
const patience = 2000

/** A connection: its requests under way, and what waits for them. */
interface Line {
  readonly under: Set<UnderWay>
  last: (() => void) | undefined
}

class UnderWay implements RequestUnderWay {
  over = false
  #then: () => void = () => {}
  readonly #line: Line
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #left: () => void
  constructor(line: Line, request: IncomingMessage, response: ServerResponse, left: () => void) {
    this.#line = line
    this.#request = request
    this.#response = response
    this.#left = left
    line.under.add(this)
  }
  /** Has come as a whole. */
  get whole(): boolean {
    return this.#request.complete
  }
  get begun(): boolean {
    return this.#response.headersSent
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
    settle(this.#line)
  }
}

/** What waits for the whole requests of a connection has waited long enough. One that never came as a whole is not waited for. */
function settle(line: Line): void {
  if (line.last !== undefined && ![...line.under].some((underWay) => underWay.whole)) line.last()
}

export class Traffic {
  readonly #max: number
  readonly #maxPipelined: number
  readonly #lines = new WeakMap<Duplex, Line>()
  readonly #behind = new WeakSet<Line>()
  #count = 0
  constructor(max: number, maxPipelined: number) {
    this.#max = max
    this.#maxPipelined = maxPipelined
    budgets.onOwner?.('requests under way', () => this.#count)
  }
  /** Undefined where there are too many. */
  enter(request: IncomingMessage, response: ServerResponse): RequestUnderWay | undefined {
    const line = this.#lineOf(request.socket)
    if (this.#count >= this.#max || line.under.size >= this.#maxPipelined) return undefined
    this.#count++
    const underWay = new UnderWay(line, request, response, () => this.#count--)
    response.on('close', () => underWay.end())
    return underWay
  }
  /**
   * Calls `then` once every request that came whole on that connection has been answered, which may be now; only the first on each
   * connection. `cut`: one is still to be answered, or an answer has begun to one that did not come whole; whatever was said now would be
   * taken for a part of that.
   */
  behind(socket: Duplex, then: (cut: boolean) => void): void {
    const line = this.#lineOf(socket)
    if (this.#behind.has(line)) return
    this.#behind.add(line)
    const last = (): void => {
      cancel()
      line.last = undefined
      then([...line.under].some((underWay) => underWay.whole || underWay.begun))
    }
    const cancel = atMost(patience, last)
    line.last = last
    settle(line)
  }
  #lineOf(socket: Duplex): Line {
    return this.#lines.get(socket) ?? this.#open(socket)
  }
  #open(socket: Duplex): Line {
    const line: Line = { under: new Set(), last: undefined }
    this.#lines.set(socket, line)
    socket.once('close', () => {
      for (const underWay of line.under) underWay.end()
    })
    return line
  }
}

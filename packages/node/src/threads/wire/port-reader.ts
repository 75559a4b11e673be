// Reads what came by a port at the moment when somebody wants to know, without waiting for an event. Nothing is read from a
// port that is closed: in the moment of closing Node 20 does not survive the attempt.

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'

export class PortReader<T> {
  readonly #port: MessagePort
  readonly #take: (post: T) => void
  #closed = false
  constructor(port: MessagePort, take: (post: T) => void) {
    this.#port = port
    this.#take = take
    port.once('close', () => void (this.#closed = true))
  }
  /** Takes all that has come. */
  look(): void {
    if (this.#closed) return
    for (let came = receiveMessageOnPort(this.#port); came !== undefined; came = receiveMessageOnPort(this.#port)) this.#take(came.message as T)
  }
}

// Reads what came by a port at the moment when somebody wants to know, without waiting for an event. Nothing is read from a
// port that is closed: in the moment of closing Node 20 does not survive the attempt.

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'

/** Deno takes a message off the port a while before it calls who listens, and hands later ones to who looks meanwhile: there, who listens only waits. */
const overtakes = 'Deno' in globalThis

export class PortReader<T> {
  readonly #port: MessagePort
  readonly #take: (post: T) => void
  /** Looking would find nothing, or what is not next. */
  #blind = false
  constructor(port: MessagePort, take: (post: T) => void) {
    this.#port = port
    this.#take = take
    port.once('close', () => void (this.#blind = true))
  }
  /** From now on `onPost` is called after something has come that was not looked for. Keeps no process alive. */
  listen(onPost: () => void): void {
    this.#blind ||= overtakes
    this.#port.on('message', (post: T) => {
      this.#take(post)
      onPost()
    })
    this.#port.unref()
  }
  /** Takes all that has come. */
  look(): void {
    if (this.#blind) return
    for (let came = receiveMessageOnPort(this.#port); came !== undefined; came = receiveMessageOnPort(this.#port)) this.#take(came.message as T)
  }
}

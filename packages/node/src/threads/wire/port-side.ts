// What goes beside the bytes of a way, by a message port: read when the reader comes to it, and not when it arrives.

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { SidePort } from '@troupe/border'

export class PortSide implements SidePort {
  readonly #port: MessagePort
  constructor(port: MessagePort) {
    this.#port = port
  }
  post(value: unknown, moved: readonly unknown[]): void {
    this.#port.postMessage(value, moved as never)
  }
  take(): unknown {
    return receiveMessageOnPort(this.#port)?.message
  }
  close(): void {
    this.#port.close()
  }
}

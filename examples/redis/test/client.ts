// A small client for tests: sends commands, awaits replies in order.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { encodeRespRequest, respReplies, type RespReply } from '@troupe/node'
import { ActorSystem } from '@troupe/core'
import { redis, type RedisOptions } from '../src/server.ts'

export class Client {
  readonly socket: Socket
  readonly #decoder = respReplies()
  readonly #replies: RespReply[] = []
  readonly #waiting: ((reply: RespReply) => void)[] = []
  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.on('error', () => {})
    this.socket.on('data', (chunk) => {
      for (const reply of this.#decoder.push(chunk)) {
        const waiting = this.#waiting.shift()
        if (waiting === undefined) this.#replies.push(reply)
        else waiting(reply)
      }
    })
  }
  next(): Promise<RespReply> {
    const reply = this.#replies.shift()
    return reply === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(reply)
  }
  /** One command, written as words; its reply. */
  call(...args: string[]): Promise<RespReply> {
    this.socket.write(encodeRespRequest(args))
    return this.next()
  }
  async closed(): Promise<void> {
    if (!this.socket.closed) await once(this.socket, 'close')
  }
}

export async function withServer(
  body: (port: number, tools: { readonly advance: (ms: number) => void; readonly system: ActorSystem }) => Promise<void>,
  options: Omit<RedisOptions, 'clock' | 'port'> = {},
): Promise<void> {
  let now = 1_000_000
  const failures: string[] = []
  const quiet = (): void => {}
  const error = (fields: Readonly<Record<string, unknown>>): void => void failures.push(String(fields['actor']))
  const system = ActorSystem.create('redis-test', { keepAlive: false, logger: { debug: quiet, info: quiet, warn: quiet, error } })
  try {
    const server = system.spawn(redis({ port: 0, clock: () => now, ...options }), { name: 'redis' })
    const { port } = await server.ask({ type: 'address' })
    await body(port!, { advance: (ms) => void (now += ms), system })
  } finally {
    await system.shutdown()
  }
}

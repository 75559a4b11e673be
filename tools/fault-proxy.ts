// Stands between a client and a server on this machine, for tests, and harms connections by chance: it delays, splits into single bytes, stalls,
// ends or resets after a number of bytes of one direction. A seed decides, for each connection by itself and by nothing else; what it did is listed.
// Bytes that pass are never changed, doubled or reordered. Datagrams have a relay of their own that may do the last two.

import { createSocket, type Socket as Datagrams } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** Numbers from 0 up to 1, always the same for one seed. */
export function chance(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The faults of a connection. `end` closes both sides in order, `reset` tears them, `stall` lets nothing through any more, silently. */
export const faults = ['none', 'split', 'delay', 'stall', 'end', 'reset'] as const
export type Fault = (typeof faults)[number]

export interface Plan {
  readonly fault: Fault
  /** Which direction is counted and, by `split` and `delay`, harmed. */
  readonly way: 'to-server' | 'to-client'
  /** The bytes of that direction that pass before the fault. */
  readonly after: number
}

export interface FaultProxyOptions {
  readonly seed: number
  /** Among these; all if left out. */
  readonly faults?: readonly Fault[]
  /** The fault comes before this number of bytes has passed; 4,096 if left out. */
  readonly within?: number
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Node 20 never closes a socket that is reset while it is being ended. */
function tear(socket: Socket): void {
  if (socket.writableEnded || socket.connecting) socket.destroy()
  else socket.resetAndDestroy()
}

export class FaultProxy {
  /** The port to which clients connect. */
  readonly port: number
  /** The plan of each connection so far. */
  readonly plans: Plan[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #states = new Set<{ stalled: boolean }>()
  readonly #random: () => number
  readonly #faults: readonly Fault[]
  readonly #within: number
  #healed = false
  #closed = false

  private constructor(server: Server, target: number, { seed, faults: allowed = faults, within = 4096 }: FaultProxyOptions) {
    this.#server = server
    this.#random = chance(seed)
    this.#faults = allowed
    this.#within = within
    this.port = (server.address() as AddressInfo).port
    server.on('connection', (client) => this.#join(client, target))
  }

  /** Listens on a port of its own and passes on to `target` on this machine. */
  static async start(target: number, options: FaultProxyOptions): Promise<FaultProxy> {
    const server = createServer({ allowHalfOpen: true, noDelay: true })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new FaultProxy(server, target, options)
  }

  /** The number of open sockets, two for each connection. */
  get open(): number {
    return this.#sockets.size
  }

  /** From now on new connections are not harmed, and those that were chosen for a fault are torn. */
  heal(): void {
    this.#healed = true
    for (const socket of this.#sockets) tear(socket)
  }

  /** Lets nothing through any more on the connections that are there now, silently; new ones are as before. */
  fallSilent(): void {
    for (const state of this.#states) state.stalled = true
  }

  async close(): Promise<void> {
    this.#closed = true
    const closed = [once(this.#server, 'close'), ...[...this.#sockets].map((socket) => once(socket, 'close'))]
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all(closed)
  }

  #join(client: Socket, target: number): void {
    // It had been waiting to be accepted.
    if (this.#closed) return void client.destroy()
    const pick = (n: number): number => Math.floor(this.#random() * n)
    const plan: Plan = {
      fault: this.#faults[pick(this.#faults.length)]!,
      way: pick(2) === 0 ? 'to-server' : 'to-client',
      // Small numbers are as likely as large ones: what matters happens at the beginning of a message too.
      after: Math.floor(this.#within ** this.#random()),
    }
    if (!this.#healed) this.plans.push(plan)
    const chosen: Plan = this.#healed ? { ...plan, fault: 'none' } : plan
    const server = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => this.#sockets.delete(socket))
    }
    const stop = { stalled: false }
    this.#states.add(stop)
    server.on('close', () => this.#states.delete(stop))
    void this.#carry(client, server, chosen.way === 'to-server' ? chosen : undefined, stop)
    void this.#carry(server, client, chosen.way === 'to-client' ? chosen : undefined, stop)
  }

  async #carry(from: Socket, to: Socket, plan: Plan | undefined, stop: { stalled: boolean }): Promise<void> {
    const pass = async (bytes: Buffer): Promise<void> => {
      if (bytes.length > 0 && !to.write(bytes)) await Promise.race([once(to, 'drain'), once(to, 'close')])
    }
    let passed = 0
    try {
      // The other way of this socket goes on when this one is over.
      for await (const chunk of from.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        const left = plan === undefined ? Infinity : Math.max(0, plan.after - passed)
        passed += chunk.length
        if (stop.stalled) continue
        await pass(chunk.subarray(0, left))
        const rest = chunk.subarray(left)
        if (plan === undefined || rest.length === 0) continue
        if (plan.fault === 'split')
          for (const byte of rest.subarray(0, 2048)) {
            await pass(Buffer.of(byte))
            await new Promise((resolve) => setImmediate(resolve))
          }
        if (plan.fault === 'split') await pass(rest.subarray(2048))
        else if (plan.fault === 'none') await pass(rest)
        else if (plan.fault === 'delay') {
          await later(1 + this.#random() * 20)
          await pass(rest)
        } else if (plan.fault === 'stall') stop.stalled = true
        else if (plan.fault === 'end') {
          // Later bytes are read and dropped: a socket with unread bytes would end by a reset.
          stop.stalled = true
          from.end()
          to.end()
        } else {
          tear(from)
          tear(to)
          return
        }
      }
      if (!stop.stalled) to.end()
    } catch {
      // One side was torn: so is the other.
      if (!stop.stalled) tear(to)
    }
  }
}

/** Passes datagrams on between one client and `target`, and loses, doubles and delays some of them. */
export class LossyRelay {
  readonly port: number
  lost = 0
  doubled = 0
  late = 0
  readonly #near: Datagrams
  readonly #far: Datagrams
  readonly #timers = new Set<NodeJS.Timeout>()

  private constructor(near: Datagrams, far: Datagrams, target: number, random: () => number) {
    this.#near = near
    this.#far = far
    this.port = near.address().port
    let client = 0
    const pass = (send: () => void): void => {
      const luck = random()
      if (luck < 0.2) return void this.lost++
      if (luck < 0.6) return send()
      if (luck < 0.8) this.doubled++
      else this.late++
      const timer = setTimeout(() => {
        this.#timers.delete(timer)
        send()
      }, random() * 10)
      this.#timers.add(timer)
      if (luck < 0.8) send()
    }
    near.on('message', (data, { port }) => {
      client = port
      pass(() => far.send(data, target, '127.0.0.1'))
    })
    far.on('message', (data) => pass(() => near.send(data, client, '127.0.0.1')))
  }

  static async start(target: number, { seed }: { readonly seed: number }): Promise<LossyRelay> {
    const sockets = [createSocket('udp4'), createSocket('udp4')] as const
    for (const socket of sockets) {
      socket.bind(0, '127.0.0.1')
      await once(socket, 'listening')
      socket.on('error', () => undefined)
    }
    return new LossyRelay(...sockets, target, chance(seed))
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    const closed = [this.#near, this.#far].map((socket) => once(socket, 'close'))
    this.#near.close()
    this.#far.close()
    await Promise.all(closed)
  }
}

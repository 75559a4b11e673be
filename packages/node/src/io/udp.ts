// UDP: datagrams as messages. There is nobody to slow down, so what an owner cannot keep up with is dropped, and told.

import { createSocket } from 'node:dgram'
import { type ActorRef, type Behavior, same, unhandled } from 'troupe'
import { Binding } from './binding.ts'
import { Carrier, Credited } from './credit.ts'
import { type IoError, toIoError } from './errors.ts'
import { checkOptions, udpChecks } from './limits.ts'
import type { Bytes, Endpoint } from './protocol.ts'
import { resource } from './resource.ts'

/** What the owner of a UDP socket receives. */
export type UdpEvent =
  | { readonly type: 'bound'; readonly address: Endpoint; readonly socket: ActorRef<UdpCommand> }
  | {
      readonly type: 'datagram'
      readonly data: Buffer
      readonly from: { readonly host: string; readonly port: number }
      readonly socket: ActorRef<UdpCommand>
    }
  /** So many datagrams came while too many were unhandled. */
  | { readonly type: 'datagrams-dropped'; readonly count: number; readonly socket: ActorRef<UdpCommand> }
  | { readonly type: 'error'; readonly code: string; readonly error: IoError; readonly socket: ActorRef<UdpCommand> }
  | { readonly type: 'closed'; readonly socket: ActorRef<UdpCommand> }

/** What a UDP socket understands. */
export type UdpCommand =
  | { readonly type: 'send'; readonly data: Bytes; readonly port: number; readonly host?: string | undefined }
  | { readonly type: 'address'; readonly replyTo: ActorRef<Endpoint> }
  | { readonly type: 'close' }

/** Where to listen for datagrams, and who hears them. */
export interface UdpOptions {
  readonly owner: ActorRef<UdpEvent>
  /** 0, the system's choice, if left out. */
  readonly port?: number | undefined
  /** 127.0.0.1 if left out. */
  readonly host?: string | undefined
  readonly version?: 4 | 6 | undefined
  /** Datagrams unhandled before further ones are dropped; 1,024 if left out. */
  readonly credits?: number | undefined
  readonly reuseAddress?: boolean | undefined
}

class Datagram extends Credited {
  readonly type = 'datagram'
  readonly data: Buffer
  readonly from: { readonly host: string; readonly port: number }
  readonly socket: ActorRef<UdpCommand>
  constructor(data: Buffer, from: { readonly host: string; readonly port: number }, socket: ActorRef<UdpCommand>) {
    super()
    this.data = data
    this.from = from
    this.socket = socket
  }
}

function bind(options: UdpOptions): Behavior<UdpCommand> {
  const { owner, port = 0, version = 4, host = version === 4 ? '127.0.0.1' : '::1', credits = 1024, reuseAddress = false } = options
  checkOptions('udp.bind', options, udpChecks, ['owner'])
  return resource<UdpCommand, UdpEvent>(owner, ({ tell, report, finish }, ctx) => {
    const self = ctx.self
    const socket = createSocket({ type: version === 4 ? 'udp4' : 'udp6', reuseAddr: reuseAddress })
    const binding = new Binding(socket)
    let open = 0
    let dropped = 0
    let failure = false
    const carrier = new Carrier(self, {
      stale: false,
      undelivered: () => self.stop(),
      credited: () => {
        open--
        if (dropped === 0) return
        tell({ type: 'datagrams-dropped', count: dropped, socket: self })
        dropped = 0
      },
    })
    socket.on('listening', () => {
      const address = binding.bound()
      if (address !== undefined) tell({ type: 'bound', address, socket: self })
    })
    socket.on('message', (data, { address: from, port: number }) => {
      if (open >= credits) {
        dropped++
        return
      }
      open++
      owner.tell(new Datagram(data, { host: from, port: number }, self), carrier)
    })
    const fail = (what: string, cause: unknown): void => {
      const error = toIoError(what, cause)
      report(error, { type: 'error', code: error.code, error, socket: self })
    }
    socket.on('error', (cause) => {
      failure = true
      fail(`use UDP on ${host}:${port}`, cause)
      binding.closeNow()
    })
    socket.on('close', () => finish({ type: 'closed', socket: self }))
    const send = ({ data, port: to, host: at = host }: Extract<UdpCommand, { type: 'send' }>): void => {
      if (binding.closed) return
      try {
        socket.send(data, to, at, (cause) => {
          if (cause !== null && !binding.closed) fail(`send to ${at}:${to}`, cause)
        })
      } catch (cause) {
        // A port or an address that cannot be is thrown, not called back.
        fail(`send to ${at}:${to}`, cause)
      }
    }
    socket.bind({ port, address: host })
    return {
      onCommand: (m) => {
        switch (m.type) {
          case 'send':
            send(m)
            return same
          case 'address':
            binding.tellAddress(m.replyTo)
            return same
          case 'close':
            binding.closeNow()
            return same
          default:
            return unhandled
        }
      },
      release: () => {
        socket.removeAllListeners('message')
        if (!failure) socket.on('error', () => {})
        binding.closeNow()
      },
    }
  })
}

/**
 * UDP as an actor. Datagrams are told to the owner; those that it cannot keep up with are dropped and counted.
 *
 * Guarantees: at most `credits` datagrams unhandled; the socket closes with the actor and with its owner.
 * Fails: an `error` with `code`; unhandled, the actor fails.
 *
 * @example
 * const socket = ctx.spawn(udp.bind({ port: 0, owner: ctx.self }))
 * socket.tell({ type: 'send', data: 'hello', port: 4000 })
 */
export const udp: { readonly bind: typeof bind } = { bind }

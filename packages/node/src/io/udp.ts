// UDP: datagrams as messages. There is nobody to slow down, so what an owner cannot keep up with is dropped, and told; so
// is what the network cannot keep up with (outbox.ts).

import { createSocket, type RemoteInfo } from 'node:dgram'
import { type ActorRef, type Behavior, same, unhandled } from '@troupe/core'
import { budgets } from '@troupe/core/internal'
import { Binding } from './binding.ts'
import { checkBytes, sizeOf } from './bytes.ts'
import { Credited, LossyCarrier } from './credit.ts'
import { type IoError, toIoError } from './errors.ts'
import { checkOptions, udpChecks } from './limits.ts'
import { atMost } from './later.ts'
import { Outbox, type OutboxEvent } from './outbox.ts'
import type { Bytes, Endpoint, Flushed } from './protocol.ts'
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
  /** So many datagrams came while too many were unhandled, or the owner's mailbox was full. */
  | { readonly type: 'datagrams-dropped'; readonly count: number; readonly socket: ActorRef<UdpCommand> }
  /** So many were not sent: `write-overflow`, where `maxBuffered` was reached, or `closed`. Then `drained`, once there is room again. */
  | OutboxEvent<UdpCommand>
  | { readonly type: 'error'; readonly code: string; readonly error: IoError; readonly socket: ActorRef<UdpCommand> }
  | { readonly type: 'closed'; readonly socket: ActorRef<UdpCommand> }

/** What a UDP socket understands. */
export type UdpCommand =
  | { readonly type: 'send'; readonly data: Bytes; readonly port: number; readonly host?: string | undefined }
  | { readonly type: 'address'; readonly replyTo: ActorRef<Endpoint> }
  /** Answered when all that was sent has left this process. */
  | { readonly type: 'flush'; readonly replyTo: ActorRef<Flushed> }
  /** Takes nothing more, either way, and closes once all that was sent has left. */
  | { readonly type: 'close' }

/** Where to listen for datagrams, and who hears them. */
export interface UdpOptions {
  /** Who is told the datagrams that arrive. */
  readonly owner: ActorRef<UdpEvent>
  /** 0, the system's choice, if left out. */
  readonly port?: number | undefined
  /** 127.0.0.1 if left out, or ::1 with version 6. */
  readonly host?: string | undefined
  /** Of the Internet Protocol; 4 if left out. */
  readonly version?: 4 | 6 | undefined
  /** Datagrams unhandled before further ones are dropped; 1,024 if left out. */
  readonly credits?: number | undefined
  /** Bytes of datagrams on their way out, each with 256 more, beyond which further ones are dropped; 16 MiB if left out. */
  readonly maxBuffered?: number | undefined
  /** Milliseconds that datagrams on their way out are given when the actor stops; 1,000 if left out. */
  readonly linger?: number | undefined
  /** Whether other sockets may be bound to the same address; false if left out. */
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

function bind(given: UdpOptions): Behavior<UdpCommand> {
  const options = checkOptions('udp.bind', given, udpChecks, ['owner'])
  const { owner, port = 0, version = 4, host = version === 4 ? '127.0.0.1' : '::1', credits = 1024, reuseAddress = false } = options
  const { maxBuffered = 16 * 1024 * 1024, linger = 1000 } = options
  return resource<UdpCommand, UdpEvent>(owner, ({ tell, report, finish }, ctx) => {
    const { self } = ctx
    const socket = createSocket({ type: version === 4 ? 'udp4' : 'udp6', reuseAddr: reuseAddress })
    const binding = new Binding(socket)
    const gone = (): void => self.stop()
    const outbox = new Outbox<UdpCommand>(self, owner, maxBuffered, gone)
    let closing = false
    let open = 0
    let dropped = 0
    budgets.onOwner?.('credits of datagrams', () => open)
    const tellDropped = (): void => {
      if (dropped === 0) return
      const count = dropped
      dropped = 0
      tell({ type: 'datagrams-dropped', count, socket: self })
    }
    const source = {
      stale: false,
      undelivered: gone,
      credited: () => {
        open--
        tellDropped()
      },
    }
    const receive = (data: Buffer, { address, port: number }: RemoteInfo): void => {
      if (open >= credits) return void dropped++
      open++
      const datagram = new Datagram(data, { host: address, port: number }, self)
      // A mailbox that takes no more is a full buffer like any other.
      const refused = (): void => {
        dropped++
        if (datagram.settle()) open--
      }
      owner.tell(datagram, new LossyCarrier(self, source, refused))
    }
    const fail = (what: string, cause: unknown): void => {
      const error = toIoError(what, cause)
      report(error, { type: 'error', code: error.code, error, socket: self })
    }
    socket.on('listening', () => {
      const address = binding.bound()
      if (address !== undefined) tell({ type: 'bound', address, socket: self })
    })
    socket.on('message', receive)
    socket.on('error', (cause) => {
      fail(`use UDP on ${host}:${port}`, cause)
      binding.closeNow()
    })
    socket.on('close', () => {
      outbox.end()
      tellDropped()
      finish({ type: 'closed', socket: self })
    })
    const send = ({ data, port: to, host: at = host }: Extract<UdpCommand, { type: 'send' }>): void => {
      const number = outbox.enter(sizeOf(data))
      if (number === undefined) return
      const bytes = typeof data === 'string' ? Buffer.from(data) : data
      try {
        socket.send(bytes, to, at, (cause) => {
          // What the close cut off stays in the outbox, which says so at its end.
          if (cause !== null && binding.closed) return
          outbox.leave(number, bytes.byteLength)
          if (cause !== null) fail(`send to ${at}:${to}`, cause)
        })
      } catch (cause) {
        // A port or an address that cannot be is thrown, not called back.
        outbox.leave(number, bytes.byteLength)
        fail(`send to ${at}:${to}`, cause)
      }
    }
    /** Closes once all that was sent has left: Node forgets what waits for a name or for the network. */
    const close = (): void => {
      closing = true
      socket.removeListener('message', receive)
      outbox.whenEmpty(() => binding.closeNow())
    }
    socket.bind({ port, address: host })
    return {
      onCommand: (m) => {
        switch (m.type) {
          case 'send':
            if (closing || binding.closed) return unhandled
            try {
              checkBytes('data', m.data)
              send(m)
            } catch (cause) {
              fail('send a datagram', cause)
            }
            return same
          case 'flush':
            outbox.flush(m.replyTo)
            return same
          case 'address':
            binding.tellAddress(m.replyTo)
            return same
          case 'close':
            close()
            return same
          default:
            return unhandled
        }
      },
      release: (again) => {
        close()
        if (binding.closed) return
        // The next incarnation wants the port now.
        if (linger === 0 || again) return binding.closeNow()
        socket.once(
          'close',
          atMost(linger, () => binding.closeNow()),
        )
      },
    }
  })
}

/**
 * UDP as an actor. Datagrams are told to the owner; those that it cannot keep up with are dropped and counted, and so are
 * those to send that the network cannot keep up with.
 *
 * Guarantees: at most `credits` datagrams unhandled, and about `maxBuffered` bytes on their way out; what was sent before
 * `close` leaves before the socket closes; the socket closes with the actor and with its owner.
 * Fails: an `error` with `code`; unhandled, the actor fails.
 *
 * @example
 * const socket = ctx.spawn(udp.bind({ port: 0, owner: ctx.self }))
 * socket.tell({ type: 'send', data: 'hello', port: 4000 })
 */
export const udp: { readonly bind: typeof bind } = { bind }

// A stream that exists already becomes a connection actor.

import type { Duplex } from 'node:stream'
import type { ActorRef, Behavior } from 'troupe'
import { checkCan } from 'troupe/internal'
import { Once, ownedConnection } from './connection.ts'
import { adoptChecks, checkOptions } from './limits.ts'
import type { ConnectionCommand, ConnectionEvent, ConnectionOptions, SocketEvent } from './protocol.ts'
import { SocketLink } from './socket-link.ts'

/** Who hears of the stream, and of what. */
export interface AdoptOptions extends ConnectionOptions {
  readonly owner: ActorRef<ConnectionEvent>
  /** The events to tell; all if left out. An `error` that is not among them fails the actor. */
  readonly interest?: readonly SocketEvent['type'][] | undefined
}

/**
 * A connection actor around an existing duplex stream, which from then on belongs to it.
 *
 * Guarantees: the same messages and flow control as a TCP connection; the stream is destroyed with the actor.
 * Fails: an error of the stream that the owner does not handle fails the actor; a restart finds the stream gone and stops.
 *
 * @example
 * const connection = ctx.spawn(adopt(duplex, { owner: ctx.self, interest: ['data', 'closed'] }))
 */
export function adopt(stream: Duplex, given: AdoptOptions): Behavior<ConnectionCommand> {
  checkCan('stream', stream, ['a duplex stream', 'on', 'write', 'end', 'pause', 'resume', 'destroy'])
  const options = checkOptions('adopt', given, adoptChecks, ['owner'])
  return ownedConnection(new Once(new SocketLink(stream, 'use an adopted stream', options, options.interest)), options.owner, options)
}

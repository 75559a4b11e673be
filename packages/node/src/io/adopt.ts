// A stream or a file descriptor that exists already becomes a connection actor: one that reads and tells what came, or one
// that tells when there is something to read or room to write.

import type { Duplex, Readable, Writable } from 'node:stream'
import { type ActorRef, type Behavior, InvalidOption, same, unhandled } from '@troupe/core'
import { can, checkRef } from '@troupe/core/internal'
import { type Obey, obeySocket, Once, ownedConnection, ownedLink } from './connection.ts'
import { type Directions, streamOf } from './descriptor.ts'
import { adoptChecks, checkOptions } from './limits.ts'
import type { ConnectionCommand, ConnectionEvent, ConnectionOptions, SocketEvent } from './protocol.ts'
import type { ReadinessCommand, ReadinessEvent } from './readiness-protocol.ts'
import { ReadyLink } from './ready-link.ts'
import { SocketLink } from './socket-link.ts'

/** Who hears of the stream, and of what. */
export interface AdoptOptions extends ConnectionOptions {
  /** Who is told what happens on the socket. */
  readonly owner: ActorRef<ConnectionEvent>
  /** The events to tell; all if left out. An `error` that is not among them fails the actor. Without `data`, what comes in is read and thrown away. */
  readonly interest?: readonly SocketEvent['type'][] | undefined
}

/** Who hears that the stream can be read or written, and does both by itself. */
export interface ReadinessOptions extends Omit<ConnectionOptions, 'credits' | 'ack'> {
  /** Who is told that the socket can be read or written. */
  readonly owner: ActorRef<ReadinessEvent>
  /** `readable`, `writable` or both, and the other events to tell. An `error` that is not among them fails the actor. */
  readonly interest: readonly ReadinessEvent['type'][]
}

/** What can be adopted: a stream of bytes, or the number of a file descriptor of a socket, a pipe or a terminal. */
export type Adoptable = Duplex | Readable | Writable | number

/**
 * A connection actor around an existing stream or file descriptor, which from then on belongs to it.
 *
 * With `readable` or `writable` in `interest` nothing is read by itself: the owner is told that it can, and tells the
 * connection `read` and `write`. At most one notice of each kind is unhandled; the next comes after a `read` that left something, or a
 * write that left room.
 *
 * Guarantees: the same messages and flow control as a TCP connection; stream and descriptor are closed with the actor.
 * Fails: with `InvalidOption` on what is not a stream of bytes, on files, and on an interest in what the stream cannot do. An error of
 * the stream that the owner does not handle fails the actor; a restart finds the stream gone and stops.
 *
 * @example
 * const connection = ctx.spawn(adopt(duplex, { owner: ctx.self, interest: ['data', 'closed'] }))
 * const socket = ctx.spawn(adopt(fd, { owner: ctx.self, interest: ['readable', 'closed'] }))
 */
export function adopt(stream: Adoptable, options: ReadinessOptions): Behavior<ReadinessCommand>
export function adopt(stream: Adoptable, options: AdoptOptions): Behavior<ConnectionCommand>
export function adopt(stream: Adoptable, given: AdoptOptions | ReadinessOptions): Behavior<never> {
  const options = checkOptions('adopt', given, adoptChecks, ['owner'])
  const { interest } = options
  const wants = (type: string): boolean => interest?.includes(type as never) === true
  const ready = wants('readable') || wants('writable')
  if (ready) refuseData(options)
  const needs = { reads: wants('readable') || wants('data'), writes: wants('writable') }
  const taken = typeof stream === 'number' ? streamOf(stream, needs) : checkStream(stream, needs, interest)
  const what = typeof stream === 'number' ? `use file descriptor ${stream}` : 'use an adopted stream'
  // The writing end of a pipe; of a stream that somebody made it cannot be told from one whose peer has ended.
  const mute = typeof stream === 'number' && !taken.readable
  if (!ready) {
    const link = new SocketLink(taken, what, options, interest as AdoptOptions['interest'])
    link.mute = mute
    return ownedConnection(new Once(link), options.owner as never, options)
  }
  const link = new ReadyLink(taken, what, options, interest!)
  link.mute = mute
  return ownedLink<ReadyLink, ReadinessCommand>(new Once(link), options.owner, options, obeyReady)
}

const obeyReady: Obey<ReadyLink, ReadinessCommand> = (link, m, own) => {
  if (m.type !== 'read') return (m as { type: string }).type === 'ack' ? unhandled : (obeySocket(link, m as never, own) as never)
  checkRef('replyTo', m.replyTo)
  m.replyTo.tell(link.read(m.n))
  return same
}

/** What would read by itself, or bound such reading. */
function refuseData(options: AdoptOptions | ReadinessOptions): void {
  const { interest, credits, ack } = options as AdoptOptions
  if (interest?.includes('data') === true)
    throw new InvalidOption('interest', interest, "with 'data' everything is read and told; leave it out where you read by yourself")
  if (credits !== undefined) throw new InvalidOption('credits', credits, 'an owner that reads by itself has none: one notice is unhandled at most')
  if (ack !== undefined) throw new InvalidOption('ack', ack, 'an owner that reads by itself has nothing to acknowledge')
}

function checkStream(stream: unknown, needs: Directions, interest: unknown): Duplex {
  const given = stream as Partial<Duplex>
  if (!can(stream, 'on', 'destroy') || !(can(stream, 'read') || can(stream, 'write')))
    throw new InvalidOption('stream', stream, 'use a stream of node:stream, or the number of a file descriptor')
  if (given.readableObjectMode === true || given.writableObjectMode === true)
    throw new InvalidOption('stream', stream, 'it is in object mode; use a stream of bytes')
  // What has neither is one that cannot; one that is over has it, and is found so by its actor.
  if (needs.reads && given.readable === undefined) throw new InvalidOption('interest', interest, 'the stream can only be written')
  if (needs.writes && given.writable === undefined) throw new InvalidOption('interest', interest, 'the stream can only be read')
  return given as Duplex
}

// The actor of one WebSocket, whichever side connected it. In a file of its own: the public declarations must not name the types of `ws`.

import { type ActorRef, type Behavior, same, unhandled } from '@troupe/core'
import { handledConnection, type Obey, type Opening, ownedLink } from './connection.ts'
import type { WebSocketLink } from './websocket-link.ts'
import type { WebSocketCommand, WebSocketConnection, WebSocketEvent, WebSocketOptions } from './websocket-protocol.ts'

const obey: Obey<WebSocketLink, WebSocketCommand> = (link, m) => {
  switch (m.type) {
    case 'send':
      link.send(m.data)
      return same
    case 'close':
      link.close(m.code, m.reason)
      return same
    default:
      return unhandled
  }
}

/** The actor of a WebSocket, in the form that was asked for. */
export function webSocketActor(
  opening: Opening<WebSocketLink>,
  options: WebSocketOptions & {
    readonly owner?: ActorRef<never> | undefined
    readonly handler?: ((connection: WebSocketConnection) => Behavior<WebSocketEvent>) | undefined
  },
  accepted?: (connection: ActorRef<WebSocketCommand>) => void,
): Behavior<never> {
  const { handler, owner } = options
  return handler === undefined ? ownedLink(opening, owner, options, obey, accepted) : handledConnection(opening, handler, options)
}

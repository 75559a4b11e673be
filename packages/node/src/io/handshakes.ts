// The sockets of a TLS server that have not finished their handshake. Nobody else knows them yet, and a server that closes
// leaves them alone for two minutes.

import type { Socket } from 'node:net'
import type { Server } from 'node:tls'

/** Returns what ends them all. Those of unix sockets have no address to be told apart by, and are left to Node's own limit. */
export function handshakesOf(server: Server): () => void {
  const under = new Map<string, Socket>()
  const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
  server.on('connection', (socket) => {
    if (socket.remoteAddress === undefined) return
    const key = keyOf(socket)
    under.set(key, socket)
    socket.once('close', () => {
      if (under.get(key) === socket) under.delete(key)
    })
  })
  server.on('secureConnection', (socket) => void under.delete(keyOf(socket)))
  return () => {
    for (const socket of under.values()) socket.destroy()
  }
}

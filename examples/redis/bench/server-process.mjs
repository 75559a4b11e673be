// Waits for a server in a process of its own: until it says where it listens, or to the end of the measurement where it cannot.

import { once } from 'node:events'

export async function listening(server, port) {
  const ended = once(server, 'exit').then(([code]) => code)
  const code = await Promise.race([once(server.stdout, 'data').then(() => undefined), ended])
  if (code === undefined) return
  // The server itself has said why.
  console.error(`Nothing was measured: the server on port ${port} did not start. End what listens there, and try again.`)
  process.exit(1)
}

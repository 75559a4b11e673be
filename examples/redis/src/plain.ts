// The same server without actors, on node:net alone: what the benchmark compares with. Same parser, same commands.

import { createServer, type Server } from 'node:net'
import { respRequests } from '@troupe/node'
import { execute } from './commands/execute.ts'
import { Replies } from './replies.ts'
import { Store } from './store.ts'

export function plainServer(clock: () => number): Server {
  const store = new Store(clock)
  return createServer({ noDelay: true }, (socket) => {
    const requests = respRequests()
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      const commands: string[][] = []
      const out = new Replies()
      try {
        requests.read(chunk, commands)
      } catch (cause) {
        out.error(String(cause))
        socket.end(out.text, 'latin1')
        return
      }
      store.tick()
      for (const args of commands) execute(store, args, out)
      socket.write(out.text, 'latin1')
    })
  })
}

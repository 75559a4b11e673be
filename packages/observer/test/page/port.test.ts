// A port that is free on one loopback address only: `localhost` may mean either, so a page needs both.

import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { ActorSystem } from '@troupe/core'
import { expect, test } from 'vitest'
import { serveGuarded } from '../../src/server/guarded.ts'
import { openPage } from './client.ts'

/** A listener; undefined where the machine lacks that address. */
async function listen(host: string, port: number): Promise<Server | undefined> {
  const server = createServer()
  try {
    server.listen({ host, port, exclusive: true })
    await once(server, 'listening')
    return server
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EADDRNOTAVAIL' || (cause as NodeJS.ErrnoException).code === 'EAFNOSUPPORT') return undefined
    throw cause
  }
}
const close = (server: Server): Promise<void> => new Promise((resolve) => void server.close(() => resolve()))

test('a page whose port is taken on ::1 only is refused, and leaves nothing open', async ({ skip }) => {
  const other = await listen('::1', 0)
  if (other === undefined) return skip('there is no ::1 here')
  const { port } = other.address() as { port: number }
  const system = ActorSystem.create('town', { logger: false })
  try {
    await expect(openPage(system, { port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await expect(serveGuarded({ files: {}, port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    // The address that was free is free again.
    const again = await listen('127.0.0.1', port)
    await close(again!)
  } finally {
    await close(other)
    await system.shutdown()
  }
})

// A program that adopts one of the descriptors it was started with, answers in capital letters, and says how it ended.

import { adopt, type ReadinessEvent } from '@troupe/node'
import { ActorSystem, receive, same, setup } from '@troupe/core'

const fd = Number(process.argv[2])
const system = ActorSystem.create('fd', { askTimeout: 30_000 })
system.spawn(
  setup<ReadinessEvent>((ctx) => {
    ctx.spawn(adopt(fd, { owner: ctx.self, interest: ['readable', 'error', 'closed'] }))
    return receive<ReadinessEvent>(async (c, m) => {
      if (m.type === 'readable') {
        const found = await c.ask(m.connection, { type: 'read', n: 4 })
        if (found.type === 'bytes') m.connection.tell({ type: 'write', data: found.chunk.toString().toUpperCase() })
        if (found.type === 'bytes' && found.chunk.includes('.')) m.connection.tell({ type: 'end' })
      } else {
        console.info(m.type === 'closed' ? `closed: ${m.reason}` : `error: ${m.type === 'error' ? m.code : m.type}`)
        if (m.type === 'closed') void system.shutdown()
      }
      return same
    })
  }),
)

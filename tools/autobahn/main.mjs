// `npm run autobahn`: Autobahn's cases against an echo server of `@troupe/node`. Ends with 1 where one fails, or the suite
// cannot be had here.

import { ActorSystem, receive, same, unhandled } from '@troupe/core'
import { http } from '@troupe/node'
import { anyText, commandLine } from '@troupe/testkit/internal'
import { testsuite } from './testsuite.mjs'

const { cases } = commandLine({
  name: 'npm run autobahn',
  about: 'Runs the cases of autobahntestsuite (PyPI, Python 2.7) against an echo server. Compression is not offered, so 12.* and 13.* are left out.',
  options: { cases: anyText('cases', 'just these, such as 9.3.*,9.4.1', '*') },
})

/** Verdicts of the suite for a case that holds. */
const good = new Set(['OK', 'INFORMATIONAL'])
/** `ws` checks UTF-8 once a message is whole, not at the first bad fragment: late, and still a refusal. */
const late = /^6\.4\.\d$/

const run = await testsuite()
if (typeof run === 'string') {
  console.log(run)
  process.exitCode = 1
} else {
  const system = ActorSystem.create('autobahn', { keepAlive: false })
  const owner = system.spawn(receive(() => unhandled))
  const echo = (connection) =>
    receive((_ctx, m) => {
      if (m.type === 'text') connection.send(m.text)
      if (m.type === 'binary') connection.send(m.data)
      return same
    })
  const limits = { maxMessage: 16 * 1024 * 1024, maxBuffered: 64 * 1024 * 1024 }
  const server = system.spawn(http.serve({ port: 0, owner, websocket: { handler: echo, ...limits } }))
  const { port } = await server.ask({ type: 'address' })
  const outcomes = Object.entries(await run(`ws://127.0.0.1:${port}`, cases.split(','), ['12.*', '13.*']))
  const bad = outcomes.filter(
    ([number, { behavior, behaviorClose }]) => !(good.has(behavior) || (behavior === 'NON-STRICT' && late.test(number))) || !good.has(behaviorClose),
  )
  for (const [number, { behavior, behaviorClose }] of bad) console.log(`${number}: ${behavior}, closing: ${behaviorClose}`)
  console.log(`${outcomes.length - bad.length} of ${outcomes.length} cases hold`)
  if (bad.length > 0 || outcomes.length === 0) process.exitCode = 1
  await system.shutdown()
}

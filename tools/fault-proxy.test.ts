// The promises of the tests' proxy: each fault does what its name says, only the seed decides, and bytes that pass are unchanged.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { chance, type Fault, FaultProxy, faults } from './fault-proxy.ts'

const text = Buffer.from(Array.from({ length: 20_000 }, (_, i) => i % 251))

/** Sends `text` to a server that sends it back, through a proxy with one kind of fault, and says what came back and how it ended. */
async function through(fault: Fault, seed: number): Promise<{ got: Buffer; end: string; proxy: FaultProxy }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined)
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = await FaultProxy.start((server.address() as AddressInfo).port, { seed, faults: [fault] })
  const client = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true })
  const parts: Buffer[] = []
  let end = 'silence'
  client.on('data', (part: Buffer) => parts.push(part))
  client.on('error', () => (end = 'reset'))
  client.on('end', () => (end = 'end'))
  client.end(text)
  await Promise.race([once(client, 'close').catch(() => undefined), new Promise((resolve) => setTimeout(resolve, fault === 'stall' ? 200 : 20_000))])
  client.destroy()
  await proxy.close()
  server.close()
  await once(server, 'close')
  return { got: Buffer.concat(parts), end, proxy }
}

test.each(faults)('%s does what it says, and what comes through is the beginning of what was sent', async (fault) => {
  for (const seed of [1, 2, 3]) {
    const { got, end, proxy } = await through(fault, seed)
    expect(text.subarray(0, got.length).equals(got)).toBe(true)
    const whole = fault === 'none' || fault === 'split' || fault === 'delay'
    expect([got.length === text.length, end]).toEqual([whole, whole ? 'end' : fault === 'stall' ? 'silence' : fault])
    expect(proxy.plans).toHaveLength(1)
    expect(proxy.open).toBe(0)
  }
})

test('a seed gives the same numbers, and another seed others', () => {
  const take = (seed: number): number[] => {
    const next = chance(seed)
    return Array.from({ length: 100 }, () => next())
  }
  expect(take(7)).toEqual(take(7))
  expect(take(7)).not.toEqual(take(8))
  expect(take(7).every((n) => n >= 0 && n < 1)).toBe(true)
})

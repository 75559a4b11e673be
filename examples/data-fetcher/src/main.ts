// A service on this machine, slow and failing now and then, behind the fetcher.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ActorSystem } from '@troupe/core'
import { DataFetcher, type User } from './data-fetcher.ts'

let requests = 0
const service = createServer((request, response) => {
  const id = Number(request.url?.split('/').at(-1))
  if (++requests === 2) response.writeHead(503).end()
  else setTimeout(() => response.end(JSON.stringify({ id, name: `user ${id}` })), 20)
})
await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
const { port } = service.address() as AddressInfo

const load = async (id: number, signal: AbortSignal): Promise<User> => {
  const response = await fetch(`http://127.0.0.1:${port}/users/${id}`, { signal })
  if (!response.ok) throw new Error(`the service says ${response.status}`)
  return (await response.json()) as User
}

await using system = ActorSystem.create('fetching')
const fetcher = system.spawn(DataFetcher, { name: 'fetcher', args: [load], reentrant: true, supervision: 'resume' })
const users = await Promise.all([1, 2, 1, 1, 2].map((id) => fetcher.ask.fetchUser(id)))
console.log(users.map((user) => user.name).join(', '))
console.log(`${users.length} questions, ${requests} requests, ${await fetcher.ask.cached()} users cached`)
service.closeAllConnections()
service.close()

import { createTestKit } from '@troupe/testkit'
import { delay } from '@troupe/core'
import { expect, test } from 'vitest'
import { DataFetcher, type LoadUser } from './data-fetcher.ts'

test('one request for each user, however many ask, and the cache is not held up by the slow', async () => {
  const kit = createTestKit()
  const loads: number[] = []
  const load: LoadUser = async (id, signal) => {
    loads.push(id)
    await delay(id, { signal, clock: kit.system.clock })
    return { id, name: `user ${id}` }
  }
  const fetcher = kit.system.spawn(DataFetcher, { args: [load], reentrant: true })
  const order: number[] = []
  const asked = [500, 10, 500].map((id) => fetcher.ask.fetchUser(id).then((user) => order.push(user.id)))
  await kit.advance(20)
  const again = fetcher.ask.fetchUser(10).then((user) => order.push(user.id))
  await kit.advance(500)
  await Promise.all([...asked, again])
  expect([loads, order]).toEqual([
    [500, 10],
    [10, 10, 500, 500],
  ])
  await kit.end()
})

test('a failing request is tried again; one that keeps failing is not cached, and fails only who asked', async () => {
  const kit = createTestKit()
  let failing = true
  let attempts = 0
  const load: LoadUser = async (id) => {
    attempts++
    if (failing) throw new Error('503')
    return { id, name: 'late' }
  }
  const fetcher = kit.system.spawn(DataFetcher, { args: [load], reentrant: true, supervision: 'resume' })
  const first = fetcher.ask.fetchUser(1).catch((cause: { code: string }) => cause.code)
  await kit.advance(1_000)
  expect([await first, attempts]).toEqual(['retries-exhausted', 3])
  failing = false
  const second = fetcher.ask.fetchUser(1)
  await kit.settle()
  expect((await second).name).toBe('late')
  await kit.end()
})

test('requests end with the actor', async () => {
  const kit = createTestKit()
  let aborted = false
  const load: LoadUser = (_id, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => ((aborted = true), reject(new Error('ended')))))
  const fetcher = kit.system.spawn(DataFetcher, { args: [load], reentrant: true })
  const asked = fetcher.ask.fetchUser(1).catch((cause: { code: string }) => cause.code)
  await kit.settle()
  fetcher.stop()
  await kit.advance(10)
  expect(aborted).toBe(true)
  await asked
  await kit.end()
})

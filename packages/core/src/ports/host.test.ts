// The host's microtasks: in order, in a context that belongs to nobody, and none of them in the way of another.

import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test } from 'vitest'
import { hostSoon } from './host.ts'

const rest = async (): Promise<void> => {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

test('tasks run in the order they came, those that tasks add included', async () => {
  const seen: string[] = []
  const note = (name: string): (() => void) => {
    return () => void seen.push(name)
  }
  hostSoon(() => {
    seen.push('a')
    hostSoon(note('d'))
    hostSoon(note('e'))
  })
  hostSoon(() => {
    seen.push('b')
    hostSoon(note('f'))
  })
  hostSoon(note('c'))
  expect(seen).toEqual([])
  await rest()
  expect(seen).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
})

test('a single task that adds several keeps their order too', async () => {
  const seen: string[] = []
  hostSoon(() => {
    for (const name of ['a', 'b', 'c']) hostSoon(() => void seen.push(name))
  })
  await rest()
  expect(seen).toEqual(['a', 'b', 'c'])
})

test('a task sees no store of whoever asked for it, awake or asleep', async () => {
  const storage = new AsyncLocalStorage<string>()
  const seen: (string | undefined)[] = []
  const look = (): void => void seen.push(storage.getStore())
  await storage.run('outer', async () => {
    hostSoon(() => {
      look()
      hostSoon(look)
    })
    await rest()
    hostSoon(look)
    await rest()
    expect(storage.getStore()).toBe('outer')
  })
  expect(seen).toEqual([undefined, undefined, undefined])
})

test('a task that throws is heard of by the host, and the others still run', async () => {
  const seen: string[] = []
  const heard = new Promise<unknown>((resolve) => {
    const before = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.once('uncaughtException', (cause) => {
      for (const listener of before) process.on('uncaughtException', listener)
      resolve(cause)
    })
  })
  hostSoon(() => {
    throw new Error('lost')
  })
  hostSoon(() => void seen.push('next'))
  await rest()
  expect(seen).toEqual(['next'])
  expect(await heard).toMatchObject({ message: 'lost' })
})

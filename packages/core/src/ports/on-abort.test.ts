import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { bounded, Channel, delay, receive, same, select, TaskGroup } from '@troupe/core'
import { listenTo } from './on-abort.ts'

/** A signal that counts the listeners that the host has for it. */
const counted = (): { readonly source: AbortController; readonly listeners: () => number } => {
  const source = new AbortController()
  const { signal } = source
  let listeners = 0
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args))
  signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove(...args))
  return { source, listeners: () => listeners }
}

test('all who listen are called once, in order, unless they stopped listening', () => {
  const { source } = counted()
  const heard: string[] = []
  listenTo(source.signal, () => heard.push('a'))
  const stop = listenTo(source.signal, () => heard.push('b'))
  const stopLater = listenTo(source.signal, () => heard.push('c'))
  listenTo(source.signal, () => {
    heard.push('d')
    stopLater()
  })
  stop()
  source.abort()
  source.abort()
  stop()
  expect(heard).toEqual(['a', 'c', 'd'])
})

test('the same signal serves again after everybody had left', () => {
  const { source, listeners } = counted()
  let heard = 0
  listenTo(source.signal, () => heard++)()
  expect(listeners()).toBe(0)
  const stop = listenTo(source.signal, () => heard++)
  listenTo(source.signal, () => heard++)
  stop()
  stop()
  expect(listeners()).toBe(1)
  source.abort()
  expect(heard).toBe(1)
})

test('however many wait on one signal, the host has one listener for it, and none when they are done', async () => {
  const kit = createTestKit()
  const { source, listeners } = counted()
  const { signal } = source
  const channel = new Channel<number>(0)
  const full = kit.system.spawn(
    receive<string>(() => same),
    { mailbox: bounded(1, 'block') },
  )
  kit.system.suspend(full, 'a test')
  await kit.settle()
  full.tell('first')
  const groups = Array.from({ length: 20 }, () => new TaskGroup({ signal }))
  const waits = Array.from({ length: 20 }, (_, i) => [
    delay(10 + i, { signal, clock: kit.system.clock }),
    channel.receive({ signal }),
    select({ channel }, { signal }),
    full.offer('more', { signal }),
  ]).flat()
  expect(listeners()).toBe(1)
  await kit.advance(100)
  channel.close()
  kit.system.resume(full)
  await kit.settle()
  await Promise.all(waits)
  await Promise.all(groups.map((g) => g.waitAll()))
  expect(listeners()).toBe(0)
  await kit.end()
})

test('what is no signal is refused, and nobody is left waiting', async () => {
  const none = {} as AbortSignal
  const channel = new Channel<number>(0)
  await expect(channel.receive({ signal: none })).rejects.toMatchObject({ code: 'invalid-option' })
  await expect(select({ channel }, { signal: none })).rejects.toMatchObject({ code: 'invalid-option' })
  expect(channel.trySend(1)).toBe(false)
  await expect(channel.send(1, { signal: none })).rejects.toMatchObject({ code: 'invalid-option' })
  expect(channel.tryReceive()).toBeUndefined()
})

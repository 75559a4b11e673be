import type { ActorRef } from '@troupe/core'
import { expect, test } from 'vitest'
import { Carrier } from './credit.ts'
import { Post, postOf } from './post.ts'

function reader(): { readonly heard: unknown[]; readonly ref: ActorRef<never> } {
  const heard: unknown[] = []
  return { heard, ref: { tell: (message: unknown) => void heard.push(message) } as unknown as ActorRef<never> }
}

const source = (): { stale: boolean; credited(): void; undelivered(): void } => ({ stale: false, credited: () => {}, undelivered: () => {} })
const pass = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('what is posted in one pass of the loop is told together at its end, and what comes behind it stays behind it', async () => {
  const { heard, ref } = reader()
  const post = new Post()
  const carrier = new Carrier(undefined, source())
  post.tellBehind(ref, 'at once', carrier)
  expect(heard).toEqual(['at once'])
  post.send(ref, 'chunk 1', carrier)
  post.send(ref, 'chunk 2', carrier)
  post.tellBehind(ref, 'closed', carrier)
  expect(heard).toEqual(['at once'])
  await pass()
  expect(heard).toEqual(['at once', 'chunk 1', 'chunk 2', 'closed'])
  post.tellBehind(ref, 'later', carrier)
  expect(heard.at(-1)).toBe('later')
})

test('nothing waits for more than 64 others, and the next pass begins anew', async () => {
  const { heard, ref } = reader()
  const post = new Post()
  const carrier = new Carrier(undefined, source())
  for (let i = 0; i < 64; i++) post.send(ref, i, carrier)
  expect(heard).toEqual(Array.from({ length: 64 }, (_, i) => i))
  post.send(ref, 64, carrier)
  expect(heard).toHaveLength(64)
  await pass()
  expect(heard).toHaveLength(65)
  post.send(ref, 65, carrier)
  await pass()
  expect(heard).toHaveLength(66)
})

test('what a link posted before it ended is not told after it', async () => {
  const { heard, ref } = reader()
  const post = new Post()
  const ended = source()
  post.send(ref, 'of the dead', new Carrier(undefined, ended))
  post.send(ref, 'of the living', new Carrier(undefined, source()))
  ended.stale = true
  await pass()
  expect(heard).toEqual(['of the living'])
})

test('each system has its own: what one has to tell neither waits for another nor delivers its letters', async () => {
  const [one, other] = [postOf({}), postOf({})]
  const mine = reader()
  const theirs = reader()
  const carrier = new Carrier(undefined, source())
  one.send(mine.ref, 'waits', carrier)
  other.tellBehind(theirs.ref, 'at once', carrier)
  for (let i = 0; i < 64; i++) other.send(theirs.ref, i, carrier)
  expect(theirs.heard).toHaveLength(65)
  expect(mine.heard).toEqual([])
  await pass()
  expect(mine.heard).toEqual(['waits'])
  const system = {}
  expect(postOf(system)).toBe(postOf(system))
})

import { createTestKit } from '@troupe/testkit'
import { type AnyRef, listRoutees } from '@troupe/core'
import { expect, test } from 'vitest'
import { hireMore, startService } from './service.ts'

const ask = async <T>(kit: ReturnType<typeof createTestKit>, promise: Promise<T>, ms = 0): Promise<T> => {
  await kit.advance(ms)
  return promise
}

test('the pool shares the work, loses nobody by a broken picture, and grows when told', async () => {
  const kit = createTestKit()
  const service = startService(kit.system)
  const { resizers } = service
  const done = await ask(kit, Promise.all(['a', 'b'].map((picture) => resizers.ask({ type: 'resize', picture }))))
  expect(done.toSorted()).toEqual(['a by routee-1', 'b by routee-2'])
  const broken = resizers.ask({ type: 'resize', picture: 'x.broken' }).catch((cause: Error) => cause.message)
  expect(await ask(kit, broken)).toBe('cannot read x.broken')
  hireMore(service, 5)
  expect(await ask(kit, resizers.ask<readonly AnyRef[]>(listRoutees))).toHaveLength(5)
  await kit.end()
})

test('each picture has its place in the cache', async () => {
  const kit = createTestKit()
  const { cache } = startService(kit.system)
  const pictures = Array.from({ length: 40 }, (_, i) => `${i}.png`)
  const first = await ask(kit, Promise.all(pictures.map((picture) => cache.ask({ type: 'lookup', picture }))))
  const again = await ask(kit, Promise.all(pictures.map((picture) => cache.ask({ type: 'lookup', picture }))))
  expect(again.map((f) => f.times)).toEqual(pictures.map(() => 2))
  expect(again.map((f) => f.shard)).toEqual(first.map((f) => f.shard))
  expect(new Set(first.map((f) => f.shard)).size).toBe(4)
  await kit.end()
})

test('the fastest mirror answers', async () => {
  const kit = createTestKit()
  const { mirrors } = startService(kit.system)
  expect(await ask(kit, mirrors.ask({ type: 'fetch', picture: 'a.png' }), 300)).toBe('a.png from rome')
  await kit.end()
})

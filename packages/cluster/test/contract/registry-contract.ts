// What every registry keeps, run against each engine.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Connection } from '../../src/ports/engine.ts'
import type { Hint, Registry } from '../../src/ports/registry.ts'
import { RegistryConflict, RegistryUnavailable } from '../../src/values/errors.ts'
import type { EngineStage } from './stage.ts'

/** `concurrent` runs its tests at once: for a registry on real time, where they wait. */
export function registryContract(engine: string, make: () => Promise<EngineStage>, concurrent = false): void {
  describe(`the registry of ${engine}`, { concurrent }, () => {
    let stage: EngineStage
    let a: Connection
    let b: Connection
    let keys = 0
    const fresh = (): string => `own.kind-${++keys}.0`

    beforeAll(async () => {
      stage = await make()
      a = await stage.connect('a')
      b = await stage.connect('b')
    })
    afterAll(async () => {
      await a?.close()
      await b?.close()
      await stage?.end()
    })

    test('creates a key once, whoever tries', async () => {
      const key = fresh()
      const tried = await Promise.allSettled([a, b, a, b].map(({ registry }, i) => registry.create(key, `v${i}`)))
      expect(tried.filter((t) => t.status === 'fulfilled')).toHaveLength(1)
      for (const t of tried) if (t.status === 'rejected') expect(t.reason).toBeInstanceOf(RegistryConflict)
      const won = tried.findIndex((t) => t.status === 'fulfilled')
      expect(await b.registry.read(key)).toEqual({ key, value: `v${won}`, revision: (tried[won] as PromiseFulfilledResult<number>).value })
    })

    test('updates by compare-and-set: of writers with one revision one wins, and its value stays', async () => {
      const key = fresh()
      const first = await a.registry.create(key, 'first')
      const tried = await Promise.allSettled([a, b, a, b].map(({ registry }, i) => registry.update(key, `v${i}`, first)))
      expect(tried.filter((t) => t.status === 'fulfilled')).toHaveLength(1)
      for (const t of tried) if (t.status === 'rejected') expect(t.reason).toBeInstanceOf(RegistryConflict)
      const won = tried.findIndex((t) => t.status === 'fulfilled')
      const entry = await a.registry.read(key)
      expect(entry?.value).toBe(`v${won}`)
      expect(entry!.revision).toBeGreaterThan(first)
    })

    test('an update of a key that is not there, or was removed, is a conflict', async () => {
      const key = fresh()
      await expect(a.registry.update(key, 'x', 1)).rejects.toBeInstanceOf(RegistryConflict)
      const revision = await a.registry.create(key, 'x')
      await b.registry.remove(key, revision)
      await expect(a.registry.update(key, 'y', revision)).rejects.toBeInstanceOf(RegistryConflict)
      expect(await a.registry.read(key)).toBeUndefined()
    })

    test('removes by compare-and-set, and what was removed can be created again with a greater revision', async () => {
      const key = fresh()
      const first = await a.registry.create(key, 'x')
      const second = await a.registry.update(key, 'y', first)
      await expect(b.registry.remove(key, first)).rejects.toBeInstanceOf(RegistryConflict)
      expect((await b.registry.read(key))?.value).toBe('y')
      await b.registry.remove(key, second)
      await expect(b.registry.remove(key, second)).rejects.toBeInstanceOf(RegistryConflict)
      expect(await a.registry.read(key)).toBeUndefined()
      expect(await a.registry.create(key, 'z')).toBeGreaterThan(second)
    })

    test('a write that was answered is seen by every read that begins afterwards', async () => {
      const key = fresh()
      let revision = await a.registry.create(key, '0')
      for (let i = 1; i <= 50; i++) {
        revision = await (i % 2 === 0 ? a : b).registry.update(key, String(i), revision)
        expect((await (i % 2 === 0 ? b : a).registry.read(key))?.value).toBe(String(i))
      }
    })

    test('lists many keys, as many as one question asks for and more, as they stand', async () => {
      const base = `own.many-${++keys}`
      const count = 1_300
      const revisions = await Promise.all(Array.from({ length: count }, (_, i) => a.registry.create(`${base}.${i}`, `v${i}`)))
      await a.registry.remove(`${base}.7`, revisions[7]!)
      const again = await b.registry.update(`${base}.8`, 'again', revisions[8]!)
      const listed = new Map((await b.registry.list(base)).map((entry) => [entry.key, entry]))
      expect(listed.size).toBe(count - 1)
      expect(listed.get(`${base}.7`)).toBeUndefined()
      expect(listed.get(`${base}.8`)).toEqual({ key: `${base}.8`, value: 'again', revision: again })
      expect(listed.get(`${base}.1299`)).toEqual({ key: `${base}.1299`, value: 'v1299', revision: revisions[1_299] })
    })

    test('a fingerprint is another one after every write and removal under its prefix, and the same as long as nothing happens', async () => {
      const base = `own.print-${++keys}`
      const print = (): Promise<string> => b.registry.fingerprint(base)
      const prints = [await print()]
      const first = await a.registry.create(`${base}.1`, 'x')
      prints.push(await print())
      const second = await a.registry.update(`${base}.1`, 'x', first)
      prints.push(await print())
      await a.registry.create(`${base}.2`, 'y')
      prints.push(await print())
      await a.registry.remove(`${base}.1`, second)
      prints.push(await print())
      expect(new Set(prints).size).toBe(prints.length)
      // Other tests write beside it.
      if (!concurrent) expect(await print()).toBe(prints.at(-1))
    })

    test('lists the keys under whole words of a prefix, in order, without those that were removed', async () => {
      const base = `own.list-${++keys}`
      for (const key of [`${base}.b`, `${base}.a`, `${base}.c.d`, `${base}x.a`]) await a.registry.create(key, key)
      await a.registry.remove(`${base}.b`, (await a.registry.read(`${base}.b`))!.revision)
      const listed = await b.registry.list(base)
      expect(listed.map((e) => e.key)).toEqual([`${base}.a`, `${base}.c.d`])
      expect(listed).toEqual(await Promise.all(listed.map((e) => a.registry.read(e.key))))
      expect(await b.registry.list(`${base}.nothing`)).toEqual([])
    })

    test('lists hundreds of keys, each with its latest value', async () => {
      const base = `own.many-${++keys}`
      const numbers = Array.from({ length: 300 }, (_, i) => String(i).padStart(3, '0'))
      await Promise.all(numbers.map((n) => a.registry.create(`${base}.${n}`, n)))
      expect((await b.registry.list(base)).map((e) => e.value)).toEqual(numbers)
    })

    test('keeps any text', async () => {
      const key = fresh()
      const value = '{"ü":"\u0000\n\ud83d\ude80"}'
      await a.registry.create(key, value)
      expect((await b.registry.read(key))?.value).toBe(value)
    })

    test('a key with a time to live is removed when it is not written again, and not before', async () => {
      const key = fresh()
      const since = stage.now()
      await a.registry.create(key, 'x', { ttl: 1_500 })
      let gone = 0
      await stage.until('the key is gone', async () => {
        const there = await b.registry.read(key)
        if (there === undefined) gone = stage.now()
        return there === undefined
      })
      expect(gone - since).toBeGreaterThanOrEqual(1_500)
      expect(await a.registry.create(key, 'again')).toBeGreaterThan(0)
    })

    test('each renewal gives the key its whole time again; an update without a time lets it stay', async () => {
      const kept = fresh()
      const once = await a.registry.create(kept, '0', { ttl })
      await a.registry.update(kept, '1', once)
      let renewed = fresh()
      while (!(await isRenewed(renewed))) renewed = fresh()
      await stage.until('the renewed key is gone', async () => (await b.registry.read(renewed)) === undefined)
      expect((await b.registry.read(kept))?.value).toBe('1')
    })

    const ttl = 1_000
    /**
     * Renews a key for three times its time to live, and checks that it is there all that time. Returns false if a pause of this machine took longer
     * than the time to live: then the key may rightly be gone.
     */
    async function isRenewed(key: string): Promise<boolean> {
      const since = stage.now()
      let sent = since
      const isLate = (): boolean => stage.now() - sent >= ttl
      try {
        let revision = await a.registry.create(key, '0', { ttl })
        let beats = 0
        await stage.until('three times its time has passed', async () => {
          const now = stage.now()
          if (now - sent >= 0.3 * ttl) {
            revision = await a.registry.update(key, String(++beats), revision, { ttl })
            // The server had it before it answered.
            if (isLate()) throw new Error('late')
            sent = now
          }
          return now - since > 3 * ttl
        })
        const value = (await b.registry.read(key))?.value
        if (isLate()) return false
        expect(value).toBe(String(beats))
        return true
      } catch (cause) {
        if (isLate()) return false
        throw cause
      }
    }

    test('watches tell of writes, removals and ends of life under their prefix, and of nothing after stop', async () => {
      const base = `own.watched-${++keys}`
      const seen: Hint[] = []
      const watch = b.registry.watch(base, (hint) => seen.push(hint))
      const changes = (): string[] => seen.flatMap((h) => (h === 'anything' ? [] : [`${h.key.slice(base.length + 1)} ${h.value}`]))
      // A watch begins at some moment: what is written until then it may miss.
      let probe = await a.registry.create(`${base}.probe`, '0')
      await stage.until('the watch has begun', async () => {
        probe = await a.registry.update(`${base}.probe`, '1', probe)
        return seen.some((h) => h !== 'anything' && h.key === `${base}.probe`)
      })
      const x = await a.registry.create(`${base}.x`, '1')
      await a.registry.create(`${base}other`, '1')
      const x2 = await a.registry.update(`${base}.x`, '2', x)
      await a.registry.remove(`${base}.x`, x2)
      await a.registry.create(`${base}.y`, '1', { ttl: 1_000 })
      await stage.until('the last change was seen', () => changes().includes('y undefined'))
      expect(changes().filter((c) => !c.startsWith('probe'))).toEqual(['x 1', 'x 2', 'x undefined', 'y 1', 'y undefined'])
      const revisions = seen.flatMap((h) => (h !== 'anything' && h.key === `${base}.x` ? [h.revision] : []))
      expect(revisions.slice(0, 2)).toEqual([x, x2])
      expect(revisions[2]!).toBeGreaterThan(x2)
      watch.stop()
      const before = seen.length
      await a.registry.create(`${base}.z`, '1')
      await a.registry.read(`${base}.z`)
      expect(seen).toHaveLength(before)
    })

    test('after close every operation fails as one whose outcome is not known', async () => {
      const c = await stage.connect('c')
      const key = fresh()
      await c.registry.create(key, 'x')
      await c.close()
      const operations: ((r: Registry) => Promise<unknown>)[] = [(r) => r.read(key), (r) => r.create(key, 'y'), (r) => r.list('own')]
      for (const operation of operations) await expect(operation(c.registry)).rejects.toBeInstanceOf(RegistryUnavailable)
      expect((await a.registry.read(key))?.value).toBe('x')
    })
  })
}

// What every wire keeps, run against each engine: who sent a frame, and its bytes as they were. Nothing is promised about its arrival.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Connection } from '../../src/ports/engine.ts'
import { type Session, sessionText } from '../../src/values/session.ts'
import { type EngineStage, session } from './stage.ts'

/** `concurrent` runs its tests at once: for a wire on real time. */
export function wireContract(engine: string, make: () => Promise<EngineStage>, concurrent = false): void {
  describe(`the wire of ${engine}`, { concurrent }, () => {
    let stage: EngineStage
    const open: Connection[] = []
    beforeAll(async () => {
      stage = await make()
    })
    afterAll(async () => {
      await Promise.all(open.map((connection) => connection.close()))
      await stage?.end()
    })

    interface End {
      readonly self: Session
      readonly connection: Connection
      readonly got: string[]
      readonly sizes: number[]
    }
    async function end(node: string, number: number): Promise<End> {
      const connection = await stage.connect(node)
      open.push(connection)
      const self = session(node, number)
      const got: string[] = []
      const sizes: number[] = []
      await connection.wire.open(self, (from, bytes) => {
        got.push(`${sessionText(from)} ${[...bytes.subarray(0, 8)].join(',')}`)
        sizes.push(bytes.length)
      })
      return { self, connection, got, sizes }
    }

    test('brings bytes to the session they are for, with the session they are from, also to itself', async () => {
      const a = await end('a', 1)
      const b = await end('b', 7)
      const c = await end('c', 7)
      expect(a.connection.wire.connected).toBe(true)
      expect(a.connection.wire.send(b.self, Uint8Array.of(1, 2, 3))).toBe(true)
      expect(b.connection.wire.send(a.self, Uint8Array.of(4))).toBe(true)
      expect(a.connection.wire.send(a.self, Uint8Array.of(5))).toBe(true)
      await stage.until('all have arrived', () => a.got.length === 2 && b.got.length === 1)
      expect(b.got).toEqual(['a#1 1,2,3'])
      expect(a.got.toSorted()).toEqual(['a#1 5', 'b#7 4'])
      expect(c.got).toEqual([])
    })

    test('a later session of the same node gets nothing that was meant for an earlier one', async () => {
      const a = await end('d', 1)
      const old = await end('e', 1)
      await old.connection.wire.close()
      const young = await end('e', 2)
      a.connection.wire.send(old.self, Uint8Array.of(1))
      a.connection.wire.send(young.self, Uint8Array.of(2))
      await stage.until('the frame for the younger one is there', () => young.got.length > 0)
      expect(young.got).toEqual(['d#1 2'])
      expect(old.got).toEqual([])
    })

    test('takes frames up to its size, and refuses greater ones', async () => {
      const a = await end('f', 1)
      const b = await end('g', 1)
      const { maxFrame } = a.connection.wire
      expect(maxFrame).toBeGreaterThanOrEqual(65_536)
      expect(a.connection.wire.send(b.self, new Uint8Array(maxFrame + 1))).toBe(false)
      expect(a.connection.wire.send(b.self, new Uint8Array(maxFrame).fill(9))).toBe(true)
      await stage.until('the great frame is there', () => b.got.length > 0)
      expect(b.sizes).toEqual([maxFrame])
    })

    test('sends nothing before it is opened, and nothing after it was closed', async () => {
      const connection = await stage.connect('j')
      open.push(connection)
      const b = await end('k', 1)
      expect(connection.wire.send(b.self, Uint8Array.of(1))).toBe(false)
      await connection.wire.open(session('j'), () => {})
      expect(connection.wire.send(b.self, Uint8Array.of(2))).toBe(true)
      await stage.until('the frame is there', () => b.got.length > 0)
      await connection.wire.close()
      expect(connection.wire.connected).toBe(false)
      expect(connection.wire.send(b.self, Uint8Array.of(3))).toBe(false)
      await connection.close()
      expect(b.got).toEqual(['j#1 2'])
    })

    test('a frame for nobody is dropped without a word', async () => {
      const a = await end('l', 1)
      const b = await end('m', 1)
      expect(a.connection.wire.send(session('nobody'), Uint8Array.of(1))).toBe(true)
      expect(a.connection.wire.send(b.self, Uint8Array.of(2))).toBe(true)
      await stage.until('the other is there', () => b.got.length > 0)
      expect(b.got).toEqual(['l#1 2'])
    })
  })
}

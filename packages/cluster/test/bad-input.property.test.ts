// Every public function of @troupe/cluster with wrong input in every place; nothing is connected to. A new export without an entry fails.

import * as c from '@troupe/cluster'
import { describe, expect, test } from 'vitest'
import { countedInputs, type Entry, entry, holds } from '../../core/test/wrong-input.ts'

type Anything = (...given: readonly unknown[]) => unknown
const call =
  (f: unknown): Entry['act'] =>
  (args) =>
    void (f as Anything)(...args)
const isError = (value: unknown): boolean => typeof value === 'function' && value.prototype instanceof Error

const functions: Record<string, Entry> = {
  memory: entry(call(c.memory)),
  nats: entry(call(c.nats), () => [
    {
      servers: ['nats://127.0.0.1:4222'],
      tls: { caFile: 'x', certFile: 'x', keyFile: 'x', ca: 'x', cert: 'x', key: 'x', handshakeFirst: true },
      credentials: { user: 'x', password: 'x', token: 'x', creds: 'x' },
      insecure: true,
      replicas: 1,
      timeout: 5,
    },
  ]),
  // Of an engine that goes nowhere: what is right is refused there.
  Cluster: entry(
    (args) => (c.Cluster.join as unknown as Anything)(...args),
    ({ kit }) => [
      kit.system,
      {
        name: 'shop',
        node: 'a',
        engine: { name: 'none', connect: () => Promise.reject(new c.EngineRefused('none', 'no', 'It goes nowhere')) },
        roles: ['x'],
        lease: 5_000,
        maxMessageBytes: 4_194_304,
      },
    ],
  ),
  natsPermissions: entry(call(c.natsPermissions), () => ['shop', 'a']),
}

describe('whatever it is given, it is refused with a code or does something sensible:', () => {
  for (const [name, calls] of Object.entries(functions))
    test(name, async () => {
      const before = countedInputs()
      await holds(calls)
      expect(countedInputs()).toBeGreaterThan(before)
    })
})

test('there is an entry for every export', () => {
  expect(Object.entries(c).flatMap(([name, value]) => (isError(value) || name in functions ? [] : [name]))).toEqual([])
})

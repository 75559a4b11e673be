// A list is one request that any copy of the stream answers: one that is behind the leader, or does not say how far it is, is not believed. By a stream and a copy of it
// in memory, since a server decides by itself which copy answers.

import { HostRuntime } from '@troupe/core'
import { headers, type MsgHdrs } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { keySubject } from '../src/engines/nats/nats-layout.ts'
import { NatsRegistry } from '../src/engines/nats/nats-registry.ts'

const cluster = 'shop'

interface Kept {
  readonly seq: number
  readonly value: string
  readonly removed?: boolean
}

function headersOf(code: number, values: Readonly<Record<string, string>>): MsgHdrs {
  const made = code === 0 ? headers() : headers(code, 'end of batch')
  for (const [name, value] of Object.entries(values)) made.set(name, value)
  return made
}

/** A registry whose leader has these keys, and whose lists are answered by a copy that has those, up to a sequence. */
function registryOn(leader: Readonly<Record<string, Kept>>, copy: Readonly<Record<string, Kept>>, upTo: number) {
  const callbacks = new Map<string, (problem: null, message: { readonly headers: MsgHdrs; readonly data: Uint8Array }) => void>()
  const reads: string[] = []
  const noteOf = ({ removed }: Kept): Record<string, string> => (removed === true ? { 'KV-Operation': 'DEL' } : {})
  const connection = {
    options: {},
    subscribe: (reply: string, { callback }: { readonly callback: never }) => {
      callbacks.set(reply, callback)
      return { unsubscribe: () => callbacks.delete(reply) }
    },
    publish: (_subject: string, body: string, { reply }: { readonly reply: string }) => {
      const answer = (message: MsgHdrs, data = ''): void => callbacks.get(reply)?.(null, { headers: message, data: new TextEncoder().encode(data) })
      let found = 0
      for (const subject of (JSON.parse(body) as { readonly multi_last: readonly string[] }).multi_last) {
        const kept = copy[subject.slice(keySubject(cluster, '').length)]
        if (kept === undefined) continue
        found++
        answer(headersOf(0, { 'Nats-Subject': subject, 'Nats-Sequence': String(kept.seq), ...noteOf(kept) }), kept.value)
      }
      answer(found === 0 ? headersOf(404, {}) : headersOf(204, { 'Nats-UpTo-Sequence': String(upTo) }))
    },
  }
  const streams = {
    info: () =>
      Promise.resolve({
        state: {
          last_seq: Math.max(...Object.values(leader).map(({ seq }) => seq)),
          subjects: Object.fromEntries(Object.keys(leader).map((key) => [keySubject(cluster, key), 1])),
        },
      }),
    getMessage: (_stream: string, { last_by_subj: subject }: { readonly last_by_subj: string }) => {
      const key = subject.slice(keySubject(cluster, '').length)
      reads.push(key)
      const kept = leader[key]
      return Promise.resolve(
        kept === undefined ? null : { seq: kept.seq, data: new TextEncoder().encode(kept.value), header: headersOf(0, noteOf(kept)) },
      )
    },
  }
  const registry = new NatsRegistry(
    connection as never,
    { kv: {} as never, manager: { streams } as never },
    {
      cluster,
      inbox: '_INBOX.a',
      timeout: 1_000,
      timing: new HostRuntime(),
      connected: () => true,
      onTrouble: () => {},
      remake: () => Promise.resolve(),
    },
  )
  return { registry, reads }
}

const leader = { 'own.cart.0': { seq: 4, value: 'b' }, 'own.cart.1': { seq: 7, value: 'c' }, 'own.cart.2': { seq: 9, value: '', removed: true } }
const entries = [
  { key: 'own.cart.0', value: 'b', revision: 4 },
  { key: 'own.cart.1', value: 'c', revision: 7 },
]

test('a copy that has all that the leader has is believed, and nothing is read one by one', async () => {
  const { registry, reads } = registryOn(leader, leader, 9)
  expect(await registry.list('own.cart')).toEqual(entries)
  expect(reads).toEqual([])
})

test('a copy that is behind the leader is not believed: each key is read from the leader', async () => {
  const behind = { 'own.cart.0': { seq: 4, value: 'b' }, 'own.cart.1': { seq: 3, value: 'a' }, 'own.cart.2': { seq: 5, value: 'a' } }
  const { registry, reads } = registryOn(leader, behind, 8)
  expect(await registry.list('own.cart')).toEqual(entries)
  expect(reads).toEqual(['own.cart.0', 'own.cart.1', 'own.cart.2'])
})

test('a copy that has none of the keys does not say how far it is, and is not believed', async () => {
  const { registry, reads } = registryOn(leader, {}, 0)
  expect(await registry.list('own.cart')).toEqual(entries)
  expect(reads).toHaveLength(3)
})

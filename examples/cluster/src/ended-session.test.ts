// A process that gets no time for longer than the lease loses the sessions of its nodes, and nothing in it may wait for them for ever.

import { type Engine, memory } from '@troupe/cluster'
import { expect, test, vi } from 'vitest'
import { Guest } from './guest.ts'
import { Neighbours } from './troop.ts'

/** Longer than any pause of a busy machine: no session ends here that the test did not end. */
const lease = 60_000
const limit = { timeout: 30_000 }

/** The memory engine, and a way to record the end of a session as the other nodes do once its lease has run out. */
function mortal(): { readonly engine: Engine; readonly end: (node: string) => Promise<void> } {
  const inner = memory()
  let registry: Awaited<ReturnType<Engine['connect']>>['registry'] | undefined
  return {
    engine: {
      name: inner.name,
      async connect(joining) {
        const connection = await inner.connect(joining)
        registry ??= connection.registry
        return connection
      },
    },
    end: async (node) => {
      const key = `session.${node}`
      const { value, revision } = (await registry!.read(key))!
      await registry!.update(key, JSON.stringify({ ...JSON.parse(value), ended: true }), revision)
    },
  }
}

test('a node of this process whose session has ended is down, says why, and can be started again', async () => {
  const { engine, end } = mortal()
  const heard: string[] = []
  const troop = new Neighbours(lease, (node, why) => heard.push(`${node}: ${why}`), engine)
  const state = (name: string): string => troop.nodes.find((node) => node.name === name)!.state
  try {
    await troop.start('a')
    await troop.start('b')
    await end('b')
    await vi.waitFor(() => expect(state('b')).toBe('down'), limit)
    expect(heard).toEqual([expect.stringMatching(/^b: The session b#\d+ of this node has ended/)])
    await troop.start('b')
    expect([state('a'), state('b')]).toEqual(['up', 'up'])
  } finally {
    await troop.end()
  }
})

test('who plays joins again after the end of its session, and reaches the rooms', async () => {
  const { engine, end } = mortal()
  const troop = new Neighbours(lease, () => {}, engine)
  let sessions = 0
  try {
    await troop.start('a')
    const guest = await Guest.join({ node: 'guest', engine, lease, onJoined: () => sessions++ })
    try {
      const looked = (): Promise<unknown> => guest.ref('1').ask({ type: 'look' }, { timeout: 10_000 })
      expect(await looked()).toMatchObject({ game: 1 })
      await end('guest')
      await vi.waitFor(() => expect(sessions).toBe(2), limit)
      await vi.waitFor(async () => expect(await looked()).toMatchObject({ game: 1 }), limit)
    } finally {
      await guest.leave()
    }
    expect(sessions).toBe(2)
  } finally {
    await troop.end()
  }
})

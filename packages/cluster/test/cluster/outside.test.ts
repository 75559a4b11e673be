// Who is no part of it, or not any more: what a node sends to a kind that it was refused, and what one that has left still asks for.

import { type ActorRef, type Behavior, receive, same } from '@troupe/core'
import { expect, test } from 'vitest'
import { onStage } from './stage.ts'

type Thing = { readonly type: 'get'; readonly replyTo: ActorRef<string> } | { readonly type: 'note' }

const thing = (): Behavior<Thing> =>
  receive<Thing>((_ctx, message) => {
    if (message.type === 'get') message.replyTo.tell('here')
    return same
  })

test('what a node sends to a kind that it was refused is a dead letter unknown-kind, what waited for it too, and a question says why', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const kind = a!.cluster!.sharded<Thing>('thing', thing, { shards: 4 })
    await stage.until('a has it', () => kind.active.length === 4)
    const other = b!.cluster!.sharded<Thing>('thing', thing, { shards: 8 })
    const early = other
      .ref('x')
      .ask({ type: 'get' }, { timeout: 60_000 })
      .catch((cause: unknown) => cause)
    await expect(other.ready).rejects.toMatchObject({ code: 'kind-differs' })
    const before = stage.world.sim.now
    expect(await early).toMatchObject({
      code: 'ask-refused',
      message: expect.stringMatching(/\/sharded\/thing\/x: unknown-kind: .*on b: it has 8 shards on all nodes there, and 4 shards on all nodes on a/),
    })
    await expect(other.ref('x').ask({ type: 'get' }, { timeout: 60_000 })).rejects.toMatchObject({ code: 'ask-refused' })
    expect(stage.world.sim.now - before).toBeLessThan(1_000)
    other.ref('x').tell({ type: 'note' })
    const letters = b!.system.deadLetters.list()
    expect(letters.map(({ reason, recipient }) => `${reason} ${recipient?.path}`)).toEqual(Array(3).fill('unknown-kind /sharded/thing/x'))
    expect(await kind.ref('x').ask({ type: 'get' })).toBe('here')
    const ledger = await a!.cluster!.ledger()
    expect(ledger.queued + ledger.unknown).toBe(0)
  }))

test('a node that has left finds nobody and counts nothing, at once', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    b!.system.spawn(thing(), { name: 'thing' })
    const { cluster } = a!
    expect(await cluster!.find('b', '/user/thing')).toBeDefined()
    await cluster!.leave()
    const before = stage.world.sim.now
    expect(await cluster!.find('b', '/user/thing')).toBeUndefined()
    expect(await cluster!.inspect()).toEqual([])
    await expect(cluster!.ledger()).rejects.toMatchObject({ code: 'not-allowed', message: expect.stringContaining('a has left sim') })
    expect(stage.world.sim.now).toBe(before)
  }))

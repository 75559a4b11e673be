// How large a message between nodes may be: what all nodes agree on when they join.

import { type ActorRef, receive, same } from '@troupe/core'
import { expect, test } from 'vitest'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage } from './stage.ts'

const mib = 1_048_576

type Put = { readonly type: 'put'; readonly data: { readonly length: number }; readonly replyTo?: ActorRef<never> }

function sink(node: SimulatedNode, got: number[]): void {
  node.system.spawn(
    receive<Put>((_ctx, { data }) => {
      got.push(data.length)
      return same
    }),
    { name: 'sink' },
  )
}

test.each([undefined, mib, 8 * mib])(
  'with maxMessageBytes %s messages up to that arrive, and larger ones are dead letters that speak of nodes',
  (limit) =>
    onStage(async (stage) => {
      stage.world.nodeOptions = () => ({ maxMessageBytes: limit })
      const most = limit ?? 4 * mib
      const [a, b] = await stage.nodes('a', 'b')
      const refusal = new RegExp(
        `The message cannot go to another node: it is a value of \\d+ bytes, and at most ${most} go from node to node\\. .*maxMessageBytes`,
      )
      const got: number[] = []
      sink(b!, got)
      const ref = (await a!.cluster!.find('b', '/user/sink')) as ActorRef<Put>
      ref.tell({ type: 'put', data: new Uint8Array(most - 100) })
      ref.tell({ type: 'put', data: 'x'.repeat(most - 100) })
      await stage.until('both came', () => got.length === 2)
      // As bytes, as text, and as many smaller things: not as millions, which a busy machine takes ten seconds for.
      for (const data of [new Uint8Array(most), 'x'.repeat(most), Array.from({ length: most / 1_024 }, () => 'x'.repeat(1_024))]) {
        const cause: unknown = await ref.ask({ type: 'put', data } as never, { timeout: 5_000 }).catch((reason: unknown) => reason)
        expect(cause).toMatchObject({ code: 'ask-refused' })
        expect(String(cause)).toMatch(refusal)
        expect(String(cause)).not.toContain('thread')
      }
      ref.tell({ type: 'put', data: 'end' })
      await stage.until('the end came', () => got.length === 3)
      expect(got).toEqual([most - 100, most - 100, 3])
      const refused = a!.system.deadLetters.list()
      expect(refused.map(({ reason }) => reason)).toEqual(Array.from({ length: 3 }, () => 'not-transferable'))
      const l = await a!.cluster!.ledger()
      expect(l.sent).toBe(l.handled + l.failed + l.unhandled + l.dropped + l.deadLettered + l.queued + l.stashed + l.inProgress)
    }),
)

test('a node with another limit is refused with both named', () =>
  onStage(async (stage) => {
    stage.world.start('a', { maxMessageBytes: 2 * mib })
    await stage.until('a is up', () => stage.world.up.length === 1)
    const b = stage.world.start('b')
    await stage.until('b is refused', () => b.state === 'refused')
    expect(b.refusal).toMatchObject({ code: 'message-limit-differs' })
    expect(String(b.refusal)).toContain(`Cannot join sim as b: its maxMessageBytes is ${4 * mib}, and that of a#`)
    expect(String(b.refusal)).toContain(` is ${2 * mib}. Give all nodes the same`)
  }))

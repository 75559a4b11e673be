// What the page opens from a file: capsules and traces as they are written, and nothing else.

import fc from 'fast-check'
import { ActorSystem, receive, same } from '@troupe/core'
import { capsuleRecorder } from '@troupe/observer'
import { expect, test } from 'vitest'
import { openedFrom } from '../../page/src/opened.ts'
import { capsuleOf } from '../../src/capsule/recorder.ts'

test('a real capsule is shown message by message, up to its failure', async () => {
  const system = ActorSystem.create('till', { logger: false, flightRecorder: capsuleRecorder() })
  const till = system.spawn(
    receive<{ type: 'pay'; sum: number }>((_ctx, { sum }) => {
      if (sum < 0) throw new Error('no <b>money</b>')
      return same
    }),
    { name: 'till' },
  )
  const failed = new Promise((resolve) => system.events.listen(resolve, 'actor.failed'))
  for (const sum of [5, 6, -1]) till.tell({ type: 'pay', sum })
  await failed
  expect(system.failures.count).toBe(1)
  const opened = openedFrom(JSON.stringify(capsuleOf(system, '/user/till')))!
  expect(opened.title).toBe('Capsule of /user/till')
  expect(opened.note).toContain('It failed at pay: Error: no <b>money</b>. It is partial')
  expect(opened.trace.spans.filter(({ type }) => type === 'pay').map(({ toName, how }) => `${toName} ${how}`)).toEqual(
    Array(3).fill('/user/till tell'),
  )
  await system.shutdown()
})

test('what troupe trace wrote is shown as it was', () => {
  const span = {
    id: 0,
    parent: undefined,
    type: 'order',
    how: 'tell',
    sentAt: 5,
    takenAt: 8,
    returnedAt: 9,
    doneAt: 9,
    fromName: 'outside',
    toName: '/user/a',
  }
  const opened = openedFrom(
    JSON.stringify({ id: 7, type: 'order', at: 5, leftOut: 2, spans: [span, { ...span, id: 1, parent: 0, how: 'forward' }] }),
  )!
  expect(opened.trace).toMatchObject({
    type: 'order',
    at: 5,
    leftOut: 2,
    spans: [
      { sentAt: 5, takenAt: 8 },
      { parent: 0, how: 'forward' },
    ],
  })
})

test('of whatever else somebody opens nothing is shown, or only text and numbers', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.string(),
        fc.array(fc.jsonValue()).map((entries) => JSON.stringify({ troupe: 'capsule', entries, spans: entries })),
      ),
      (content) => {
        const opened = openedFrom(content)
        if (opened === undefined) return
        for (const { type, fromName, toName, sentAt } of opened.trace.spans)
          expect([typeof type, typeof fromName, typeof toName, Number.isFinite(sentAt)]).toEqual(['string', 'string', 'string', true])
      },
    ),
  )
})

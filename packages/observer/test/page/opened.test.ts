// What the page opens from a file: capsules and traces as they are written, and nothing else.

import fc from 'fast-check'
import { ActorSystem, receive, same } from '@troupe/core'
import { capsuleRecorder } from '@troupe/observer'
import { simulate } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { openedFrom } from '../../page/src/opened.ts'
import { capsuleOf } from '../../src/capsule/capsule-of.ts'

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
  const opened = openedFrom(JSON.stringify(await capsuleOf(system, '/user/till')))!
  expect(opened.title).toBe('Capsule of /user/till')
  expect(opened.note).toContain('It failed at pay: Error: no <b>money</b>. It is partial')
  expect(opened.trace.spans.filter(({ type }) => type === 'pay').map(({ toName, how }) => `${toName} ${how}`)).toEqual(
    Array(3).fill('/user/till tell'),
  )
  await system.shutdown()
})

test('a run of the simulator that broke a promise is shown step by step, message by message', async () => {
  const { failure } = await simulate(
    (sim) => {
      const till = sim.system.spawn(
        receive<{ type: 'pay'; sum: number }>(() => same),
        { name: 'till' },
      )
      till.tell({ type: 'pay', sum: 5 })
    },
    {
      name: 'till',
      seeds: [7],
      faults: 'none',
      invariants: { 'nobody pays': (sim) => sim.system.metrics().messages.handled === 0 },
      onViolation: 'report',
    },
  )
  const { seed, promise, violation, events } = failure!
  const run = { troupe: 'run', version: 1, scenario: 'till', seed, promise, text: violation.text, events }
  const opened = openedFrom(JSON.stringify(run))!
  expect(opened.title).toBe('Run of till, seed 7')
  expect(opened.note).toContain('It broke a promise: an invariant of the user holds')
  expect(opened.inSteps).toBe(true)
  const pay = opened.trace.spans.find(({ type }) => type.startsWith('pay'))!
  expect(pay).toMatchObject({ fromName: 'outside', toName: 'till', how: 'tell' })
  expect(pay.takenAt).toBeGreaterThan(pay.sentAt)
  expect(pay.doneAt).toBeGreaterThan(pay.takenAt!)
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
        fc
          .array(
            fc.record({
              what: fc.constantFrom('send', 'handle', 'done', 'dead', 'phase', 'x'),
              detail: fc.jsonValue(),
              actor: fc.jsonValue(),
              to: fc.jsonValue(),
            }),
          )
          .map((events) => JSON.stringify({ troupe: 'run', events })),
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

// What goes with every line of an actor's log: its own fields, and those of the message that it handles.

import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { ActorSystem, InvalidOption, type LogFields, ManualRuntime, receive, same } from '@troupe/core'

type Order = { type: 'log' | 'boom'; id: string }
const clerk = receive<Order>((ctx, m) => {
  if (m.type === 'boom') throw new Error('boom')
  ctx.log.info({ step: 1 }, 'begun')
  return same
})

test('fields of the actor are on each of its lines, and on those about its failures', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(clerk, { name: 'clerk', logFields: { tenant: 'acme', actor: 'not to be overwritten in failures' } })
  ref.tell({ type: 'log', id: 'a' })
  ref.tell({ type: 'boom', id: 'b' })
  await kit.settle()
  expect(kit.logs).toMatchObject([
    { message: 'begun', fields: { tenant: 'acme', step: 1 } },
    { message: 'the actor failed', fields: { tenant: 'acme', actor: '/user/clerk' } },
  ])
  await kit.end()
})

test('fields by message are those of the message in progress, asked for when a line is written', async () => {
  const kit = createTestKit()
  let asked = 0
  const logFields = (message: unknown): LogFields => {
    asked++
    return { order: (message as Order | undefined)?.id }
  }
  const ref = kit.system.spawn(clerk, { logFields })
  for (const id of ['a', 'b']) ref.tell({ type: 'log', id })
  ref.tell({ type: 'boom', id: 'c' })
  await kit.settle()
  expect(kit.logs.map(({ fields }) => fields['order'])).toEqual(['a', 'b', 'c'])
  expect(asked).toBe(3)
  await kit.end()
})

test('a function that throws or rejects costs its fields, and nothing else', async () => {
  const kit = createTestKit()
  const throws = (): never => {
    throw new Error('no fields')
  }
  const odd = {
    get x(): never {
      return throws()
    },
  }
  for (const logFields of [throws, (async () => throws()) as never, odd, () => undefined])
    kit.system.spawn(clerk, { logFields }).tell({ type: 'log', id: 'a' })
  await kit.settle()
  expect(kit.logs.map(({ message, fields }) => `${message} ${String(fields['step'])}`)).toEqual(Array.from({ length: 4 }, () => 'begun 1'))
  await kit.end()
})

test("a logger's child is given the fields as its bindings, as pino's wants them", async () => {
  const lines: unknown[] = []
  const at =
    (bindings: LogFields) =>
    (fields: LogFields, message: string): void =>
      void lines.push({ bindings, fields, message })
  const made = (bindings: LogFields) => ({ debug: at(bindings), info: at(bindings), warn: at(bindings), error: at(bindings) })
  const runtime = new ManualRuntime()
  const system = ActorSystem.create('x', { logger: { ...made({}), isLevelEnabled: () => false, child: made }, runtime })
  const ref = system.spawn(clerk, { name: 'clerk', logFields: (m) => ({ order: (m as Order).id }) })
  const plain = system.spawn(clerk, { name: 'plain' })
  for (const to of [ref, plain]) to.tell({ type: 'log', id: 'a' })
  runtime.pump()
  expect(lines).toEqual([
    { bindings: { actor: '/user/clerk', order: 'a' }, fields: { step: 1 }, message: 'begun' },
    { bindings: {}, fields: { actor: '/user/plain', step: 1 }, message: 'begun' },
  ])
  const down = system.shutdown()
  runtime.pump()
  await down
})

test('refuses what is neither fields nor a function', () => {
  const kit = createTestKit()
  expect(() => kit.system.spawn(clerk, { logFields: 'x' as never })).toThrow(InvalidOption)
})

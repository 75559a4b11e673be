// Whoever asks a sharded actor in vain hears of that actor, and not of what carries mail to it.

import { type ActorRef, type Behavior, receive, same, setup } from '@troupe/core'
import { expect, test } from 'vitest'
import type { Sharded, ShardedOptions } from '../../src/index.ts'
import { writeOwnership } from '../../src/sharding/ownership.ts'
import type { SimulatedNode } from '../../src/testing.ts'
import { onStage, type Stage } from './stage.ts'

type Thing = { readonly type: 'get'; readonly with?: unknown; readonly replyTo: ActorRef<string> }
interface Case {
  readonly make?: () => Behavior<Thing>
  readonly options?: ShardedOptions<Thing>
  readonly question?: unknown
}

/** A question of `a` to an actor that is on `b`, and why it failed. */
async function asked(stage: Stage, { make = silent, options, question }: Case): Promise<{ b: SimulatedNode; a: SimulatedNode; cause: unknown }> {
  stage.world.nodeOptions = (name) => (name === 'b' ? { roles: ['thing'] } : {})
  const [a, b] = await stage.nodes('a', 'b')
  const has = { shards: 1, role: 'thing' }
  const there = b!.cluster!.sharded<Thing>('thing', make, { ...has, ...options })
  const here: Sharded<Thing> = a!.cluster!.sharded<Thing>('thing', make, has)
  await stage.until('b has it', () => there.active.length === 1 && here.ownerOf('x') === 'b')
  const answer = here.ref('x').ask((replyTo) => ({ type: 'get', with: question, replyTo }), { timeout: 1_000 })
  const cause: unknown = await answer.then(
    () => 'answered',
    (why: unknown) => why,
  )
  return { a: a!, b: b!, cause }
}

const fails = (): never => {
  throw new Error('of no use')
}
const silent = (): Behavior<Thing> => receive<Thing>(() => same)
const none = { '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'no' }] }) } } as const

const cases: readonly (readonly [what: string, code: string, of: Case])[] = [
  ['whose factory throws', 'ask-target-stopped', { make: fails }],
  ['that fails as it starts', 'ask-target-stopped', { make: () => setup<Thing>(fails) }],
  ['whose kind cannot bring it up to date', 'ask-refused', { options: { version: 2, upcast: fails } }],
  ['that does not accept it', 'ask-refused', { options: { accepts: none } }],
  ['that it cannot be sent to', 'ask-refused', { question: silent }],
  ['that does not answer', 'ask-timeout', {}],
]
test.each(cases)('a question to an actor of another node %s fails with the path of that actor', (_what, code, of) =>
  onStage(async (stage) => {
    const { b, cause } = await asked(stage, of)
    expect(cause).toMatchObject({ code })
    expect((cause as Error).message).toMatch(/\/(sharded\/|user\/sharded-)thing\/x/)
    expect((cause as Error).message).not.toContain('/cluster')
    for (const { recipient } of b.system.deadLetters.list()) expect(recipient?.path).toContain('thing/x')
  }),
)

test('a question to an actor of this node that fails as it starts fails with the path of that actor, and why', () =>
  onStage(async (stage) => {
    const [a] = await stage.nodes('a')
    const kind = a!.cluster!.sharded<Thing>('thing', () => setup<Thing>(fails), { shards: 1 })
    const answer = kind.ref('x').ask({ type: 'get' }, { timeout: 1_000 })
    await expect(answer).rejects.toMatchObject({
      code: 'ask-target-stopped',
      message: expect.stringMatching(/^\/(sharded\/|user\/sharded-)thing\/x stopped before it answered .*of no use/),
    })
  }))

test('a question that comes to a node without its kind fails with the path of its actor', () =>
  onStage(async (stage) => {
    const [a, b] = await stage.nodes('a', 'b')
    const { session } = b!.cluster!.self
    stage.world.hub.store.create('own.thing.0', writeOwnership({ session, epoch: 1 }), undefined)
    const here = a!.cluster!.sharded<Thing>('thing', silent, { shards: 1, role: 'nobody' })
    await stage.until('it is believed to be on b', () => here.ownerOf('x') === 'b')
    const answer = here.ref('x').ask({ type: 'get' }, { timeout: 1_000 })
    await expect(answer).rejects.toMatchObject({ code: 'ask-refused', message: expect.stringContaining('/sharded/thing/x: unknown-kind') })
    expect(b!.system.deadLetters.list()[0]!.recipient!.path).toBe('/sharded/thing/x')
  }))

// Where more actors have turns than are followed one by one: what each handled is counted at the actor itself until the next look, and is exact all the same.

import { type ActorRef, receive, same } from '@troupe/core'
import { coreOf, type Rows, Surveyor } from '@troupe/core/internal'
import { createTestKit, type TestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'

/** More than are followed, together; and among them one that handles more than there is room for at an actor. */
const crowd = 8500
const lot = 140_000

function spawned(kit: TestKit): ActorRef<'x'>[] {
  return Array.from({ length: crowd }, () => kit.system.spawn(receive<'x'>(() => same)))
}
function processed({ uid, processed: counts }: Rows): Map<number, number> {
  return new Map(Array.from(uid, (one, i) => [one, counts[i]!]))
}
/** Those of whom the two looks do not differ by so many. */
function wrong(refs: readonly ActorRef<'x'>[], before: Map<number, number>, after: Map<number, number>, by: (i: number) => number): number[] {
  return refs.flatMap(({ uid }, i) => ((after.get(uid) ?? 0) - (before.get(uid) ?? 0) === by(i) ? [] : [i]))
}

test('look after look each is counted exactly, also one that handles more than there is room for at an actor', async () => {
  await using kit = createTestKit()
  const refs = spawned(kit)
  const look = new Surveyor(coreOf(kit.system))
  await kit.settle()
  look.arm()
  let { epoch, rows } = await look.survey()
  let seen = processed(rows)
  for (let round = 0; round < 3; round++) {
    for (const [i, ref] of refs.entries()) for (let n = 0; n <= i % 3; n++) ref.tell('x')
    for (let n = 0; n < lot; n++) refs[0]!.tell('x')
    await kit.settle()
    ;({ epoch, rows } = await look.survey(epoch))
    const next = processed(rows)
    expect(wrong(refs, seen, next, (i) => 1 + (i % 3) + (i === 0 ? lot : 0))).toEqual([])
    seen = next
  }
  // From a crowd to a few: those are found without a look at everybody, and whoever has an account goes on from where it was.
  for (let round = 1; round <= 2; round++) {
    refs[7]!.tell('x')
    await kit.settle()
    const few = await look.survey(epoch)
    epoch = few.epoch
    expect([few.whole, processed(few.rows).get(refs[7]!.uid)]).toEqual([false, seen.get(refs[7]!.uid)! + round])
  }
  look.disarm()
})

test('whoever looks after somebody else has left, or beside somebody, counts for himself', async () => {
  await using kit = createTestKit()
  const core = coreOf(kit.system)
  const refs = spawned(kit)
  await kit.settle()
  const tellAll = async (): Promise<void> => {
    for (const ref of refs) ref.tell('x')
    await kit.settle()
  }
  const first = new Surveyor(core)
  first.arm()
  await first.survey()
  await tellAll()
  await first.survey()
  // What is counted from here on stays at the actors when nobody looks any more.
  await tellAll()
  first.disarm()
  const [second, third] = [new Surveyor(core), new Surveyor(core)]
  second.arm()
  await tellAll()
  third.arm()
  for (const told of [1, 2, 3]) {
    await tellAll()
    const [s, t] = [processed((await second.survey()).rows), processed((await third.survey()).rows)]
    expect(refs.filter(({ uid }) => s.get(uid) !== told + 1 || t.get(uid) !== told)).toEqual([])
  }
  second.disarm()
  third.disarm()
})

test('of a crowd that keeps a thread busy for whole slices with next to nothing every second one is looked at: the sum is right, and so is about what each did', async () => {
  await using kit = createTestKit({ dispatcher: { maxTurns: 1e6 } })
  const core = coreOf(kit.system)
  const { fallback } = core.dispatchers
  const now = core.runtime.now.bind(core.runtime)
  let spent = 0
  core.runtime.now = () => now() + spent
  let left = 0
  let overlooked = 0
  let seed = 42
  /** By chance; the first ten as often as all others together. */
  const drawn = (): number => {
    seed ^= seed << 13
    seed ^= seed >>> 17
    seed ^= seed << 5
    return (seed >>> 0) % (seed < 0 ? 10 : crowd)
  }
  const refs: ActorRef<'x'>[] = Array.from({ length: crowd }, () =>
    kit.system.spawn(
      receive<'x'>(() => {
        spent += 0.0005
        if (fallback.witness === undefined) overlooked++
        if (left-- > 0) refs[drawn()]!.tell('x')
        return same
      }),
    ),
  )
  await kit.settle()
  const look = new Surveyor(core)
  look.arm()
  let { epoch, rows } = await look.survey()
  // Twice: only from the second look on it is known that it is a crowd.
  for (let round = 0; round < 3; round++) {
    const before = { seen: processed(rows), handled: fallback.messages }
    left = 400_000
    overlooked = 0
    for (let i = 0; i < 50; i++) refs[i]!.tell('x')
    await kit.settle()
    const handled = fallback.messages - before.handled
    ;({ epoch, rows } = await look.survey(epoch))
    const after = processed(rows)
    const by = refs.map(({ uid }) => after.get(uid)! - before.seen.get(uid)!)
    const sum = by.reduce((a, b) => a + b, 0)
    if (round === 0) continue
    expect(overlooked / handled).toBeGreaterThan(0.25)
    expect(overlooked / handled).toBeLessThan(0.6)
    // What was handled in the last slice that nobody looked at is nobody's yet, or was nobody's in the round before.
    expect(Math.abs(1 - sum / handled)).toBeLessThan(0.1)
    expect(by.slice(0, 10).reduce((a, b) => a + b, 0) / sum).toBeCloseTo(0.5, 1)
    expect(by.every(Number.isInteger)).toBe(true)
  }
  look.disarm()
})

// C11 also where much ends at once: stops and kills of wide parents, and mailboxes with much left in them, give the host
// its turn in between.

import { describe, expect, test } from 'vitest'
import { ActorSystem, type ActorRef, type Behavior, ignore, ManualRuntime, receive, same, setup, stopped } from '@troupe/core'

const sliceMs = 5
/** What one look at the clock costs here: as if the work before it had taken that long. */
const perRead = 1

/** A clock that moves with each look at it, and a note of the longest stretch between two turns of the host. */
class Ticking extends ManualRuntime {
  longest = 0
  enters = 0
  readonly #clock: { now: number }
  constructor(clock = { now: 0 }) {
    super({ now: () => (clock.now += perRead) })
    this.#clock = clock
  }
  override enter(task: () => void): void {
    const began = this.#clock.now
    super.enter(task)
    this.enters++
    this.longest = Math.max(this.longest, this.#clock.now - began)
  }
}

function make(): { system: ActorSystem; runtime: Ticking } {
  const runtime = new Ticking()
  return { system: ActorSystem.create('sliced', { keepAlive: false, logger: false, runtime, dispatcher: { slice: sliceMs } }), runtime }
}

/** Runs all that is due; how often the host had its turn meanwhile. */
function stretches({ system, runtime }: ReturnType<typeof make>, act: () => void): number {
  system.pump()
  runtime.longest = 0
  const before = runtime.enters
  act()
  system.pump()
  return runtime.enters - before
}

const wide = (children: number): Behavior<'stop'> =>
  setup((ctx) => {
    for (let i = 0; i < children; i++) ctx.spawn(ignore)
    return receive(() => stopped)
  })

describe('a parent of 20,000', () => {
  const many = 20_000
  // Telling the children alone is more looks at the clock than this many slices have room for.
  const least = many / 64 / (sliceMs / perRead) / 2

  test.each(['stop', 'kill', 'restart', 'shutdown'] as const)('a %s gives the host its turn between portions of its children', async (how) => {
    const it = make()
    const { system, runtime } = it
    const ref = system.spawn(wide(many), { name: 'wide' })
    system.pump()
    expect(system.counts().active).toBe(many + 1)
    let seen = 0
    const turns = stretches(it, () => {
      if (how === 'stop') ref.stop()
      else if (how === 'kill') system.kill(ref)
      else if (how === 'restart') system.restart(ref)
      else void system.shutdown()
      seen = system.counts().active
    })
    expect(seen).toBe(many + 1)
    expect(system.counts().terminated).toBe(how === 'restart' ? many : many + 1)
    expect(turns).toBeGreaterThan(least)
    expect(runtime.longest).toBeLessThan(3 * sliceMs)
    await system.shutdown()
  })

  test('children that end by themselves while the others are told do not lead it astray', async () => {
    const { system, runtime } = make()
    const kids: ActorRef<unknown>[] = []
    const parent = system.spawn(
      setup<never>((ctx) => {
        for (let i = 0; i < many; i++) kids.push(ctx.spawn(ignore))
        return ignore
      }),
    )
    system.pump()
    parent.stop()
    runtime.pump(() => system.phaseOf(parent) === 'stopping')
    // Every second one, so that whoever is to be told next is among them, whichever that is; the others depend on being told.
    for (let i = many - 1; i >= 0; i -= 2) kids[i]!.stop()
    runtime.pump(() => system.counts().terminated > many / 4)
    for (let i = many - 2; i >= many - 64; i -= 2) kids[i]!.stop()
    system.pump()
    expect(system.phaseOf(parent)).toBe('terminated')
    expect(system.counts()).toMatchObject({ active: 0, terminated: many + 1 })
    await system.shutdown()
  })

  test('a kill that comes while the children are being told reaches them all', async () => {
    const runtime = new Ticking()
    const system = ActorSystem.create('sliced', { keepAlive: false, logger: false, runtime, dispatcher: { slice: sliceMs } })
    let posts = 0
    const slow = receive<never>(
      () => same,
      (_c, s) => {
        if (s.type === 'PostStop') posts++
        return s.type === 'PreStop' ? new Promise<never>(() => {}) : same
      },
    )
    const parent = system.spawn(
      setup<never>((ctx) => {
        for (let i = 0; i < many; i++) ctx.spawn(slow, { stopTimeout: 1e9 })
        return ignore
      }),
      { stopTimeout: 1e9 },
    )
    system.pump()
    parent.stop()
    runtime.pump(() => system.counts().terminated > 0 || runtime.enters % 50 === 49)
    system.kill(parent)
    system.pump()
    expect(system.phaseOf(parent)).toBe('terminated')
    expect(posts).toBe(many)
    await system.shutdown()
  })
})

describe('a mailbox of 20,000', () => {
  const many = 20_000
  const least = many / 64 / (sliceMs / perRead) / 2

  const fill = (ref: ActorRef<string>): void => {
    for (let i = 0; i < many; i++) ref.tell('x')
  }

  test.each(['dead-letter', 'drop', 'redirect'] as const)('is put away in portions when its actor stops: %s', async (how) => {
    const it = make()
    const { system } = it
    let moved = 0
    const heir = system.spawn(receive<string>(() => (moved++, same)))
    const ref = system.spawn(
      receive<string>(() => same),
      { name: 'full', drain: how === 'redirect' ? { redirect: heir } : how },
    )
    system.pump()
    system.suspend(ref, 'to fill it')
    system.pump()
    fill(ref)
    const open = new Set<string>()
    system.events.listen(
      (e) => void ((e as { type: string }).type === 'message.dead' && open.add(`${system.find('/user/full')?.path} ${system.phaseOf(ref)}`)),
    )
    expect(stretches(it, () => ref.stop())).toBeGreaterThan(least)
    const ledger = await system.ledger()
    expect(ledger).toMatchObject({
      sent: many,
      handled: how === 'redirect' ? many : 0,
      dropped: how === 'drop' ? many : 0,
      deadLettered: how === 'dead-letter' ? many : 0,
    })
    expect(moved).toBe(ledger.handled)
    // Its name is free by then, and it has not terminated yet.
    expect([...open]).toEqual(how === 'dead-letter' ? ['undefined stopped'] : [])
    await system.shutdown()
  })

  test('the ledger adds up between portions, a parent waits for the last, and its name can be given again meanwhile', async () => {
    const { system, runtime } = make()
    let child!: ActorRef<string>
    const parent = system.spawn(
      setup<never>((ctx) => {
        child = ctx.spawn(
          receive<string>(() => same),
          { name: 'full' },
        )
        return ignore
      }),
    )
    system.pump()
    system.suspend(child, 'to fill it')
    system.pump()
    fill(child)
    parent.stop()
    const seen: number[] = []
    runtime.pump(() => {
      if (system.phaseOf(child) !== 'stopped') return false
      seen.push(system.deadLetters.count)
      expect(system.phaseOf(parent)).toBe('stopping')
      return false
    })
    expect(seen.length).toBeGreaterThan(10)
    expect(system.phaseOf(parent)).toBe('terminated')
    await system.shutdown()
  })

  test('is cleared in portions by a restart that clears it; what comes meanwhile stays, and so does the pill', async () => {
    const { system, runtime } = make()
    const handled: string[] = []
    const ref = system.spawn(
      receive<string>((_c, m) => {
        if (m === 'boom') throw new Error('boom')
        handled.push(m)
        return same
      }),
      { onRestart: { mailbox: 'clear' } },
    )
    system.pump()
    ref.tell('boom')
    fill(ref)
    ref.stop({ after: 'queued' })
    const late: string[] = []
    runtime.pump(() => {
      if (system.phaseOf(ref) !== 'restarting') return false
      late.push(`late ${late.length}`)
      ref.tell(late.at(-1)!)
      return false
    })
    while (system.phaseOf(ref) !== 'terminated') system.pump()
    expect(late.length).toBeGreaterThan(10)
    expect(handled.length).toBeGreaterThan(10)
    expect(handled).toEqual(late.slice(0, handled.length))
    // Those that came when all was cleared, and the pill back in its place, are behind it.
    const deadLettered = late.length - handled.length
    expect(await system.ledger()).toMatchObject({ dropped: many, failed: 1, sent: many + 2 + late.length, deadLettered })
    await system.shutdown()
  })
})

describe('many who wait for one', () => {
  const many = 5_000
  const least = many / 64 / (sliceMs / perRead) / 2

  test('watchers are told in portions, each once, also those that come meanwhile', async () => {
    const it = make()
    const { system, runtime } = it
    const target = system.spawn(ignore)
    let told = 0
    const watcher = (): Behavior<never> =>
      setup((ctx) => {
        ctx.watch(target)
        return receive(
          () => same,
          (_c, s) => {
            if (s.type === 'Terminated') told++
            return same
          },
        )
      })
    for (let i = 0; i < many; i++) system.spawn(watcher())
    system.pump()
    target.stop()
    runtime.longest = 0
    let late = 0
    const before = runtime.enters
    runtime.pump(() => {
      if (system.phaseOf(target) === 'stopped' && late < 3) {
        late++
        system.spawn(watcher())
      }
      return false
    })
    expect(late).toBe(3)
    expect(told).toBe(many + 3)
    expect(runtime.enters - before).toBeGreaterThan(least)
    expect(runtime.longest).toBeLessThan(3 * sliceMs)
    await system.shutdown()
  })

  test('questions that were never answered are ended in portions', async () => {
    const it = make()
    const { system, runtime } = it
    const target = system.spawn(receive<{ readonly replyTo: ActorRef<number> }>(() => same))
    const codes = new Set<unknown>()
    let ended = 0
    for (let i = 0; i < many; i++)
      void target.ask({}, { timeout: 1e9 }).catch((cause: { code: unknown }) => {
        ended++
        codes.add(cause.code)
      })
    system.pump()
    const turns = stretches(it, () => target.stop())
    await new Promise((resolve) => setImmediate(resolve))
    expect(ended).toBe(many)
    expect([...codes]).toEqual(['ask-target-stopped'])
    expect(turns).toBeGreaterThan(least)
    expect(runtime.longest).toBeLessThan(3 * sliceMs)
    await system.shutdown()
  })
})

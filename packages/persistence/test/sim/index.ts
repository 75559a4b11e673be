// The scenarios of persistence, simulated as those of the core are: by `npm run sim`, by tests and by the mutation proof.

import { receive, same } from '@troupe/core'
import { type Head, type MemoryFaults, type Ownership, projection, type Run, type StateWrite } from '@troupe/persistence'
import type { LibraryScenario, Simulation } from '@troupe/testkit/internal'
import { bank } from './bank.ts'
import { clocks } from './clocks.ts'
import { isState, journalled, type Keeping, type Notebook, type Shown, stage, type World } from './stage.ts'

const times = { duration: 800, grace: 30_000, maxSteps: 60_000 } as const

/** In the end the journal works, and everybody says what it has. */
function inTheEnd(world: World): void {
  const { sim, journal, keys } = world
  sim.after(600, () => {
    for (const name of Object.keys(journal.faults) as (keyof MemoryFaults)[]) journal.faults[name] = 0
  })
  const said = new Map<string, readonly number[]>()
  const look = (): void => {
    for (const key of keys) {
      if (sim.system.phaseOf(world.ref(key)) === 'terminated') world.reopen(key)
      world
        .ref(key)
        .ask({ type: 'read' }, { timeout: 3000 })
        .then(
          (words) => void said.set(key, words),
          () => undefined,
        )
    }
  }
  const written = new Set<string>()
  const write = (): void => {
    for (const key of keys)
      world
        .ref(key)
        .ask({ type: 'write', words: world.words() }, { timeout: 3000 })
        .then(
          () => void written.add(key),
          () => undefined,
        )
  }
  for (const at of [9000, 16_000, 24_000]) sim.after(at, look)
  for (const at of [12_000, 20_000]) sim.after(at, write)
  const sound = (): readonly string[] => (world.fenced ? [] : keys.filter((key) => !world.damaged.has(key)))
  sim.eventually('every notebook takes words again', () => sound().every((key) => written.has(key)))
  sim.eventually('every notebook says what the journal has', () =>
    sound().every((key) => (said.get(key)?.join(' ') ?? 'nothing') === world.stored(key).join(' ')),
  )
}

function act(world: World): void {
  const { sim } = world
  const key = sim.oneOf(world.keys)
  const ref = world.ref(key)
  if (sim.system.phaseOf(ref) === 'terminated') return world.reopen(key)
  switch (sim.choose(17)) {
    case 6:
      return ref.tell({ type: 'scribble', words: world.words() })
    case 7:
      return world.ask(key, 'spill')
    case 8:
      return world.kill(key)
    case 9:
      return sim.system.restart(ref)
    case 10:
      return ref.stop()
    case 11:
      return world.ask(key, 'puzzle')
    case 12:
      return ref.tell({ type: 'close' })
    case 15:
    case 16:
      return world.note(key)
    case 14:
      return world.ask(key, 'blot')
    case 13:
      for (let i = sim.int(2, 8); i > 0; i--) ref.tell({ type: 'scribble', words: world.words() })
      return world.ask(key, 'read')
    case 3:
    case 4:
    case 5:
      return world.ask(key, 'read')
    default:
      return world.ask(key, 'write')
  }
}

/** Hears what notebooks show, and compares it when it arrives. */
function witness(world: World): ReturnType<Simulation['system']['spawn']> {
  const { sim } = world
  return sim.system.spawn(
    receive<Shown>((_ctx, m) => {
      world.seen(m.key, m.words, 'showed')
      return same
    }),
  ) as never
}

function scenario(
  name: string,
  about: string,
  faults: (sim: Simulation) => MemoryFaults,
  options: Parameters<typeof journalled>[0] = {},
  more?: (world: World) => void,
  keepings: readonly Keeping[] = ['events', 'state', 'few events', 'events in place', 'state in place'],
): LibraryScenario {
  return {
    name: `persistence ${name}`,
    about,
    options: { ...times, faults: 'none', system: { extensions: [journalled(options)] } },
    run(sim) {
      const world = stage(sim, faults(sim), keepings)
      const seer = witness(world) as unknown as Parameters<typeof world.sim.spare>[0] & { tell(m: Shown): void }
      more?.(world)
      sim.plan(sim.int(1, 24), () => {
        if (sim.choose(6) === 5) world.ref(sim.oneOf(world.keys)).tell({ type: 'show', to: seer as never } satisfies Notebook)
        else act(world)
      })
      inTheEnd(world)
    },
  }
}

/** A projection that takes its time beside actors whose events are deleted: it handles every event, in order. */
function lagging(world: World): void {
  const { sim, journal, keys } = world
  const handled = new Map<string, number>()
  const pause = sim.oneOf([300, 0, 40, 2000])
  sim.system.spawn(
    projection({
      name: 'view',
      from: { kind: 'notebook' },
      batch: sim.oneOf([2, 1, 100]),
      async handle(events) {
        if (pause > 0 && sim.now < 3000) await sim.delay(pause)
        for (const { id, seq } of events) {
          const last = handled.get(id) ?? 0
          sim.check(seq <= last + 1, `P13: the projection was given event ${seq} of ${id} after ${last}: what is between was deleted`)
          handled.set(id, Math.max(last, seq))
        }
      },
    }),
  )
  sim.always(() => {
    for (const key of keys) {
      const { deleted } = journal.headOf(`notebook/${key}`)
      const last = handled.get(`notebook/${key}`) ?? 0
      if (deleted > last) sim.violate('invariant', `P13: events of ${key} up to ${deleted} were deleted, and the projection has handled ${last}`)
    }
  })
  sim.eventually('the projection has handled everything', () =>
    keys.every((key) => (handled.get(`notebook/${key}`) ?? 0) === journal.headOf(`notebook/${key}`).seq),
  )
}

export const library: readonly LibraryScenario[] = [
  scenario('in peace', 'notebooks are written, read, killed and restarted on a journal that takes its time', (sim) => ({
    delay: sim.oneOf([20, 0, 90]),
  })),
  scenario('refused', 'the journal refuses groups, and parts of groups', (sim) => ({
    delay: sim.oneOf([20, 0, 60]),
    fail: 0.2,
    partial: 0.3,
    snapshot: 0.3,
  })),
  scenario('unknown', 'the journal does not say what became of a group, and some of it arrives late', (sim) => ({
    delay: sim.oneOf([20, 0, 60]),
    unknown: 0.3,
    fail: 0.1,
    read: 0.1,
  })),
  scenario('held', 'what is refused is held and tried again', (sim) => ({ delay: sim.oneOf([20, 0]), fail: 0.4, unknown: 0.05 }), {
    whenAway: 'wait',
  }),
  scenario(
    'taken over',
    'another system raises the fence and writes: whoever was there before acknowledges nothing more',
    (sim) => ({ delay: sim.oneOf([20, 0, 60]), unknown: sim.oneOf([0, 0.1]) }),
    {},
    (world) => {
      const { sim } = world
      const at = sim.choose(3) === 2 ? 0 : sim.int(50, 500)
      const again = (): void => sim.after(50, () => void takeOver(world).catch(() => undefined))
      const begin = (): void => void takeOver(world).catch(again)
      if (at === 0) begin()
      else sim.after(at, begin)
    },
  ),
  scenario(
    'trimmed',
    'events go as far as snapshots stand for them, and some snapshots cannot be read: nothing is lost',
    (sim) => ({ delay: sim.oneOf([20, 0, 60]), spoil: sim.oneOf([0.4, 0.1]), snapshot: 0.1, unknown: sim.oneOf([0, 0.2]) }),
    {},
    lagging,
    ['few events'],
  ),
  scenario(
    'damaged',
    'a record becomes unreadable: whoever needs it does not start, and nobody says anything else than what was stored',
    (sim) => ({ delay: sim.oneOf([20, 0]), fail: sim.oneOf([0, 0.1]) }),
    {},
    (world) => {
      const { sim, journal } = world
      sim.after(sim.int(50, 500), () => {
        const key = sim.oneOf(world.keys)
        const { seq } = journal.headOf(`notebook/${key}`)
        if (seq === 0) return
        world.damaged.add(key)
        journal.damage(`notebook/${key}`, sim.int(1, seq))
      })
    },
    ['events'],
  ),
  bank,
  clocks,
]

/** What a rival writes: one more word. */
function anotherWord(
  keeping: Keeping,
  { id, seq, state }: Head,
): Omit<Run, 'timers' | keyof Ownership> | Omit<StateWrite, 'timers' | keyof Ownership> {
  if (!isState(keeping)) {
    const data = JSON.stringify({ type: 'written', word: 1_000_000 + 10 * seq })
    return { write: 'run', id, first: seq + 1, events: [{ type: 'written', version: 1, data, tags: [], subject: undefined, time: 0 }] }
  }
  const expected = state?.revision ?? 0
  const words = state?.data === undefined ? [] : (JSON.parse(state.data) as number[])
  const data = JSON.stringify([...words, 1_000_000 + 10 * expected])
  return { write: 'state', id, expected, revision: expected + 1, version: 1, data, subject: undefined, time: 0 }
}

/** Another owner: raises, reads, writes, as another process would. */
async function takeOver(world: World): Promise<void> {
  const { sim, journal } = world
  const rival = await journal.open({
    now: () => sim.now,
    random: () => sim.choose(1000) / 1000,
    after: (ms, task) => {
      sim.after(ms, task)
      return () => undefined
    },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  })
  const epoch = (await rival.epoch('default')) + 1
  // Nobody owns it yet: the system is about to, so that it is open who of the two comes later, and both must know.
  const race = epoch === 1
  await rival.raise('default', epoch)
  world.fenced = true
  for (let round = 0; round < 3; round++) {
    for (const key of world.keys) {
      const id = `notebook/${key}`
      const [head] = await rival.heads([id])
      const [outcome] = await rival.append([{ ...anotherWord(world.keeping, head!), timers: [], scope: 'default', epoch }])
      sim.check(
        outcome!.is !== 'conflict' && (race || outcome!.is !== 'fenced'),
        `P5: ${id} has two owners: what the later one wrote was ${outcome!.is}`,
      )
      // What it is to do about that is not what this is about.
      if (outcome!.is !== 'stored') return
    }
    await sim.delay(30)
  }
}

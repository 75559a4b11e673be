// The stage of the scenarios: notebooks whose state is the list of all that was ever written into them, on a journal that misbehaves.
// Whatever a notebook says is compared with the journal at that very moment: it must be how the journal begins. That is P1 (what is
// acknowledged is there), P2 and P3 (what recovers is what was), P4 (nothing that is not durable is seen), P6 and P9 in one look.

import type { ActorRef, Extension, MessageSchema, SystemView } from '@troupe/core'
import {
  type JournalEnvironment,
  type CommandContext,
  type Commands,
  durableState,
  eventSourced,
  type Kind,
  type Leaving,
  memory,
  type MemoryFaults,
  type MemorySource,
  persistence,
  type PersistenceOptions,
  type StateContext,
} from '@troupe/persistence'
import type { Simulation } from '@troupe/testkit/internal'

export type Notebook =
  | { type: 'write'; words: readonly number[]; replyTo: ActorRef<readonly number[]> }
  | { type: 'scribble'; words: readonly number[] }
  | { type: 'read'; replyTo: ActorRef<readonly number[]> }
  | { type: 'spill'; words: readonly number[]; replyTo: ActorRef<readonly number[]> }
  | { type: 'blot'; words: readonly number[]; replyTo: ActorRef<readonly number[]> }
  | { type: 'note'; words: readonly number[]; stops: boolean; replyTo: ActorRef<readonly number[]> }
  | { type: 'show'; to: ActorRef<Shown> }
  | { type: 'puzzle'; replyTo: ActorRef<readonly number[]> }
  | { type: 'close' }

/** What a notebook tells others about itself. */
export interface Shown {
  readonly key: string
  readonly words: readonly number[]
}

/** Thrown by a notebook: says what it saw. */
class Spilled extends Error {
  readonly words: readonly number[]
  constructor(words: readonly number[]) {
    super(`spilled at ${words.length}`)
    this.words = words
  }
}

/** How notebooks are kept: by their events, all of them or as few as snapshots allow, or as a whole; by handlers that make another state or change the one they have. */
export type Keeping = 'events' | 'few events' | 'state' | 'events in place' | 'state in place'

/** A word that the schema of notebooks refuses. */
const blotted = -1
const schema: MessageSchema = {
  '~standard': {
    version: 1,
    vendor: 'sim',
    validate: (value) =>
      (Array.isArray(value) ? value : [(value as { word: number }).word]).includes(blotted) ? { issues: [{ message: 'blotted' }] } : { value },
  },
}

/** An effect of a notebook ran: that of the command with this word. */
type Ran = (key: string, word: number) => void

/** What commands do, whatever is kept. */
function commandsOf<C extends Leaving<Notebook> & { readonly state: readonly number[] }>(
  write: (ctx: C, words: readonly number[]) => void,
  ran: Ran,
): Commands<C, Notebook> {
  return {
    write(ctx, m) {
      write(ctx, m.words)
      ctx.tell(m.replyTo, [...ctx.state])
    },
    scribble: (ctx, m) => write(ctx, m.words),
    // Copies leave: a state that is changed in place would go on changing while it waits for the journal.
    read: (ctx, m) => ctx.tell(m.replyTo, [...ctx.state]),
    spill(ctx, m) {
      const before = [...ctx.state]
      write(ctx, m.words)
      ctx.tell(m.replyTo, [...ctx.state])
      throw new Spilled(before)
    },
    // What the schema refuses comes last: all of the command is refused with it.
    blot(ctx, m) {
      write(ctx, [...m.words, blotted])
      ctx.tell(m.replyTo, [...ctx.state])
    },
    note(ctx, m) {
      const { key } = ctx
      write(ctx, m.words)
      ctx.after(() => ran(key, m.words[0]!))
      ctx.tell(m.replyTo, [...ctx.state])
      if (m.stops) ctx.stop()
    },
    show: (ctx, m) => ctx.tell(m.to, { key: ctx.key, words: [...ctx.state] }),
    puzzle: (ctx) => ctx.unhandled(),
    close: (ctx) => ctx.stop(),
  }
}

export function isState(keeping: Keeping): boolean {
  return keeping === 'state' || keeping === 'state in place'
}

function notebook(keeping: Keeping, snapshotEvery: number, ran: Ran): Kind<Notebook> {
  const initial = (): readonly number[] => []
  const inPlace = (words: readonly number[], word: number): readonly number[] => {
    ;(words as number[]).push(word)
    return words
  }
  const add = keeping.endsWith('in place') ? inPlace : (words: readonly number[], word: number): readonly number[] => [...words, word]
  if (isState(keeping))
    return durableState('notebook', {
      initial,
      schema,
      commands: commandsOf<StateContext<readonly number[], Notebook>>((ctx, words) => {
        for (const word of words) ctx.update((before) => add(before, word))
      }, ran),
    })
  return eventSourced('notebook', {
    initial,
    events: { written: (words, e: { word: number }) => add(words, e.word) },
    commands: commandsOf<CommandContext<readonly number[], { readonly type: 'written'; word: number }, Notebook>>((ctx, words) => {
      for (const word of words) ctx.persist({ type: 'written', word })
    }, ran),
    schema,
    snapshotEvery,
    keepEvents: keeping === 'few events' ? 0 : undefined,
  })
}

export interface World {
  readonly sim: Simulation
  readonly journal: MemorySource
  readonly keys: readonly string[]
  readonly keeping: Keeping
  /** Those of which a record was made unreadable. */
  readonly damaged: Set<string>
  /** The actor that has a key at present. */
  ref(key: string): ActorRef<Notebook>
  /** Another actor for that key, where the last one has ended. */
  reopen(key: string): void
  /** A few words that nobody has written before; those of one command are consecutive. */
  words(): readonly number[]
  /** What the journal has of a key. */
  stored(key: string): readonly number[]
  /** Compares what was said with what is stored. */
  seen(key: string, words: readonly number[], how: string): void
  /** Asks, and compares the answer. */
  ask(key: string, question: 'write' | 'read' | 'spill' | 'puzzle' | 'blot'): void
  /** Writes with an effect, which must run though the notebook stops meanwhile. */
  note(key: string): void
  /** Kills a notebook: effects that wait are lost with it. */
  kill(key: string): void
  /** Another system has taken over. */
  fenced: boolean
}

const journals = new WeakMap<object, MemorySource>()
/** How many writes go together in a run: of so few that a group begins before the last one is told. */
const groups = new WeakMap<object, { writes: number; readonly events: number; readonly bytes: number }>()

/** The journal of a run. */
export function journalIn(sim: Simulation): MemorySource {
  return journals.get(sim.system)!
}

/** Persistence on a journal of its own for each run. */
export function journalled(
  options: Omit<PersistenceOptions, 'journal'> | ((system: SystemView) => Omit<PersistenceOptions, 'journal'>) = {},
): Extension {
  return {
    name: 'persistence',
    open(system) {
      const source = memory()
      const limits = { writes: 1000, events: 10_000, bytes: 4_000_000 }
      journals.set(system, source)
      groups.set(system, limits)
      const journal = { ...source, open: async (environment: JournalEnvironment) => Object.assign(await source.open(environment), { limits }) }
      // What handlers do in place is simulated, too, and must be allowed for that.
      return persistence({
        journal,
        recovery: { timeout: 500 },
        immutableCheck: false,
        ...(typeof options === 'function' ? options(system) : options),
      }).open(system)
    },
  }
}

export function stage(sim: Simulation, faults: MemoryFaults, keepings: readonly Keeping[], keysAtMost = 3): World {
  const journal = journals.get(sim.system)!
  groups.get(sim.system)!.writes = sim.oneOf([1000, 1, 2])
  const keeping = sim.oneOf(keepings)
  /** By word: effects that ran, and those that must because their command was acknowledged. */
  const effects = new Set<number>()
  const owed = new Map<number, string>()
  const killed = new Set<ActorRef<Notebook>>()
  const ran: Ran = (key, noted) => {
    sim.check(!effects.has(noted), `an effect of ${key} ran twice: that of ${noted}`)
    sim.check(world.fenced || world.stored(key).includes(noted), `P4: an effect of ${key} ran, and ${noted} is not stored`)
    effects.add(noted)
    owed.delete(noted)
  }
  const kind = notebook(keeping, keeping === 'few events' ? sim.oneOf([2, 3, 5]) : sim.oneOf([0, 1, 3, 7]), ran)
  /** What was stored, also what was deleted since. */
  const known = new Map<string, number[]>()
  const keys = Array.from({ length: sim.int(1, keysAtMost) }, (_, i) => `n${i}`)
  const refs = new Map<string, ActorRef<Notebook>>()
  let word = 0
  /** How many words each command has. */
  const sizes = new Map<number, number>()
  const world: World = {
    sim,
    journal,
    keys,
    keeping,
    damaged: new Set(),
    fenced: false,
    ref: (key) => refs.get(key)!,
    // Whoever lets it go on after a failed write must not meet what was never stored.
    reopen: (key) => void refs.set(key, sim.system.spawn(kind(key), sim.choose(4) === 3 ? { supervision: 'resume' } : {})),
    words() {
      const count = sim.int(1, 3)
      const base = ++word * 10
      sizes.set(base, count)
      return Array.from({ length: count }, (_, i) => base + i)
    },
    stored(key) {
      const id = `notebook/${key}`
      const { deleted, state } = journal.headOf(id)
      if (isState(keeping)) return state?.data === undefined ? [] : (JSON.parse(state.data) as number[])
      const events = journal.eventsOf(id).map(({ data }) => (JSON.parse(data) as { word: number }).word)
      if (keeping !== 'few events') return events
      const all = [...(known.get(key) ?? []).slice(0, deleted), ...events]
      known.set(key, all)
      return all
    },
    seen(key, words, how) {
      const stored = world.stored(key)
      sim.check(
        words.length <= stored.length && words.every((one, i) => stored[i] === one),
        `P4: ${key} ${how} [${words.join(' ')}], and the journal has [${stored.join(' ')}]`,
      )
    },
    note(key) {
      const words = world.words()
      const ref = world.ref(key)
      ref.ask({ type: 'note', words, stops: sim.choose(2) === 1 }, { timeout: 2000 }).then(
        () => {
          if (!effects.has(words[0]!) && !killed.has(ref)) owed.set(words[0]!, key)
        },
        () => undefined,
      )
    },
    kill(key) {
      for (const [noted, of] of owed) if (of === key) owed.delete(noted)
      sim.system.kill(world.ref(key))
      killed.add(world.ref(key))
    },
    ask(key, question) {
      const words = question === 'write' || question === 'spill' || question === 'blot' ? world.words() : []
      const ref = world.ref(key)
      const asked = ref.ask({ type: question, words } as { type: 'write'; words: readonly number[] }, { timeout: sim.oneOf([400, 30, 2000]) })
      asked.then(
        (answer) => {
          world.seen(key, answer, `answered ${question} with`)
          if (question === 'write')
            sim.check(
              words.every((one) => answer.includes(one)),
              `P1: ${key} acknowledged [${words.join(' ')}] without having them`,
            )
          sim.check(question !== 'spill' && question !== 'blot', `a command of ${key} that threw has answered`)
        },
        (cause: unknown) => {
          if (cause instanceof Spilled) world.seen(key, cause.words, 'failed, having seen')
        },
      )
    },
  }
  sim.eventually('every effect ran whose command was acknowledged', () => world.fenced || [...owed.values()].every((key) => world.damaged.has(key)))
  for (const key of keys) world.reopen(key)
  Object.assign(journal.faults, faults)
  sim.always(() => {
    for (const key of keys) {
      const stored = world.stored(key)
      const seen = new Set<number>()
      for (const [i, one] of stored.entries()) {
        if (one === blotted) return sim.violate('invariant', `${key} has stored what its schema refuses: it could never start again`)
        if (seen.has(one)) return sim.violate('invariant', `P6: ${key} has ${one} twice`)
        seen.add(one)
        // Words of one command follow each other, and all of them are there.
        const base = one - (one % 10)
        const last = base + (sizes.get(base) ?? 1) - 1
        if ((one > base && stored[i - 1] !== one - 1) || (one < last && stored[i + 1] !== one + 1))
          return sim.violate('invariant', `P7: ${key} has a part of a command: [${stored.join(' ')}]`)
      }
    }
  })
  return world
}

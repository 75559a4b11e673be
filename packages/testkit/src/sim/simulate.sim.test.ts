import { type ActorRef, type Behavior, entities, receive, same, setup, stopped, supervise, type SystemOptions } from '@troupe/core'
import { Cell } from '@troupe/core/internal'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { simulate, SimulationFailed, type SimulationFailure } from './simulate.ts'
import { buggify, type Simulation } from './simulation.ts'

const failing = async (
  scenario: (sim: Simulation) => void | Promise<void>,
  options: Parameters<typeof simulate>[1] = {},
): Promise<SimulationFailure> => {
  const error = await simulate(scenario, options).then(
    () => undefined,
    (cause: unknown) => cause,
  )
  expect(error).toBeInstanceOf(SimulationFailed)
  // The seed is told before a simpler run is looked for.
  expect(printed).toHaveLength(1)
  expect(printed[0]).toMatch(new RegExp(`with seed ${(error as SimulationFailed).failure.seed}: .*\\n.*replay: `, 's'))
  printed = []
  return (error as SimulationFailed).failure
}

// These are tests of the simulator, not simulations: a seed that somebody replays is not meant for them.
const given = process.env['TROUPE_SEED']
let printed: string[] = []
beforeEach(() => {
  delete process.env['TROUPE_SEED']
  printed = []
  vi.spyOn(console, 'warn').mockImplementation((text: unknown) => void printed.push(text as string))
})
afterEach(() => {
  vi.restoreAllMocks()
  if (printed.length > 0) throw new Error(`this was printed: ${printed.join('\n')}`)
  if (given === undefined) delete process.env['TROUPE_SEED']
  else process.env['TROUPE_SEED'] = given
})

// A counter that reads, waits and writes back: two at a time lose an update.
type Account = { type: 'add' } | { type: 'read'; replyTo: ActorRef<number> } | { type: 'write'; n: number }
const account = (): Behavior<Account> =>
  setup<Account>(() => {
    let n = 0
    return receive<Account>((_ctx, m) => {
      if (m.type === 'read') m.replyTo.tell(n)
      else if (m.type === 'write') n = m.n
      return same
    })
  })
const lostUpdate = (sim: Simulation): void => {
  const ref = sim.system.spawn(account(), { name: 'account' })
  let done = 0
  for (let i = 0; i < 2; i++) {
    const client = receive<'go'>(async (ctx) => {
      const n = await ctx.ask(ref, { type: 'read' })
      ref.tell({ type: 'write', n: n + 1 })
      done++
      return stopped
    })
    sim.system.spawn(client, { name: `client${i}` }).tell('go')
  }
  let final = 0
  sim.eventually('both clients are counted', () => done < 2 || final === 2)
  sim.after(900, () => void ref.ask({ type: 'read' }).then((n) => (final = n)))
}

test('a lost update is found, shrunk, drawn, and replayed by its seed', async () => {
  const failure = await failing(lostUpdate, { name: 'lost update', seeds: 200, faults: 'none' })
  expect(failure.violation.invariant).toBe('liveness')
  expect(failure.shrunkSteps).toBeLessThanOrEqual(20)
  expect(failure.report).toContain(`TROUPE_SEED=${failure.seed} npm test`)
  expect(failure.report).toMatch(/●─+ read#\d+ ─+▶/)
  process.env['TROUPE_SEED'] = String(failure.seed)
  const again = await failing(lostUpdate, { name: 'lost update', seeds: 200, faults: 'none' })
  expect(again).toEqual(failure)
})

test('PCT and random schedules both find it; the plain schedule does not', async () => {
  for (const strategy of ['random', { pct: 3 }] as const)
    expect((await failing(lostUpdate, { seeds: 300, strategy, faults: 'none' })).violation.invariant).toBe('liveness')
})

test('a handler that waits for something unknown fails the run, with actor and message', async () => {
  const failure = await failing(
    (sim) => {
      sim.system
        .spawn(
          receive<{ type: 'hang' }>(() => new Promise<never>(() => {})),
          { name: 'stuck' },
        )
        .tell({ type: 'hang' })
    },
    { seeds: 1, faults: 'none' },
  )
  expect(failure.violation).toMatchObject({ invariant: 'stuck', actor: '/user/stuck' })
  expect(failure.violation.text).toContain('hang')
})

test('options that a function makes are made anew for every run, so that nothing of one is left in the next', async () => {
  const made: string[][] = []
  const system = (): SystemOptions => {
    const joined: string[] = []
    made.push(joined)
    const open = (): object => {
      joined.push('joined')
      return {}
    }
    return { extensions: [{ name: 'memory', open }] }
  }
  await simulate((sim) => void sim.system.spawn(receive(() => same)), { name: 'anew', seeds: 3, faults: 'none', system })
  expect(made).toEqual([['joined'], ['joined'], ['joined']])
})

test('an invariant of the user is checked after every step', async () => {
  let n = 0
  const failure = await failing(
    (sim) => {
      n = 0
      const ref = sim.system.spawn(receive<number>((_c, by) => void (n += by)))
      sim.plan(5, () => ref.tell(sim.int(1, 3)))
    },
    { seeds: 50, faults: 'none', invariants: { 'never above ten': () => n <= 10 } },
  )
  expect(failure.violation).toMatchObject({ invariant: 'invariant', text: 'never above ten' })
})

test('faults strike by the seed, and are left out by shrinking where they do not matter', async () => {
  let failures = 0
  const report = await simulate(
    (sim) => {
      const ref = sim.system.spawn(
        receive<number>(() => same),
        { supervision: 'resume' },
      )
      sim.plan(10, (i) => ref.tell(i))
      sim.system.events.listen((e) => void ((e as { type: string }).type === 'actor.failed' && failures++))
    },
    { seeds: 100, faults: { throw: 0.2, most: 2 } },
  ).catch((e: unknown) => e)
  expect(report).not.toBeInstanceOf(SimulationFailed)
  expect(failures).toBeGreaterThan(20)
  expect(failures).toBeLessThanOrEqual(200)
})

test('buggify is true now and then inside a run, and never outside', async () => {
  expect(buggify('anything', 1)).toBe(false)
  let struck = 0
  await simulate((sim) => sim.system.spawn(receive<'x'>(() => void (buggify('short read', 0.5) && struck++))).tell('x'), {
    seeds: 60,
    faults: { most: 1 },
  })
  expect(struck).toBeGreaterThan(10)
  expect(struck).toBeLessThan(50)
})

test('an error that escapes to the process breaks C13', async () => {
  const failure = await failing(
    (sim) => {
      sim.system
        .spawn(
          receive<'x'>(() => {
            void Promise.reject(new Error('floating'))
            return same
          }),
        )
        .tell('x')
    },
    { seeds: 1, faults: 'none' },
  )
  expect(failure.violation.invariant).toBe('C13')
})

test('a mailbox that loses, repeats or reorders a message is caught', async () => {
  // eslint-disable-next-line typescript/unbound-method
  const { put, take } = Cell.prototype
  const crowd = (sim: Simulation): void => {
    const ref = sim.system.spawn(receive<{ n: number }>(() => same))
    for (let n = 0; n < 4; n++) ref.tell({ n })
  }
  const broken = async (): Promise<string> => (await failing(crowd, { seeds: 20, faults: 'none' })).violation.invariant
  try {
    Cell.prototype.put = function (message, meta) {
      if ((message as { n: number }).n !== 3) put.call(this, message, meta)
    }
    expect(await broken()).toBe('C2')
    Cell.prototype.put = function (message, meta) {
      put.call(this, message, meta)
      if ((message as { n: number }).n === 1) put.call(this, message, meta)
    }
    expect(await broken()).toBe('C2')
    Cell.prototype.put = put
    let held: unknown
    Cell.prototype.take = function () {
      const message = held ?? take.call(this)
      held = undefined
      if ((message as { n: number } | undefined)?.n !== 0) return message
      const next = take.call(this)
      if (next === undefined) return message
      held = message
      return next
    }
    expect(await broken()).toBe('C1')
  } finally {
    Cell.prototype.put = put
    Cell.prototype.take = take
  }
})

// Each of these would go on for ever at one moment: between two actors, outside of any, and within a single turn.
type Ball = { readonly type: 'ping' | 'pong'; readonly back: ActorRef<Ball> }
const player = receive<Ball>((ctx, { type, back }) => back.tell({ type: type === 'ping' ? 'pong' : 'ping', back: ctx.self }))
const restless: readonly (readonly [string, (sim: Simulation) => void, RegExp])[] = [
  [
    'two actors that never rest',
    (sim) => {
      const [a, b] = [sim.system.spawn(player, { name: 'a' }), sim.system.spawn(player, { name: 'b' })]
      const idle = sim.system.spawn(
        receive<'x'>(() => same),
        { name: 'idle' },
      )
      sim.plan(10, () => idle.tell('x'))
      sim.plan(1, () => a.tell({ type: 'ping', back: b }))
    },
    /^does not come to rest: .* steps at 0 ms.* busy: \/user\/[ab] \(running\), \/user\/[ab] \(running\)$/,
  ],
  [
    'what is due again at once',
    (sim) => {
      const again = (): void => sim.after(0, again)
      again()
    },
    /ever more is due at 0 ms/,
  ],
  [
    'a start that is made again and again',
    (sim) => {
      const restart = supervise({ limit: { restarts: 1e9, within: 1000 }, backoff: { min: 0, max: 0 } })
      const frail = setup<'x'>((ctx) => {
        if (ctx.incarnation > 0) throw new Error('once is enough')
        return receive<'x'>(() => {
          throw new Error('once')
        })
      })
      sim.system.spawn(frail, { name: 'frail', supervision: restart }).tell('x')
    },
    /steps at 0 ms.* busy: \/user\/frail/,
  ],
  [
    'a turn without end',
    (sim) => {
      const busy = receive<'x'>((ctx) => {
        for (;;) sim.system.suspend(ctx.self, 'again')
      })
      sim.system.spawn(busy, { name: 'busy' }).tell('x')
    },
    /a turn does not end/,
  ],
  [
    'work that breathes for ever',
    (sim) => {
      const busy = receive<'x'>(async (ctx) => {
        for (;;) await ctx.breathe()
      })
      sim.system.spawn(busy, { name: 'busy' }).tell('x')
    },
    /steps at 0 ms.* busy: \/user\/busy/,
  ],
]
for (const [what, scenario, text] of restless)
  test(`${what}: the run ends as a violation that says who is busy, and is shrunk to what led to it`, async () => {
    const failure = await failing(scenario, { seeds: 1, faults: 'none', maxSteps: 2000, shrinkTrials: 60 })
    expect(failure.violation.invariant).toBe('endless')
    expect(failure.violation.text).toMatch(text)
    expect(failure.shrunkSteps).toBeLessThanOrEqual(6)
  })

test('shrinking never makes a run longer', async () => {
  // The plain run is the long one: its clock ticks until it is stopped.
  const failure = await failing(
    (sim) => {
      let ticks = 0
      const clock = setup<'tick' | 'end'>((ctx) => {
        ctx.timers.every('t', 5, 'tick')
        return receive((_c, m) => (m === 'end' ? stopped : void ticks++))
      })
      const ref = sim.system.spawn(clock)
      sim.after(sim.oneOf([900, 40, 20]), () => ref.tell('end'))
      sim.eventually('it never ticked', () => ticks === 0)
    },
    { seeds: [1], faults: 'none' },
  )
  expect(failure.shrunkSteps).toBeLessThanOrEqual(failure.steps)
})

test('a message that entities refuse, with a fault at that very place, is accounted for', async () => {
  const refusing = (sim: Simulation): void => {
    const ref = sim.system.spawn(
      entities<{ type: 'to'; id: string }>({
        keyOf: (m) => {
          if (m.id === 'none') throw new Error('no key')
          return m.id
        },
        create: () => receive(() => same),
        idle: 50,
      }),
    )
    sim.plan(8, () => ref.tell({ type: 'to', id: sim.int(0, 1) === 0 ? 'a' : 'none' }))
  }
  const faults = { throw: 0.3, slow: 0.3, delay: 0.3, reject: 0.3, never: 0.2, most: 6 }
  await simulate(refusing, { seeds: 300, faults })
})

test('a broken promise prints its seed before a simpler run is looked for, which may outlive the test', async () => {
  let trials = 0
  let toldAt: number | undefined
  vi.mocked(console.warn).mockImplementation(() => void (toldAt ??= trials))
  await expect(simulate(lostUpdate, { onRun: () => {}, invariants: { counted: () => (trials++, true) } })).rejects.toBeInstanceOf(SimulationFailed)
  expect(toldAt).toBeGreaterThan(0)
  expect(trials).toBeGreaterThan(toldAt! * 2)
})

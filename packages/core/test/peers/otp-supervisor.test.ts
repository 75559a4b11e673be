// What OTP's supervisor_SUITE states and Troupe's supervisors promise too, where no other test of this package has it.
// Each case: see facts.ts.

import type { TestKit } from '@troupe/testkit'
import { expect } from 'vitest'
import {
  type ActorRef,
  AskTargetStopped,
  child,
  ChildRefused,
  type ChildSpec,
  InvalidChildren,
  InvalidOption,
  RestartIntensityExceeded,
  setup,
  stopped,
  supervisor,
  supervisorClient,
  type SupervisorClient,
  type SupervisorOptions,
  template,
} from '@troupe/core'
import { type Journal, makeJournal, type Work, worker } from '../supervisor/worker.ts'
import { fact } from './fact.ts'

/** A child that is not wanted: OTP's `ignore`. */
const ignored = setup<Work>(() => stopped)

const clientOf = (kit: TestKit, options: SupervisorOptions = { children: [] }): SupervisorClient =>
  supervisorClient(kit.system.spawn(supervisor(options), { name: 'sup', supervision: 'stop' }))

const refusal = async (kit: TestKit, request: Promise<unknown>): Promise<string> =>
  kit.until(
    request.then(
      () => 'accepted',
      (cause: unknown) => (cause instanceof ChildRefused ? cause.reason : String(cause)),
    ),
  )

const counts = async (kit: TestKit, client: SupervisorClient): Promise<number[]> => {
  const { specs, active, supervisors, workers } = await kit.until(client.count())
  return [specs, active, supervisors, workers]
}

const listed = async (kit: TestKit, client: SupervisorClient): Promise<string> =>
  (await kit.until(client.children())).map((c) => `${c.name ?? '-'} ${c.status}`).join(', ')

const crash = async (kit: TestKit, path: string): Promise<void> => {
  ;(kit.system.find(path) as ActorRef<Work>).tell({ type: 'crash' })
  await kit.settle()
}

const three = (journal: Journal, options: object = {}): ChildSpec<Work>[] => ['a', 'b', 'c'].map((n) => child(n, worker(n, journal), options))

fact('supervisor_SUITE: sup_start_normal', 'a supervisor without children starts, answers, and ends normally when it is stopped', async (kit) => {
  const sup = kit.system.spawn(supervisor({ children: [] }))
  await kit.until(kit.system.started(sup))
  expect(await counts(kit, supervisorClient(sup))).toEqual([0, 0, 0, 0])
  const end = kit.system.whenTerminated(sup)
  sup.stop()
  expect((await kit.until(end)).reason).toBe('normal')
})

fact(
  'supervisor_SUITE: sup_start_ignore_child',
  'a permanent child whose setup returns stopped stays on file, stopped, and later ones start',
  async (kit) => {
    const client = clientOf(kit)
    const one = await refusal(kit, client.startChild(child('one', ignored)))
    const two = await refusal(kit, client.startChild(child('two', worker('two', makeJournal()))))
    expect([one, two]).toEqual(['accepted', 'accepted'])
    expect(await listed(kit, client)).toBe('one stopped, two running')
    expect(await counts(kit, client)).toEqual([2, 1, 0, 2])
  },
)

fact('supervisor_SUITE: sup_start_ignore_temporary_child', 'a declared temporary child whose setup returns stopped is not on file', async (kit) => {
  const client = clientOf(kit, {
    children: [child('one', ignored, { restart: 'temporary' }), child('two', worker('two', makeJournal()), { restart: 'temporary' })],
  })
  expect(await listed(kit, client)).toBe('two running')
  expect(await counts(kit, client)).toEqual([1, 1, 0, 1])
})

fact(
  'supervisor_SUITE: sup_start_ignore_temporary_child_start_child',
  'a temporary child started at run time whose setup returns stopped is not on file',
  async (kit) => {
    const client = clientOf(kit)
    await refusal(kit, client.startChild(child('one', ignored, { restart: 'temporary' })))
    await kit.until(client.startChild(child('two', worker('two', makeJournal()), { restart: 'temporary' })))
    expect(await listed(kit, client)).toBe('two running')
    expect(await counts(kit, client)).toEqual([1, 1, 0, 1])
  },
)

for (const [restart, name] of [
  ['temporary', 'sup_start_ignore_temporary_child_start_child_simple'],
  ['permanent', 'sup_start_ignore_permanent_child_start_child_simple'],
] as const)
  fact(
    `supervisor_SUITE: ${name}`,
    `a ${restart} instance whose setup returns stopped leaves nothing behind, and the supervisor ends well`,
    async (kit) => {
      const journal = makeJournal()
      const made = template((wanted: boolean) => (wanted ? worker('x', journal) : ignored), { restart })
      const sup = kit.system.spawn(supervisor({ strategy: 'simple-one-for-one', template: made }))
      const client = supervisorClient(sup)
      await refusal(kit, client.startChild(made.with(false)))
      await kit.until(client.startChild(made.with(true)))
      expect(await listed(kit, client)).toBe('- running')
      expect(await counts(kit, client)).toEqual([1, 1, 0, 1])
      const end = kit.system.whenTerminated(sup)
      sup.stop()
      expect((await kit.until(end)).reason).toBe('normal')
    },
  )

fact('supervisor_SUITE: sup_start_fail', 'a supervisor that cannot be made fails its start with the cause, and starts no child', async (kit) => {
  const broken = new Error('no options')
  const sup = kit.system.spawn(
    setup<never>(() => {
      throw broken
    }),
    { supervision: 'stop' },
  )
  const end = kit.system.whenTerminated(sup)
  await expect(kit.until(kit.system.started(sup))).rejects.toMatchObject({ code: 'actor-initialization', cause: broken })
  expect((await kit.until(end)).reason).toBe('failure')
  expect(kit.system.children).toEqual([])
})

fact(
  'supervisor_SUITE: sup_start_child_returns_error_simple',
  'an instance whose start fails is refused with its cause and leaves nothing',
  async (kit) => {
    const made = template((why: string) =>
      setup<Work>(() => {
        throw new Error(why)
      }),
    )
    const client = clientOf(kit, { strategy: 'simple-one-for-one', template: made })
    for (const why of ['no room', 'no light']) {
      const failed = await kit.until(client.startChild(made.with(why)).catch((cause: unknown) => cause))
      expect(failed).toMatchObject({ reason: 'start-failed' })
      expect(`${(failed as Error).message} ${String((failed as Error).cause)}`).toContain(why)
    }
    expect(await listed(kit, client)).toBe('')
  },
)

fact(
  'supervisor_SUITE: sup_start_map',
  'a child is permanent and has 5 s to stop, a supervisor as long as it wants, if nothing is said',
  async (kit) => {
    const journal = makeJournal()
    const client = clientOf(kit, {
      children: [child('one', worker('one', journal)), child('two', worker('two', journal), { shutdown: 'kill' }), child('three', supervisor({}))],
    })
    expect(await kit.until(client.children())).toMatchObject([
      { name: 'one', restart: 'permanent', shutdown: 5000, supervisor: false },
      { name: 'two', restart: 'permanent', shutdown: 'kill', supervisor: false },
      { name: 'three', restart: 'permanent', shutdown: 'infinity', supervisor: true },
    ])
    expect(await refusal(kit, client.refOf(child('four', worker('four', journal))))).toBe('not-found')
  },
)

fact('supervisor_SUITE: sup_start_map_simple', 'an instance has the defaults of its template', async (kit) => {
  const journal = makeJournal()
  const made = template((name: string) => worker(name, journal))
  const client = clientOf(kit, { strategy: 'simple-one-for-one', template: made })
  await kit.until(client.startChild(made.with('x')))
  expect(await kit.until(client.children())).toMatchObject([{ name: undefined, restart: 'permanent', shutdown: 5000, significant: false }])
})

fact('supervisor_SUITE: child_adm', 'each request to a supervisor that has ended rejects at once, for that reason', async (kit) => {
  const journal = makeJournal()
  const sup = kit.system.spawn(supervisor({ children: [] }))
  const client = supervisorClient(sup)
  await kit.settle()
  sup.stop()
  await kit.settle()
  const one = child('one', worker('one', journal))
  const requests: (() => Promise<unknown>)[] = [
    () => client.startChild(one),
    () => client.stopChild('one'),
    () => client.restartChild('one'),
    () => client.deleteChild('one'),
    () => client.refOf(one),
    () => client.children(),
    () => client.count(),
  ]
  for (const request of requests) {
    const began = kit.clock.now
    await expect(kit.until(request())).rejects.toBeInstanceOf(AskTargetStopped)
    expect(kit.clock.now).toBe(began)
  }
})

fact('supervisor_SUITE: child_adm_simple', 'an actor that is no instance is refused, and lives', async (kit) => {
  const journal = makeJournal()
  const made = template((name: string) => worker(name, journal))
  const client = clientOf(kit, { strategy: 'simple-one-for-one', template: made })
  expect(await counts(kit, client)).toEqual([1, 0, 0, 0])
  await kit.until(client.startChild(made.with('x')))
  const stranger = kit.system.spawn(worker('stranger', journal))
  await kit.settle()
  expect(await refusal(kit, client.stopChild(stranger))).toBe('not-found')
  expect(await refusal(kit, client.stopChild('x'))).toBe('not-found')
  expect(kit.system.phaseOf(stranger)).toBe('running')
  expect(await counts(kit, client)).toEqual([1, 1, 0, 1])
})

fact('supervisor_SUITE: child_specs', 'a child that is none, or declared twice, is refused where it is given', async (kit) => {
  const journal = makeJournal()
  const bad: [string, () => unknown][] = [
    ['no behavior', () => child('x', undefined as never)],
    ['restart', () => child('x', worker('x', journal), { restart: 'prmanent' as never })],
    ['shutdown', () => child('x', worker('x', journal), { shutdown: -10 })],
    ['two of a name', () => supervisor({ children: [child('x', worker('x', journal)), child('x', worker('x', journal))] })],
    ['no template', () => supervisor({ strategy: 'simple-one-for-one' } as never)],
    [
      'children beside a template',
      () => supervisor({ strategy: 'simple-one-for-one', template: template(() => ignored), children: three(journal) } as never),
    ],
  ]
  for (const [, make] of bad) expect(make).toThrow(/.{20}/)
  expect(bad[3]![1]).toThrow(InvalidChildren)
  const client = clientOf(kit)
  expect(await refusal(kit, client.startChild('hej' as never))).toBe('invalid')
  expect(await listed(kit, client)).toBe('')
})

fact('supervisor_SUITE: sup_flags', 'a strategy, intensity or period that makes no sense is refused by name', () => {
  for (const [option, value] of [
    ['strategy', 'none-for-one'],
    ['intensity', Infinity],
    ['intensity', -1],
    ['period', 0],
    ['period', Infinity],
    ['silly', true],
  ] as const) {
    expect(() => supervisor({ children: [], [option]: value }), `${option}: ${value}`).toThrow(InvalidOption)
    expect(() => supervisor({ children: [], [option]: value })).toThrow(option)
  }
})

fact('supervisor_SUITE: multiple_restarts', 'as many restarts as the intensity allows, one after the other, leave everybody running', async (kit) => {
  const journal = makeJournal()
  const client = clientOf(kit, { strategy: 'all-for-one', intensity: 10, period: 100_000, children: three(journal) })
  await kit.settle()
  for (let i = 0; i < 10; i++) await crash(kit, `/user/sup/${'abc'[i % 3]}`)
  expect(await listed(kit, client)).toBe('a running, b running, c running')
})

for (const [strategy, name] of [
  ['one-for-one', 'one_for_one_escalation'],
  ['all-for-one', 'one_for_all_escalation'],
  ['rest-for-one', 'rest_for_one_escalation'],
] as const)
  fact(
    `supervisor_SUITE: ${name}`,
    `${strategy}: a child that never comes up again uses the intensity up, and takes the others and the supervisor along`,
    async (kit) => {
      const journal = makeJournal()
      const sup = kit.system.spawn(supervisor({ strategy, intensity: 4, period: 3_600_000, children: three(journal) }), {
        name: 'sup',
        supervision: 'stop',
      })
      await kit.settle()
      expect(journal.take()).toEqual(['+a', '+b', '+c'])
      journal.plans['b']!.failStarts = 1000
      const end = kit.system.whenTerminated(sup)
      await crash(kit, '/user/sup/b')
      const { reason, cause } = await kit.until(end)
      expect(reason).toBe('failure')
      expect(cause).toBeInstanceOf(RestartIntensityExceeded)
      expect(journal.take().filter((line) => line === '!b')).toHaveLength(4)
      expect(kit.system.counts().active).toBe(0)
    },
  )

fact(
  'supervisor_SUITE: simple_one_for_one_escalation',
  'an instance that never comes up again takes all instances and the supervisor along',
  async (kit) => {
    const journal = makeJournal()
    const made = template((name: string) => worker(name, journal))
    const sup = kit.system.spawn(supervisor({ strategy: 'simple-one-for-one', intensity: 4, period: 3_600_000, template: made }), {
      supervision: 'stop',
    })
    const client = supervisorClient(sup)
    const x = await kit.until(client.startChild(made.with('x')))
    await kit.until(client.startChild(made.with('y')))
    journal.plans['x']!.failStarts = 1000
    const end = kit.system.whenTerminated(sup)
    x.tell({ type: 'crash' })
    expect((await kit.until(end)).cause).toBeInstanceOf(RestartIntensityExceeded)
    expect(kit.system.counts().active).toBe(0)
  },
)

fact('supervisor_SUITE: simple_one_for_one_extra', 'an instance is restarted with the arguments that it was started with', async (kit) => {
  const journal = makeJournal()
  const made = template((name: string, suffix: string) => worker(name + suffix, journal))
  const client = clientOf(kit, { strategy: 'simple-one-for-one', template: made })
  const refs = await kit.until(Promise.all([client.startChild(made.with('x', '1')), client.startChild(made.with('y', '2'))]))
  journal.take()
  for (const ref of refs) ref.tell({ type: 'crash' })
  await kit.settle()
  expect(journal.take().sort()).toEqual(['+x1', '+y2', '-x1', '-y2'])
})

fact(
  'supervisor_SUITE: rest_for_one_other_child_fails_restart',
  'a later sibling that does not come up is tried again with those that came up before it',
  async (kit) => {
    const journal = makeJournal()
    const client = clientOf(kit, { strategy: 'rest-for-one', intensity: 3, period: 3_600_000, children: three(journal) })
    await kit.settle()
    journal.take()
    journal.plans['b']!.failStarts = 1
    await crash(kit, '/user/sup/a')
    expect(journal.take().filter((line) => line === '!b')).toEqual(['!b'])
    expect(await listed(kit, client)).toBe('a running, b running, c running')
  },
)

fact(
  'supervisor_SUITE: tree',
  'a supervisor that is restarted begins with its declared children; those started at run time are gone',
  async (kit) => {
    const journal = makeJournal()
    const lower = child('lower', supervisor({ intensity: 1, period: 3_600_000, children: [child('a', worker('a', journal))] }))
    const other = child('other', supervisor({ children: [child('b', worker('b', journal))] }))
    const client = clientOf(kit, { strategy: 'all-for-one', intensity: 4, period: 3_600_000, children: [lower, other] })
    expect(await counts(kit, client)).toEqual([2, 2, 2, 0])
    const below = supervisorClient(await kit.until(client.refOf(lower)))
    await kit.until(below.startChild(child('late', worker('late', journal))))
    await crash(kit, '/user/sup/lower/late')
    expect(await listed(kit, below)).toBe('a running, late running')
    journal.take()
    await crash(kit, '/user/sup/lower/late')
    expect(await listed(kit, client)).toBe('lower running, other running')
    expect(await listed(kit, supervisorClient(await kit.until(client.refOf(lower))))).toBe('a running')
    expect(journal.take().filter((line) => line.startsWith('+'))).toEqual(['+a', '+b'])
  },
)

fact('supervisor_SUITE: count_children', '300 temporary instances are counted, and none of them once they were killed', async (kit) => {
  const journal = makeJournal()
  const made = template((name: string) => worker(name, journal), { restart: 'temporary' })
  const client = clientOf(kit, { strategy: 'simple-one-for-one', template: made })
  const refs = await kit.until(Promise.all(Array.from({ length: 300 }, (_, i) => client.startChild(made.with(`x${i}`)))))
  expect(await counts(kit, client)).toEqual([1, 300, 0, 300])
  for (const ref of refs) kit.system.kill(ref)
  await kit.settle()
  expect(await counts(kit, client)).toEqual([1, 0, 0, 0])
  expect(await listed(kit, client)).toBe('')
})

fact('supervisor_SUITE: count_children_supervisor', 'instances that are supervisors are counted as such', async (kit) => {
  const made = template(() => supervisor({ children: [] }))
  const client = clientOf(kit, { strategy: 'simple-one-for-one', template: made })
  await kit.until(Promise.all([client.startChild(made.with()), client.startChild(made.with())]))
  expect(await counts(kit, client)).toEqual([1, 2, 2, 0])
})

for (const strategy of ['one-for-one', 'all-for-one', 'rest-for-one'] as const)
  for (const how of ['end', 'crash', 'kill', 'stopChild'] as const)
    fact(
      'supervisor_SUITE: do_not_save_child_specs_for_temporary_children',
      `${strategy}: after ${how} the name of a temporary child is free, that of a permanent one is not`,
      async (kit) => {
        const journal = makeJournal()
        const client = clientOf(kit, { strategy, intensity: 10, children: [] })
        const spec = (name: string, restart: 'permanent' | 'temporary') => child(name, worker(name, journal), { restart })
        for (const [name, restart, after] of [
          ['p', 'permanent', how === 'stopChild' ? 'already-present' : 'already-started'],
          ['t', 'temporary', 'accepted'],
        ] as const) {
          const ref = await kit.until(client.startChild(spec(name, restart)))
          if (how === 'stopChild') await kit.until(client.stopChild(name))
          else if (how === 'kill') kit.system.kill(ref)
          else ref.tell({ type: how })
          await kit.settle()
          expect([restart, await refusal(kit, client.startChild(spec(name, restart)))]).toEqual([restart, after])
        }
      },
    )

for (const [strategy, name] of [
  ['one-for-one', 'hanging_restart_loop'],
  ['rest-for-one', 'hanging_restart_loop_rest_for_one'],
] as const)
  fact(
    `supervisor_SUITE: ${name}`,
    `${strategy}: a supervisor whose child fails to start over and over still answers, and can be told to give that child up`,
    async (kit) => {
      const journal = makeJournal()
      const backoff = { min: 10, max: 10, jitter: 0 }
      const client = clientOf(kit, { strategy, intensity: 1000, period: 1000, children: three(journal, { backoff }) })
      await kit.settle()
      journal.plans['b']!.failStarts = Infinity
      await crash(kit, '/user/sup/b')
      await kit.advance(500)
      const before = journal.take().filter((line) => line === '!b').length
      expect(before).toBeGreaterThan(40)
      expect(await refusal(kit, client.startChild(child('b', worker('b', journal))))).toBe('already-present')
      expect(await refusal(kit, client.restartChild('b'))).toBe('restarting')
      expect(await refusal(kit, client.deleteChild('b'))).toBe('restarting')
      expect((await counts(kit, client))[0]).toBe(3)
      await kit.until(client.stopChild('b'))
      journal.take()
      await kit.advance(500)
      expect(journal.lines.filter((line) => line === '!b')).toEqual([])
      expect(await listed(kit, client)).toBe('a running, b stopped, c running')
      await kit.until(client.deleteChild('b'))
      expect(await listed(kit, client)).toBe('a running, c running')
    },
  )

fact('supervisor_SUITE: hanging_restart_loop_simple', 'an instance that fails to start over and over can be stopped by its ref', async (kit) => {
  const journal = makeJournal()
  const made = template((name: string) => worker(name, journal), { backoff: { min: 10, max: 10, jitter: 0 } })
  const client = clientOf(kit, { strategy: 'simple-one-for-one', intensity: 1000, period: 1000, template: made })
  const x = await kit.until(client.startChild(made.with('x')))
  const y = await kit.until(client.startChild(made.with('y')))
  journal.plans['x']!.failStarts = Infinity
  x.tell({ type: 'crash' })
  await kit.advance(500)
  expect((await kit.until(client.children())).length).toBe(2)
  await kit.until(client.stopChild(x))
  expect((await kit.until(client.children())).map((c) => c.ref?.uid)).toEqual([y.uid])
})

fact('supervisor_SUITE: order_of_children', 'children are listed in the order of their start, which a restart does not change', async (kit) => {
  const journal = makeJournal()
  const client = clientOf(kit, { intensity: 10, children: three(journal) })
  await kit.until(client.startChild(child('d', worker('d', journal))))
  await crash(kit, '/user/sup/a')
  expect(await listed(kit, client)).toBe('a running, b running, c running, d running')
  await kit.until(client.stopChild('b'))
  await kit.until(client.restartChild('b'))
  expect(await listed(kit, client)).toBe('a running, b running, c running, d running')
})

// What Pekko's SupervisionSpec states and Troupe promises too, where no other test of this package has it.
// Each case: see facts.ts.

import { expect } from 'vitest'
import {
  Actor,
  type AnyRef,
  bounded,
  ignore,
  receive,
  same,
  setup,
  type Signal,
  stopped,
  supervise,
  type Supervision,
  type SupervisionPolicy,
} from '@troupe/core'
import { boom, keeper, quick, say } from '../keeper.ts'
import { fact } from './fact.ts'

class Odd extends Error {}
class Known extends Error {}

const slow = { min: 100, max: 100, jitter: 0 }
const quickly: SupervisionPolicy = supervise({ backoff: quick, limit: { restarts: 5, within: 1000 } })
const slowly: SupervisionPolicy = supervise({ backoff: slow, limit: { restarts: 5, within: 10_000 } })

for (const name of ['support nesting supervise', 'stop when unhandled exception'])
  fact(`SupervisionSpec: ${name}`, `one policy treats each kind of error in its own way (${name})`, async (kit) => {
    const log: string[] = []
    const policy = supervise({
      backoff: quick,
      decide: (cause) => (cause instanceof Odd ? 'resume' : cause instanceof Known ? 'restart' : 'stop'),
    })
    const ref = kit.system.spawn(keeper(log), { supervision: policy })
    for (const m of [say('a'), boom(new Odd()), say('b')]) ref.tell(m)
    expect(await kit.until(ref.ask({ type: 'get' }))).toEqual(['a', 'b'])
    ref.tell(boom(new Known()))
    expect(await kit.until(ref.ask({ type: 'get' }))).toEqual([])
    ref.tell(boom())
    await kit.settle()
    expect(kit.system.phaseOf(ref)).toBe('terminated')
  })

fact(
  'SupervisionSpec: stop at first exception when restart retries limit is 0',
  'with a limit of no restarts the first failure stops the actor',
  async (kit) => {
    const log: string[] = []
    const ref = kit.system.spawn(keeper(log), { supervision: supervise({ limit: { restarts: 0, within: 1000 } }) })
    ref.tell(boom())
    await kit.settle()
    expect(log).toEqual(['setup 0', 'PreStart', 'PostStart', 'PreStop', 'PostStop'])
    expect(kit.system.phaseOf(ref)).toBe('terminated')
  },
)

fact('SupervisionSpec: create underlying deferred behavior immediately', 'a setup runs though no message ever comes', async (kit) => {
  const log: string[] = []
  kit.system.spawn(keeper(log))
  await kit.settle()
  expect(log).toEqual(['setup 0', 'PreStart', 'PostStart'])
})

fact('SupervisionSpec: stop children when backoff', 'children stop when the backoff begins, and the next incarnation has its own', async (kit) => {
  const log: string[] = []
  const parent = setup<'fail'>((ctx) => {
    const { incarnation } = ctx
    ctx.spawn(
      receive<never>(
        () => same,
        (_c, s) => {
          if (s.type === 'PostStop') log.push(`child of ${incarnation} ended`)
          return same
        },
      ),
      { name: 'child' },
    )
    return receive(() => {
      throw new Error('boom')
    })
  })
  const ref = kit.system.spawn(parent, { supervision: slowly, name: 'parent' })
  await kit.settle()
  ref.tell('fail')
  await kit.advance(50)
  expect(log).toEqual(['child of 0 ended'])
  expect(kit.system.find('/user/parent/child')).toBeUndefined()
  await kit.advance(50)
  expect(kit.system.find('/user/parent/child')).toBeDefined()
})

for (const [title, supervision] of [
  ['stop children when restarting second time during unstash', quickly],
  ['stop children when backoff second time during unstash', slowly],
] as const)
  fact(`SupervisionSpec: ${title}`, `an incarnation that fails while it unstashes takes its children along too (${title})`, async (kit) => {
    let born = 0
    let ended = 0
    const isChild = (event: object): boolean => (event as { ref?: AnyRef }).ref?.path === '/user/parent/child'
    kit.system.events.listen((event) => void (isChild(event) && ended++), 'actor.terminated')
    const parent = setup<string>((ctx) => {
      born++
      ctx.spawn(ignore, { name: 'child' })
      if (ctx.incarnation > 0) ctx.stash.unstashAll()
      return receive((c, m) => {
        if (m === 'keep') {
          if (c.incarnation > 0) throw new Error('again')
          c.stash.add(m)
        }
        if (m === 'fail') throw new Error('boom')
        return same
      })
    })
    const ref = kit.system.spawn(parent, { supervision, name: 'parent' })
    for (const m of ['keep', 'keep', 'fail']) ref.tell(m)
    await kit.advance(1000)
    // Three failures: `fail`, and each of the two that were put aside.
    expect([born, ended]).toEqual([4, 3])
    expect(kit.system.phaseOf(ref)).toBe('running')
    expect((await kit.system.inspect(ref)).children).toHaveLength(1)
  })

for (const [title, backoff] of [
  ['stop children when restart (with limit) from exception in first setup', quick],
  ['stop children when backoff from exception in first setup', slow],
] as const)
  fact(
    `SupervisionSpec: ${title}`,
    `children of a setup that throws are stopped, and do not stand in the way of the next start (${title})`,
    async (kit) => {
      const ends: number[] = []
      let starts = 0
      const parent = setup<never>((ctx) => {
        const nth = ++starts
        ctx.spawn(
          receive<never>(
            () => same,
            (_c, s) => {
              if (s.type === 'PostStop') ends.push(nth)
              return same
            },
          ),
          { name: 'child' },
        )
        if (nth < 3) throw new Error(`not at the ${nth}. time`)
        return ignore
      })
      const ref = kit.system.spawn(parent, {
        name: 'parent',
        supervision: supervise({ backoff, retryStart: true, limit: { restarts: 5, within: 10_000 } }),
      })
      await kit.until(kit.system.started(ref))
      expect(starts).toBe(3)
      expect((await kit.system.inspect(ref)).children.map((c) => c.name)).toEqual(['child'])
      // A child whose parent never came up may end before its own first turn: then it has no PostStop either.
      expect(ends).not.toContain(3)
    },
  )

for (const [title, supervision] of [
  ['stop children when restart (with limit) from exception in later setup', quickly],
  ['stop children when backoff from exception in later setup', slowly],
] as const)
  fact(`SupervisionSpec: ${title}`, `a restart whose setup throws stops the children of that setup and tries again (${title})`, async (kit) => {
    let starts = 0
    const parent = setup<string>((ctx) => {
      ctx.spawn(ignore, { name: 'child' })
      if (++starts === 2) throw new Error('not this time')
      return receive(() => {
        throw new Error('boom')
      })
    })
    const ref = kit.system.spawn(parent, { supervision, name: 'parent' })
    await kit.settle()
    ref.tell('fail')
    await kit.advance(1000)
    expect(starts).toBe(3)
    expect(kit.system.phaseOf(ref)).toBe('running')
    expect((await kit.system.inspect(ref)).children.map((c) => [c.name, c.phase])).toEqual([['child', 'running']])
  })

fact(
  'SupervisionSpec: publish dropped messages while backing off and stash is full',
  'what comes during a backoff waits in the mailbox, and beyond its bound is dropped with its reason',
  async (kit) => {
    const log: string[] = []
    const ref = kit.system.spawn(keeper(log), { supervision: slowly, mailbox: bounded(2, 'drop-newest') })
    await kit.settle()
    ref.tell(boom())
    await kit.advance(50)
    for (const word of ['a', 'b', 'c']) ref.tell(say(word))
    expect((await kit.system.ledger()).dropped).toBe(1)
    await kit.advance(50)
    expect(log.slice(-2)).toEqual(['a', 'b'])
  },
)

fact(
  'SupervisionSpec: fail when exception from AbstractBehavior constructor',
  'a class whose constructor throws fails its start with that',
  async (kit) => {
    const why = new Error('no arguments')
    class Picky extends Actor {
      constructor() {
        super()
        throw why
      }
    }
    const ref = kit.system.spawn(Picky)
    await expect(kit.until(kit.system.started(ref))).rejects.toMatchObject({ code: 'actor-initialization', cause: why })
  },
)

for (const [title, supervision] of [
  ['ensure stash message retention on start exception when restart', quickly],
  ['ensure stash message retention on start exception when backoff', slowly],
] as const)
  fact(`SupervisionSpec: ${title}`, `the stash outlives a restart whose first start fails (${title})`, async (kit) => {
    const seen: string[] = []
    let starts = 0
    const ref = kit.system.spawn(
      setup<string>((ctx) => {
        if (++starts === 2) throw new Error('not this time')
        if (starts > 2) ctx.stash.unstashAll()
        return receive((c, m) => {
          if (m === 'fail') throw new Error('boom')
          if (c.incarnation === 0) c.stash.add(m)
          else seen.push(m)
          return same
        })
      }),
      { supervision },
    )
    for (const m of ['a', 'b', 'fail', 'c']) ref.tell(m)
    await kit.advance(1000)
    expect(starts).toBe(3)
    expect(seen).toEqual(['a', 'b', 'c'])
  })

fact(
  'SupervisionSpec: be able to recover from a DeathPactException',
  'a death pact is a failure that supervision may answer with a restart',
  async (kit) => {
    const log: string[] = []
    const target = kit.system.spawn(ignore)
    const ref = kit.system.spawn(
      setup<never>((ctx) => {
        log.push(`setup ${ctx.incarnation}`)
        if (ctx.incarnation === 0) ctx.watch(target, { deathPact: true })
        return ignore
      }),
      { supervision: quickly },
    )
    await kit.settle()
    target.stop()
    await kit.settle()
    expect(log).toEqual(['setup 0', 'setup 1'])
    expect(kit.system.phaseOf(ref)).toBe('running')
    expect(kit.system.failures.list().map((f) => (f.cause as Error).name)).toEqual(['DeathPact'])
  },
)

const directives: [string, Supervision][] = [
  ['stop', 'stop'],
  ['restart', quickly],
  ['resume', 'resume'],
  ['backoff', slowly],
]

for (const [title, first] of [
  ['apply supervision to adapter function', 'restart'],
  ['apply the right nested supervision', 'resume'],
] as const)
  fact(`SupervisionSpec: ${title}`, `what an adapter throws is a failure of its actor: ${first}`, async (kit) => {
    const seen: string[] = []
    let adapted!: { tell(n: number): void }
    const ref = kit.system.spawn(
      setup<string>((ctx) => {
        seen.push(`setup ${ctx.incarnation}`)
        adapted = ctx.adapt((n: number) => {
          if (n < 0) throw new Error('negative')
          return String(n)
        })
        return receive((_c, m) => {
          seen.push(m)
          return same
        })
      }),
      { supervision: first === 'restart' ? quickly : 'resume' },
    )
    await kit.settle()
    const old = adapted
    for (const n of [1, -1, 2]) old.tell(n)
    await kit.settle()
    adapted.tell(3)
    await kit.settle()
    // An adapter ends with its incarnation: what it had queued behind the failure is a dead letter.
    expect(seen).toEqual(first === 'restart' ? ['setup 0', '1', 'setup 1', '3'] : ['setup 0', '1', '2', '3'])
    expect(kit.system.phaseOf(ref)).toBe('running')
  })

for (const [word, supervision] of directives) {
  fact(
    'SupervisionSpec: that is initially stopped should be stopped',
    `under ${word}, an actor that is spawned stopped ends normally`,
    async (kit) => {
      const ref = kit.system.spawn(stopped, { supervision })
      expect((await kit.until(kit.system.whenTerminated(ref))).reason).toBe('normal')
    },
  )
  fact(
    'SupervisionSpec: that is stopped after setup should be stopped',
    `under ${word}, a setup that returns stopped ends the actor, and nobody retries it`,
    async (kit) => {
      let starts = 0
      const ref = kit.system.spawn(
        setup<string>(() => {
          starts++
          return stopped
        }),
        { supervision },
      )
      expect((await kit.until(kit.system.whenTerminated(ref))).reason).toBe('normal')
      await kit.advance(10_000)
      expect(starts).toBe(1)
    },
  )
  if (word !== 'stop' && word !== 'resume')
    fact(
      'SupervisionSpec: that is stopped after restart should be stopped',
      `under ${word}, a restart whose setup returns stopped ends the actor normally`,
      async (kit) => {
        const signals: Signal[] = []
        const ref = kit.system.spawn(
          setup<string>((ctx) => {
            if (ctx.incarnation > 0) return stopped
            return setup(() =>
              receive<string>(
                () => {
                  throw new Error('boom')
                },
                (_c, s) => {
                  signals.push(s)
                  return same
                },
              ),
            )
          }),
          { supervision },
        )
        const end = kit.system.whenTerminated(ref)
        ref.tell('fail')
        expect((await kit.until(end)).reason).toBe('normal')
        expect(signals.map((s) => s.type)).toEqual(['PreStart', 'PostStart', 'PreRestart', 'PostStop'])
      },
    )
}

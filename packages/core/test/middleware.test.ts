import { createTestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { type ActorRef, AskRefused, ignore, InvalidOption, type Middleware, receive, same, stopped, supervise, swallow } from '@troupe/core'

/** What a promise rejects with; watched from the start, so that it may reject before it is looked at. */
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (cause: unknown) => cause,
  )

type M = { type: 'note'; text: string } | { type: 'boom' } | { type: 'wait' } | { type: 'get'; replyTo: ActorRef<string> } | { type: 'last' }
const note = (text: string): M => ({ type: 'note', text })

const recorder = (log: string[], name: string): Middleware => ({
  name,
  before: (m) => {
    log.push(`${name} before ${(m as M).type}`)
    return m
  },
  after: (m) => void log.push(`${name} after ${(m as M).type}`),
  error: (cause, m) => void log.push(`${name} error ${(m as M).type} ${(cause as Error).message}`),
  close: (ref) => void log.push(`${name} close ${ref?.path ?? 'system'}`),
})
const actor = (log: string[]) =>
  receive<M>((_ctx, m) => {
    log.push(`handle ${m.type}`)
    switch (m.type) {
      case 'boom':
        throw new Error('boom')
      case 'wait':
        return Promise.resolve().then(() => same)
      case 'get':
        m.replyTo.tell('got')
        return same
      case 'last':
        return stopped
      case 'note':
        log.push(m.text)
        return same
    }
  })

test('the links of the system stand outside those of the actor; before goes inwards, after and error outwards', async () => {
  const log: string[] = []
  const kit = createTestKit({ middleware: [recorder(log, 'sys')] })
  const ref = kit.system.spawn(actor(log), { middleware: [recorder(log, 'a'), recorder(log, 'b')], supervision: 'resume' })
  ref.tell({ type: 'wait' })
  await kit.settle()
  expect(log.splice(0)).toEqual([
    'sys before wait',
    'a before wait',
    'b before wait',
    'handle wait',
    'b after wait',
    'a after wait',
    'sys after wait',
  ])
  ref.tell({ type: 'boom' })
  await kit.settle()
  expect(log.splice(0)).toEqual([
    'sys before boom',
    'a before boom',
    'b before boom',
    'handle boom',
    'b error boom boom',
    'a error boom boom',
    'sys error boom boom',
  ])
  await kit.end()
})

test('a link can replace a message, and the next link and the handler see that', async () => {
  const kit = createTestKit()
  const log: string[] = []
  const shout: Middleware = { before: (m) => ((m as M).type === 'note' ? note((m as { text: string }).text.toUpperCase()) : undefined) }
  const twice: Middleware = { before: (m) => ((m as M).type === 'note' ? note((m as { text: string }).text.repeat(2)) : undefined) }
  const ref = kit.system.spawn(actor(log), { middleware: [shout, twice] })
  ref.tell(note('hi'))
  const answer = ref.ask({ type: 'get' })
  await kit.settle()
  expect(log).toEqual(['handle note', 'HIHI', 'handle get'])
  expect(await answer).toBe('got')
  expect(await kit.checkLedger()).toMatchObject({ handled: 3 })
  await kit.end()
})

test('a swallowed message counts as dropped, is not handled, and whoever asked is told', async () => {
  const kit = createTestKit()
  const log: string[] = []
  const ref = kit.system.spawn(actor(log), { middleware: [recorder(log, 'outer'), { before: () => swallow }, recorder(log, 'inner')] })
  const answer = failureOf(ref.ask({ type: 'get' }))
  await kit.settle()
  expect(await answer).toBeInstanceOf(AskRefused)
  expect(log).toEqual(['outer before get', 'outer after get'])
  expect(await kit.checkLedger()).toMatchObject({ dropped: 1, handled: 0 })
  await kit.end()
})

test('a link cannot delay: a promise from before fails the message', async () => {
  const kit = createTestKit()
  const ref = kit.system.spawn(actor([]), { middleware: [{ name: 'sleepy', before: async (m) => m }], supervision: 'stop' })
  ref.tell(note('x'))
  await kit.settle()
  expect(kit.system.phaseOf(ref)).toBe('terminated')
  expect(kit.logs[0]?.fields['cause']).toMatchObject({ code: 'not-allowed' })
  await kit.end()
})

describe('a throw in a link goes through supervision', () => {
  test.each(['before', 'after'] as const)('in %s it fails the message, once', async (where) => {
    const kit = createTestKit()
    const log: string[] = []
    const bad: Middleware = {
      [where]: () => {
        throw new Error(`in ${where}`)
      },
    }
    const ref = kit.system.spawn(actor(log), { middleware: [recorder(log, 'outer'), bad], supervision: 'resume' })
    ref.tell(note('x'))
    await kit.settle()
    expect(log.at(-1)).toBe(`outer error note in ${where}`)
    expect(await kit.checkLedger()).toMatchObject({ failed: 1, handled: 0 })
    expect(kit.system.phaseOf(ref)).toBe('running')
    await kit.end()
  })
  test('in error it is logged, and the first cause is what supervision sees', async () => {
    const kit = createTestKit()
    const bad: Middleware = {
      error: () => {
        throw new Error('worse')
      },
    }
    const ref = kit.system.spawn(actor([]), { middleware: [bad], supervision: 'stop' })
    ref.tell({ type: 'boom' })
    await kit.settle()
    const { cause } = await kit.system.whenTerminated(ref)
    expect((cause as Error).message).toBe('boom')
    expect(kit.logs.some((l) => (l.fields['cause'] as Error).message === 'worse')).toBe(true)
    await kit.end()
  })
})

test('links are closed: those of the actor with it, those of the system with the system', async () => {
  const log: string[] = []
  const kit = createTestKit({ middleware: [recorder(log, 'sys')] })
  const ref = kit.system.spawn(actor([]), { name: 'x', middleware: [recorder(log, 'own')] })
  ref.tell({ type: 'last' })
  await kit.settle()
  expect(log.at(-1)).toBe('own close /user/x')
  await kit.end()
  expect(log.at(-1)).toBe('sys close system')
})

test('links keep notes from before to after, and see sender and headers', async () => {
  const kit = createTestKit()
  const seen: unknown[] = []
  const timing: Middleware = {
    before: (_m, p) => void p.notes.set(timing, kit.clock.now),
    after: (_m, p) => void seen.push(kit.clock.now - (p.notes.get(timing) as number), p.headers['trace'], p.sender?.path),
  }
  const probe = kit.probe('me')
  const ref = kit.system.spawn<M>(
    receive(() => kit.clock.tick(7)),
    { middleware: [timing] },
  )
  ref.tell(note('x'), { sender: probe.ref, headers: { trace: 9 } })
  await kit.settle()
  expect(seen).toEqual([7, 9, '/user/me'])
  await kit.end()
})

test('a reentrant actor passes each call through the chain', async () => {
  const kit = createTestKit()
  const log: string[] = []
  const gates: (() => void)[] = []
  const ref = kit.system.spawn<string>(
    receive(async (_ctx, m) => {
      await new Promise<void>((resolve) => gates.push(resolve))
      if (m === 'bad') throw new Error('bad')
    }),
    {
      reentrant: true,
      supervision: 'resume',
      middleware: [{ after: (m) => void log.push(`after ${String(m)}`), error: (_c, m) => void log.push(`error ${String(m)}`) }],
    },
  )
  ref.tell('a')
  ref.tell('bad')
  await kit.settle()
  expect(log).toEqual([])
  gates[1]!()
  await kit.settle()
  gates[0]!()
  await kit.settle()
  expect(log).toEqual(['error bad', 'after a'])
  expect(await kit.checkLedger()).toMatchObject({ handled: 1, failed: 1 })
  await kit.end()
})

test('more than 16 links, the system’s included, is a configuration error', async () => {
  const links = (n: number): Middleware[] => Array.from({ length: n }, () => ({}))
  const kit = createTestKit({ middleware: links(10) })
  expect(() => kit.system.spawn(actor([]), { middleware: links(7) })).toThrow(InvalidOption)
  kit.system.spawn(actor([]), { middleware: links(6) })
  expect(() => kit.system.spawn(actor([]), { middleware: [null as never] })).toThrow(InvalidOption)
  await kit.end()
  expect(() => createTestKit({ middleware: links(17) })).toThrow(InvalidOption)
})

describe('signals', () => {
  test('links of the system and of the actor see each signal before its handlers do, also where it has none', async () => {
    const seen: string[] = []
    const link = (name: string): Middleware => ({ name, signal: (signal, ref) => void seen.push(`${name} ${ref.path.slice(6)} ${signal.type}`) })
    const kit = createTestKit({ middleware: [link('system')] })
    const ref = kit.system.spawn(
      receive<string>(
        (_ctx, m) => {
          if (m === 'boom') throw new Error('boom')
        },
        (_ctx, signal) => {
          seen.push(`handler ${signal.type}`)
          return same
        },
      ),
      { name: 'a', middleware: [link('own')], supervision: supervise({ backoff: { min: 0, max: 0, factor: 1, jitter: 0 } }) },
    )
    const plain = kit.system.spawn(ignore, { name: 'plain' })
    await kit.settle()
    const about = (name: string): string[] => seen.filter((line) => !line.includes(name)).map((line) => line.replace(' a ', ' '))
    expect(about('plain')).toEqual(['PreStart', 'PostStart'].flatMap((type) => [`system ${type}`, `own ${type}`, `handler ${type}`]))
    expect(seen.filter((line) => line.includes('plain'))).toEqual(['system plain PreStart', 'system plain PostStart'])
    seen.length = 0
    ref.tell('boom')
    plain.stop()
    await kit.settle()
    ref.stop()
    await kit.settle()
    expect(about('plain')).toEqual(
      ['PreRestart', 'PostStop', 'PreStart', 'PostStart', 'PostRestart', 'PreStop', 'PostStop'].flatMap((type) => [
        `system ${type}`,
        `own ${type}`,
        `handler ${type}`,
      ]),
    )
    expect(seen.filter((line) => line.includes('plain'))).toEqual(['system plain PreStop', 'system plain PostStop'])
    await kit.end()
  })
  test('a link that throws or rejects at a signal is logged, and the signal goes its way', async () => {
    const kit = createTestKit()
    const heard: string[] = []
    const bad: Middleware[] = [
      {
        name: 'throws',
        signal: () => {
          throw new Error('odd')
        },
      },
      { name: 'rejects', signal: () => Promise.reject(new Error('later')) as never },
    ]
    kit.system.spawn(
      receive<string>(
        () => same,
        (_ctx, signal) => void heard.push(signal.type),
      ),
      { middleware: bad },
    )
    await kit.settle()
    expect(heard).toEqual(['PreStart', 'PostStart'])
    expect(kit.logs.map((l) => String(l.fields['middleware'])).toSorted()).toEqual(['rejects', 'rejects', 'throws', 'throws'])
    await kit.end()
  })
})

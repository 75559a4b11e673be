// What users rely on, the same for actors of this thread and of others: each claim is tried on every dispatcher.

import { describe, expect, test } from 'vitest'
import { type ActorRef, ignore, setup, type SpawnOptions, supervise } from '@troupe/core'
import { subject, type Subject } from '../dist-test/subject.js'
import { type Stage, stageDefaults, type StageOptions, stagesOfTests } from './stage.ts'

const stages = stagesOfTests()

const now = { backoff: { min: 0, max: 0 } }
const decide = (code: string) => (cause: unknown) => ((cause as { code?: string }).code === code ? ('resume' as const) : ('restart' as const))

// Without shared memory, once is enough: the other two differ from it in what has nothing to do with memory.
const dispatchers = stageDefaults.sharedMemory === false ? ['parallel'] : ['concurrent', 'parallel', 'pinned']

describe.each(dispatchers)('on %s', (dispatcher) => {
  const stage = (options: StageOptions = {}): Stage => stages({ threadless: dispatcher === 'concurrent', ...options })

  test('an answer comes back, with what was asked', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher })
    const value = { deep: [1, { two: new Map([['k', new Set([2n])]]) }], when: new Date(5), text: 'é✓' }
    expect(await ref.ask({ type: 'echo', value })).toEqual(value)
    await s.end()
  })

  test('a question that is rejected carries the error with its code, and the actor has not failed', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher })
    const cause = (await ref.ask({ type: 'refuse', message: 'no further' }).catch((error: unknown) => error)) as Error
    expect(cause).toMatchObject({ code: 'ask-rejected', cause: { name: 'RangeError', message: 'no further', code: 'too-far' } })
    expect(cause.message).toMatch(/rejected the question: no further/)
    expect(await ref.ask({ type: 'state' })).toMatchObject({ incarnation: 0 })
    expect(s.system.failures.list()).toEqual([])
    await s.end()
  })

  test('messages of one sender are handled in order, however many', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, script: { quiet: true } })
    for (let i = 0; i < 3000; i++) ref.tell({ type: 'note', value: i })
    await s.until('3000 notes', () => s.reports.length >= 3000)
    expect(s.reports.map((r) => r.value)).toEqual(Array.from({ length: 3000 }, (_, i) => i))
    await s.end()
  })

  test('1: with supervision stop a throw stops the actor, and a watcher hears of it', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, supervision: 'stop' })
    ref.tell({ type: 'throw', message: 'bad' })
    const { reason, cause } = await s.system.whenTerminated(ref)
    expect(reason).toBe('failure')
    expect(cause).toMatchObject({ message: 'bad', name: 'TypeError', code: 'none', cause: { message: 'root' } })
    await s.hears('PostStop')
    expect(s.heard()).toEqual(['PreStart', 'PostStart', 'PreStop', 'PostStop'])
    await s.end()
  })

  test('2: a restart begins afresh and keeps what was queued, in order', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, supervision: supervise(now) })
    ref.tell({ type: 'note', value: 1 })
    ref.tell({ type: 'throw', message: 'bad' })
    for (let i = 2; i < 6; i++) ref.tell({ type: 'note', value: i })
    await s.hears('note 5')
    expect(s.heard()).toEqual([
      'PreStart',
      'PostStart',
      'note 1',
      'PreRestart bad',
      'PostStop',
      'PreStart',
      'PostStart',
      'PostRestart bad',
      'note 2',
      'note 3',
      'note 4',
      'note 5',
    ])
    expect(await ref.ask({ type: 'state' })).toEqual({ count: 5, incarnation: 1 })
    await s.end()
  })

  test('3: resume keeps the state, and the failed message is not retried', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, supervision: 'resume' })
    ref.tell({ type: 'note', value: 1 })
    ref.tell({ type: 'throw', message: 'bad' })
    ref.tell({ type: 'note', value: 2 })
    expect(await ref.ask({ type: 'state' })).toEqual({ count: 4, incarnation: 0 })
    await s.hears('note 2')
    expect(s.heard()).toEqual(['PreStart', 'PostStart', 'note 1', 'note 2'])
    await s.end()
  })

  test('decide runs beside the parent, and sees the code of the cause', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, supervision: supervise({ decide: decide('soft'), ...now }) })
    ref.tell({ type: 'throw', message: 'x', code: 'soft' })
    expect(await ref.ask({ type: 'state' })).toEqual({ count: 2, incarnation: 0 })
    ref.tell({ type: 'throw', message: 'x', code: 'hard' })
    expect(await ref.ask({ type: 'state' })).toEqual({ count: 1, incarnation: 1 })
    await s.end()
  })

  test('4: beyond the limit of restarts the actor stops', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, supervision: supervise({ limit: { restarts: 2, within: 60_000 }, ...now }) })
    for (let i = 0; i < 3; i++) ref.tell({ type: 'throw', message: `bad ${i}` })
    expect(await s.system.whenTerminated(ref)).toMatchObject({ reason: 'failure', cause: { message: 'bad 2' } })
    await s.hears('PostStop', 3)
    expect(s.heard().filter((h) => h === 'PostStop')).toHaveLength(3)
    expect(s.system.counts().supervision).toMatchObject({ restarts: 2, limitsHit: 1 })
    await s.end()
  })

  test('6: a restart waits until children have stopped', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, supervision: supervise(now) })
    ref.tell({ type: 'spawn', name: 'kid' })
    await s.until('the child is up', () => s.reports.some((r) => r.who === '/user/a/kid' && r.what === 'PostStart'))
    ref.tell({ type: 'throw', message: 'bad' })
    await s.hears('PostRestart bad')
    const order = s.reports.map((r) => `${r.who} ${r.what}`)
    expect(order.indexOf('/user/a/kid PostStop')).toBeGreaterThan(order.indexOf('/user/a PreRestart'))
    expect(order.indexOf('/user/a/kid PostStop')).toBeLessThan(order.indexOf('/user/a PostStop'))
    await s.end()
  })

  test('8: a first start that fails is not retried; the name is free', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, script: { failStarts: 1 } })
    await expect(s.system.started(ref)).rejects.toMatchObject({ code: 'actor-initialization', cause: { message: 'start 0 fails' } })
    await s.system.whenTerminated(ref)
    const again = s.subject({ name: 'a', dispatcher })
    expect(await again.ask({ type: 'echo', value: 1 })).toBe(1)
    await s.end()
  })

  test('8: with retryStart it is, and what was told meanwhile is handled', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, script: { failStarts: 2 }, supervision: supervise({ retryStart: true, ...now }) })
    expect(await ref.ask({ type: 'state' })).toEqual({ count: 1, incarnation: 2 })
    await s.end()
  })

  test('a group of actors on threads has one budget, beside their parent', async () => {
    const s = stage()
    const members: ActorRef<Subject>[] = []
    const parent = setup<never>((ctx) => {
      for (const name of ['a', 'b']) members.push(ctx.spawn(subject({ report: s.report }), { name, dispatcher }))
      return ignore
    })
    s.system.spawn(parent, { name: 'group', childSupervision: supervise({ scope: 'all-for-one', limit: { restarts: 1, within: 60_000 }, ...now }) })
    await s.until('both are there', () => members.length === 2)
    members[0]!.tell({ type: 'throw', message: 'first' })
    await s.until('the group is restarted', () => s.reports.filter((r) => r.what === 'PostRestart').length === 2)
    members[1]!.tell({ type: 'throw', message: 'second' })
    const ends = await Promise.all(members.map((m) => s.system.whenTerminated(m)))
    expect(ends.map((e) => e.reason)).toEqual(['shutdown', 'failure'])
    expect(s.system.counts().supervision).toMatchObject({ restarts: 1, limitsHit: 1 })
    await s.end()
  })

  test('14: a fatal error is never restarted', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, supervision: supervise({ decide: () => 'restart', ...now }) })
    ref.tell({ type: 'throw', message: 'dead', kind: 'fatal' })
    expect(await s.system.whenTerminated(ref)).toMatchObject({ reason: 'failure', cause: { kind: 'fatal' } })
    expect(s.system.counts().supervision.fatalStops).toBe(1)
    await s.end()
  })

  test('25: a watch tells once of the end, also of one that has ended; none after unwatch', async () => {
    const s = stage()
    const watcher = s.subject({ name: 'w', dispatcher })
    const [a, b] = [s.subject({ name: 'a', dispatcher, script: { quiet: true } }), s.subject({ name: 'b', dispatcher, script: { quiet: true } })]
    watcher.tell({ type: 'watch', ref: a })
    watcher.tell({ type: 'watch', ref: a })
    watcher.tell({ type: 'watch', ref: b })
    watcher.tell({ type: 'unwatch', ref: b })
    await watcher.ask({ type: 'echo', value: 0 })
    a.tell({ type: 'stop-self' })
    b.tell({ type: 'stop-self' })
    await s.hears('Terminated {"path":"/user/a","reason":"normal"}')
    await s.system.whenTerminated(b)
    watcher.tell({ type: 'watch', ref: b })
    await s.hears('Terminated {"path":"/user/b","reason":"normal"}')
    await watcher.ask({ type: 'echo', value: 0 })
    expect(s.heard('w').filter((h) => h.startsWith('Terminated'))).toHaveLength(2)
    await s.end()
  })

  test('28: a stop during a slow start, an async handler and a suspension ends terminated', async () => {
    const s = stage()
    const slow = s.subject({ name: 'slow', dispatcher, script: { slowStart: 50 } })
    const busy = s.subject({ name: 'busy', dispatcher })
    const held = s.subject({ name: 'held', dispatcher })
    busy.tell({ type: 'signal-aborts' })
    await s.hears('waiting for the end')
    await s.system.started(held)
    s.system.suspend(held, 'test')
    slow.stop()
    busy.stop()
    held.stop()
    await Promise.all([slow, busy, held].map((ref) => s.system.whenTerminated(ref)))
    await s.hears('aborted')
    await s.end()
  })

  test('31: a poison pill comes after what was told before it', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, script: { quiet: true } })
    for (let i = 0; i < 100; i++) ref.tell({ type: 'note', value: i })
    ref.stop({ after: 'queued' })
    ref.tell({ type: 'note', value: 'late' })
    await s.system.whenTerminated(ref)
    await s.until('100 notes', () => s.reports.length >= 100)
    expect(s.reports).toHaveLength(100)
    await s.end()
  })

  test('31: kill overtakes what is queued, and PostStop still runs', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher })
    ref.tell({ type: 'never' })
    await s.hears('waiting for ever')
    ref.tell({ type: 'note', value: 1 })
    s.system.kill(ref)
    expect(await s.system.whenTerminated(ref)).toMatchObject({ reason: 'killed' })
    await s.hears('PostStop')
    expect(s.heard()).toEqual(['PreStart', 'PostStart', 'waiting for ever', 'PostStop'])
    await s.until('the dead letter', () => s.system.deadLetters.list().some((l) => (l.message as { value?: unknown }).value === 1))
    await s.end()
  })

  /** An actor of this thread with one on another below, whose PostStop takes longer than any test. */
  const parentOf = async (s: Stage, options: SpawnOptions): Promise<{ readonly parent: ActorRef<never>; readonly kid: ActorRef<Subject> }> => {
    let kid!: ActorRef<Subject>
    const parent = s.system.spawn(
      setup<never>((ctx) => {
        kid = ctx.spawn(subject({ report: s.report, slowStop: 600_000 }), { name: 'kid', dispatcher, stopTimeout: 600_000 })
        return ignore
      }),
      { name: 'parent', ...options },
    )
    await s.hears('PostStart')
    return { parent, kid }
  }

  test('a kill reaches those on threads below, and waits for none of their user code', async () => {
    const s = stage()
    const { parent, kid } = await parentOf(s, { stopTimeout: 600_000 })
    s.system.kill(parent)
    expect(await s.system.whenTerminated(parent)).toMatchObject({ reason: 'killed' })
    expect(await s.system.whenTerminated(kid)).toMatchObject({ reason: 'shutdown' })
    await s.hears('PostStop')
    await s.end()
  })

  test('a kill that comes on top of a stop reaches those on threads below, and waits no longer', async () => {
    const s = stage()
    const { parent, kid } = await parentOf(s, { stopTimeout: 600_000 })
    parent.stop()
    await s.hears('PostStop')
    s.system.kill(parent)
    expect(await s.system.whenTerminated(parent)).toMatchObject({ reason: 'killed' })
    expect(await s.system.whenTerminated(kid)).toMatchObject({ reason: 'shutdown' })
    await s.end()
  })

  test.each(['stop', 'kill'] as const)('a %s between two incarnations ends it where it is, and what it had queued there', async (verb) => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, supervision: supervise({ backoff: { min: 600_000, max: 600_000 } }) })
    ref.tell({ type: 'throw', message: 'bad' })
    await s.hears('PostStop')
    ref.tell({ type: 'note', value: 1 })
    if (dispatcher !== 'concurrent') await s.until('it is known to be there', () => s.threads.vitals().some((v) => v.actors > 0))
    s.system[verb](ref)
    await s.system.whenTerminated(ref)
    await s.until('the dead letter', () => s.system.deadLetters.list().some((l) => (l.message as { value?: unknown }).value === 1))
    if (dispatcher !== 'concurrent') await s.until('it is gone there', () => s.threads.vitals().every((v) => v.actors === 0))
    await s.end()
  })

  test('the deadline of a stop is passed down to those on threads', async () => {
    const s = stage()
    const { parent } = await parentOf(s, { stopTimeout: 20 })
    parent.stop()
    expect(await s.system.whenTerminated(parent)).toMatchObject({ reason: 'normal' })
    await s.hears('PostStop')
    await s.end()
  })

  test('33: a stash gives back in order', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, script: { quiet: true } })
    ref.tell({ type: 'stash' })
    for (let i = 0; i < 5; i++) ref.tell({ type: 'note', value: i })
    ref.tell({ type: 'unstash' })
    ref.tell({ type: 'note', value: 5 })
    await s.hears('note 5')
    expect(s.heard()).toEqual([0, 1, 2, 3, 4, 5].map((i) => `note ${i}`))
    await s.end()
  })

  test('35, 36: timers and the receive timeout work where the actor is', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher })
    ref.tell({ type: 'timer', ms: 5, note: 'tick' })
    await s.hears('note tick')
    ref.tell({ type: 'receive-timeout', ms: 5 })
    await s.hears('ReceiveTimeout')
    ref.tell({ type: 'receive-timeout', ms: null })
    await s.end()
  })

  test('38: asking a dead actor, or one that dies meanwhile, rejects at once', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher })
    ref.tell({ type: 'never' })
    await s.hears('waiting for ever')
    const asked = ref.ask({ type: 'echo', value: 1 }, { timeout: 60_000 })
    s.system.kill(ref)
    await expect(asked).rejects.toMatchObject({ code: 'ask-target-stopped' })
    await s.system.whenTerminated(ref)
    await expect(ref.ask({ type: 'echo', value: 1 })).rejects.toMatchObject({ code: 'ask-target-stopped' })
    await s.end()
  })

  test('42: an aborted question rejects at once and is skipped', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher })
    const gate = s.gate()
    ref.tell({ type: 'ask', ref: gate.ref, value: 'held', await: true })
    await gate.reached
    const control = new AbortController()
    const asked = ref.ask({ type: 'echo', value: 1 }, { signal: control.signal })
    control.abort()
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' })
    gate.open()
    expect(await ref.ask({ type: 'state' })).toEqual({ count: 2, incarnation: 0 })
    await s.end()
  })

  test('54: what arrives during an await is handled after it, in order', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, script: { quiet: true } })
    ref.tell({ type: 'wait', ms: 20, note: 'first' })
    ref.tell({ type: 'note', value: 'second' })
    await s.hears('note second')
    expect(s.heard()).toEqual(['note first', 'note second'])
    await s.end()
  })

  test('55: suspended, messages queue; resume keeps their order', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, script: { quiet: true } })
    await s.system.started(ref)
    s.system.suspend(ref, 'maintenance')
    await s.until('suspended', () => s.system.phaseOf(ref) === 'suspended')
    for (let i = 0; i < 3; i++) ref.tell({ type: 'note', value: i })
    const tree = await s.system.inspect(ref)
    expect(tree).toMatchObject({ phase: 'suspended', queued: 3, waiting: { reason: 'maintenance' } })
    expect(s.heard()).toEqual([])
    s.system.resume(ref)
    await s.hears('note 2')
    expect(s.heard()).toEqual(['note 0', 'note 1', 'note 2'])
    await s.end()
  })

  test('57: an ask whose handler throws rejects with the cause; an unhandled one with Unhandled', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, supervision: 'resume' })
    await expect(ref.ask((replyTo) => ({ type: 'throw', message: 'no', code: 'E_NO', replyTo }) as never)).rejects.toMatchObject({
      message: 'no',
      code: 'E_NO',
    })
    await expect(ref.ask((replyTo) => ({ type: 'unknown', replyTo }))).rejects.toMatchObject({ code: 'unhandled' })
    await s.end()
  })

  test('62: a parent hears that its child ended, and why', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher })
    ref.tell({ type: 'spawn', name: 'kid', dispatcher })
    await s.until('the child', () => s.reports.some((r) => r.what === 'spawned'))
    const kid = s.reports.find((r) => r.what === 'spawned')!.value as typeof ref
    expect(kid.path).toBe('/user/a/kid')
    expect(await kid.ask({ type: 'echo', value: 'hello' })).toBe('hello')
    kid.tell({ type: 'stop-self' })
    await s.hears('ChildStopped /user/a/kid')
    await s.end()
  })

  test('63: what is handed over reaches the next incarnation', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, supervision: supervise(now) })
    ref.tell({ type: 'hand-over', value: { kept: 1 } })
    await s.hears('handed over {"kept":1}')
    await s.end()
  })

  test('64: an escalation fails the parent; children go along', async () => {
    const s = stage({ system: { onEscalation: 'stop' } })
    const ref = s.subject({ name: 'a', dispatcher, supervision: 'escalate' })
    ref.tell({ type: 'throw', message: 'too much' })
    expect(await s.system.whenTerminated(ref)).toMatchObject({ reason: 'failure', cause: { message: 'too much' } })
    await s.end()
  })

  test('senders, parents, adapters and forwarded questions reach whom they name', async () => {
    const s = stage()
    const a = s.subject({ name: 'a', dispatcher, script: { quiet: true } })
    const b = s.subject({ name: 'b', dispatcher, script: { quiet: true } })
    b.tell({ type: 'sender' }, a)
    await s.hears('sender /user/a')
    a.tell({ type: 'tell', ref: b, message: { type: 'note', value: 'from a' } })
    await s.hears('note from a')
    const adapter = await a.ask({ type: 'adapt' })
    adapter.tell('text')
    await s.hears('note adapted text')
    a.tell({ type: 'ask', ref: b, value: 'across' })
    await s.hears('answer across')
    await s.end()
  })

  test('ask deadlines flow into nested questions', async () => {
    const s = stage()
    const a = s.subject({ name: 'a', dispatcher, script: { quiet: true } })
    const b = s.subject({ name: 'b', dispatcher, script: { quiet: true } })
    b.tell({ type: 'never' })
    await s.hears('waiting for ever')
    await s.system.started(a)
    const asked = a.ask((replyTo) => ({ type: 'ask', ref: b, value: 1, replyTo, await: true }), { timeout: 2000 })
    await expect(asked).rejects.toMatchObject({ code: 'ask-timeout' })
    await s.hears('refused ask-timeout')
    s.system.kill(b)
    await s.end()
  })

  test('what is left at the end of a draining shutdown was handled', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher, script: { quiet: true } })
    for (let i = 0; i < 500; i++) ref.tell({ type: 'note', value: i })
    await s.system.shutdown({ drain: true })
    expect(s.reports).toHaveLength(500)
    await s.checkLedger()
  })

  test('32: shutdown with a handler that never settles resolves by the deadline', async () => {
    const s = stage()
    const ref = s.subject({ name: 'a', dispatcher })
    ref.tell({ type: 'never' })
    await s.hears('waiting for ever')
    const report = await s.system.shutdown({ deadline: 1000 })
    expect(report.killed).toEqual(['/user/a'])
  })
})

// The gate: what leaves, and when. Appends end when a test says so.

import { type ActorRef, receive, same } from '@troupe/core'
import { eventSourced, type Journal, type JournalSource, type Kind, memory, type Outcome, type Write } from '@troupe/persistence'
import type { TestKit } from '@troupe/testkit'
import { describe, expect, test } from 'vitest'
import { environment as host } from './contract/stage.ts'
import { counter, kitWith } from './counter.ts'
import { heldJournal } from './held-journal.ts'

type Settled = { is: string; value?: unknown }
/** Notes how a promise ended, as soon as it has. */
function noted(promise: Promise<unknown>): Settled {
  const settled: Settled = { is: 'pending' }
  promise.then(
    (value) => Object.assign(settled, { is: 'answered', value }),
    (cause: { code?: string; message: string }) => Object.assign(settled, { is: cause.code ?? cause.message }),
  )
  return settled
}

/** Lets the system work until the answer is there. */
async function answers(kit: TestKit, promise: Promise<unknown>, value: unknown): Promise<void> {
  await kit.settle()
  await expect(promise).resolves.toBe(value)
}

describe('what leaves', () => {
  test('P1, P4: an answer leaves when what it saw is durable, a read that saw it too, and one that saw nothing new at once', async () => {
    const journal = heldJournal()
    const kit = kitWith(journal)
    const ref = kit.system.spawn(counter('a'))
    await kit.settle()
    const before = noted(ref.ask({ type: 'get' }))
    await kit.settle()
    expect(before).toEqual({ is: 'answered', value: 0 })
    const added = noted(ref.ask({ type: 'add', by: 2 }))
    const read = noted(ref.ask({ type: 'get' }))
    await kit.settle()
    expect([added.is, read.is]).toEqual(['pending', 'pending'])
    await journal.waiting[0]!.end('store')
    await kit.settle()
    expect([added.value, read.value]).toEqual([2, 2])
    await kit.end()
  })

  test('who is answered by a commit and asks again is in the next one, with those who wait already: they do not take turns', async () => {
    const journal = heldJournal()
    const kit = kitWith(journal)
    const ref = kit.system.spawn(counter('a'))
    await kit.settle()
    const keep = async (): Promise<never> => {
      for (;;) await ref.ask({ type: 'add', by: 1 }, { timeout: 1e6 })
    }
    const many = (count: number): void => {
      for (let i = 0; i < count; i++) keep().catch(() => undefined)
    }
    many(8)
    await kit.settle()
    many(2)
    await kit.settle()
    const sizes: number[] = []
    for (let i = 0; i < 4; i++) {
      const { group } = journal.waiting[0]!
      sizes.push(group.reduce((events, write) => events + (write.write === 'run' ? write.events.length : 0), 0))
      await journal.waiting[0]!.end('store')
      await kit.settle()
    }
    expect(sizes).toEqual([8, 10, 10, 10])
    journal.through = true
    await journal.waiting[0]!.end('store')
  })

  test('a commit begins at once, and what arrives meanwhile is the next one: one record for each actor', async () => {
    const journal = heldJournal()
    const kit = kitWith(journal)
    const [a, b] = [kit.system.spawn(counter('a')), kit.system.spawn(counter('b'))]
    await kit.settle()
    a.tell({ type: 'inc', by: 1 })
    await kit.settle()
    for (let i = 0; i < 3; i++) a.tell({ type: 'inc', by: 1 })
    b.tell({ type: 'inc', by: 1 })
    await kit.settle()
    expect(journal.waiting).toHaveLength(1)
    await journal.waiting[0]!.end('store')
    await kit.settle()
    expect(journal.waiting[0]!.group).toMatchObject([
      { id: 'counter/a', first: 2, events: [{}, {}, {}] },
      { id: 'counter/b', first: 1, events: [{}] },
    ])
    await journal.waiting[0]!.end('store')
    journal.through = true
    await kit.end()
  })

  test('tells are in order, whatever was in flight, and nothing of a command that threw leaves', async () => {
    const journal = heldJournal()
    const kit = kitWith(journal)
    const probe = kit.probe<number>()
    const ref = kit.system.spawn(counter('a'))
    await kit.settle()
    ref.tell({ type: 'pass', to: probe.ref })
    ref.tell({ type: 'add', by: 1, replyTo: probe.ref })
    ref.tell({ type: 'pass', to: probe.ref })
    await kit.settle()
    probe.expect(0)
    probe.expectNone()
    await journal.waiting[0]!.end('store')
    await kit.settle()
    probe.expect(1)
    probe.expect(1)
    journal.through = true
    ref.tell({ type: 'fail', by: 100, replyTo: probe.ref })
    await kit.advance(1000)
    probe.expectNone()
    await answers(kit, ref.ask({ type: 'get' }), 1)
    await kit.end()
  })

  test('P4: a throw and an unhandled message are told only when what they saw is durable', async () => {
    const journal = heldJournal()
    const kit = kitWith(journal)
    const ref = kit.system.spawn(counter('a'))
    await kit.settle()
    ref.tell({ type: 'inc', by: 1 })
    const huh = noted(ref.ask({ type: 'huh' }))
    await kit.settle()
    expect(huh.is).toBe('pending')
    await journal.waiting[0]!.end('store')
    await kit.settle()
    expect(huh.is).toBe('unhandled')
    ref.tell({ type: 'inc', by: 1 })
    const failed = noted(ref.ask({ type: 'fail', by: 5 }))
    await kit.settle()
    expect(failed.is).toBe('pending')
    expect(kit.system.phaseOf(ref)).toBe('running')
    await journal.waiting[0]!.end('store')
    await kit.settle()
    expect(failed.is).toBe('failed at 7')
    journal.through = true
    await kit.advance(1000)
    await answers(kit, ref.ask({ type: 'get' }), 2)
    await kit.end()
  })

  test('stop leaves after what is in flight, and an orderly stop from outside lets out what is held', async () => {
    const journal = heldJournal()
    const kit = kitWith(journal)
    const probe = kit.probe<number>()
    const [a, b] = [kit.system.spawn(counter('a')), kit.system.spawn(counter('b'))]
    await kit.settle()
    a.tell({ type: 'add', by: 1, replyTo: probe.ref })
    a.tell({ type: 'end' })
    b.tell({ type: 'add', by: 2, replyTo: probe.ref })
    await kit.settle()
    b.stop()
    await kit.settle()
    expect([kit.system.phaseOf(a), kit.system.phaseOf(b)]).toEqual(['running', 'stopping'])
    probe.expectNone()
    await journal.waiting[0]!.end('store')
    await kit.settle()
    expect([probe.messages.length, kit.system.phaseOf(a), kit.system.phaseOf(b)]).toEqual([2, 'terminated', 'terminated'])
    probe.expect(1)
    probe.expect(2)
    await kit.end()
  })

  test('a kill drops what is held; the next actor of that id waits for the write, and sees it', async () => {
    const journal = heldJournal()
    const kit = kitWith(journal)
    const probe = kit.probe<number>()
    const ref = kit.system.spawn(counter('a'))
    await kit.settle()
    ref.tell({ type: 'add', by: 1, replyTo: probe.ref })
    const asked = noted(ref.ask({ type: 'get' }))
    await kit.settle()
    kit.system.kill(ref)
    await kit.settle()
    // It will be stored: whoever asked must not be told that it is not.
    expect(asked.is).toBe('persist-unknown')
    const next = kit.system.spawn(counter('a'))
    const read = noted(next.ask({ type: 'get' }))
    await kit.settle()
    expect(read.is).toBe('pending')
    await journal.waiting[0]!.end('store')
    await kit.settle()
    expect(read.value).toBe(1)
    probe.expectNone()
    await kit.end()
  })

  test('after runs once all is durable, and may do what a command may not', async () => {
    const journal = heldJournal()
    const kit = kitWith(journal)
    const log: string[] = []
    const ref = kit.system.spawn(counter('a'))
    await kit.settle()
    ref.tell({ type: 'effect', run: () => log.push('ran') })
    await kit.settle()
    expect(log).toEqual([])
    await journal.waiting[0]!.end('store')
    await kit.settle()
    expect(log).toEqual(['ran'])
    await kit.end()
  })

  test('P4: after sees nothing that is not durable, though commands ran since; where their write fails it comes with the next incarnation', async () => {
    const journal = heldJournal()
    const kit = kitWith(journal)
    const seen: number[] = []
    type Seer = { type: 'see' }
    const seer: Kind<Seer> = eventSourced('seer', {
      initial: () => 0,
      events: { added: (n) => n + 1 },
      commands: {
        see(ctx) {
          ctx.persist({ type: 'added' })
          ctx.after(() => void seen.push(ctx.state))
        },
      },
    })
    const ref = kit.system.spawn(seer('a'))
    await kit.settle()
    const sees = async (): Promise<void> => {
      ref.tell({ type: 'see' })
      await kit.settle()
    }
    await sees()
    await sees()
    await journal.waiting[0]!.end('store')
    await kit.settle()
    // The first is durable, and memory has the second as well.
    expect(seen).toEqual([])
    await journal.waiting[0]!.end('store')
    await kit.settle()
    expect(seen).toEqual([2, 2])
    await sees()
    await sees()
    await journal.waiting[0]!.end('store')
    await kit.settle()
    await journal.waiting[0]!.end('fail')
    await kit.advance(1000)
    // The third was stored, and the fourth never was: what the third was to do sees three.
    expect(seen).toEqual([2, 2, 3])
    await kit.end()
  })

  test('a question leaves when all is durable, and how it ended comes back as a message; what was put aside comes back in order', async () => {
    type Clerk = { type: 'look up'; replyTo: ActorRef<number> } | { type: 'found'; n: number } | { type: 'lost'; why: string } | { type: 'open' }
    const journal = heldJournal()
    const kit = kitWith(journal)
    const oracle = kit.system.spawn(
      receive<{ type: 'n'; replyTo: ActorRef<number> }>((_ctx, m) => {
        asked++
        if (asked > 1) throw new Error('enough')
        m.replyTo.tell(7)
        return same
      }),
    )
    let asked = 0
    const log: string[] = []
    const clerk: Kind<Clerk> = eventSourced('clerk', {
      initial: () => ({ open: false }),
      events: { opened: () => ({ open: true }) },
      commands: {
        'look up'(ctx, m) {
          if (!ctx.state.open) return ctx.stash()
          ctx.ask(oracle, { type: 'n' }, (result) =>
            result.ok ? { type: 'found', n: result.answer } : { type: 'lost', why: (result.cause as Error).message },
          )
          ctx.tell(m.replyTo, 0)
        },
        found: (_ctx, m) => void log.push(`found ${m.n}`),
        lost: (_ctx, m) => void log.push(`lost: ${m.why}`),
        open(ctx) {
          ctx.persist({ type: 'opened' })
          ctx.unstashAll()
        },
      },
    })
    const ref = kit.system.spawn(clerk('1'))
    const ends = [noted(ref.ask({ type: 'look up' })), noted(ref.ask({ type: 'look up' }))]
    ref.tell({ type: 'open' })
    await kit.settle()
    expect([asked, ...ends.map(({ is }) => is)]).toEqual([0, 'pending', 'pending'])
    await journal.waiting[0]!.end('store')
    await kit.advance(100)
    expect(ends.map(({ value }) => value)).toEqual([0, 0])
    expect(log).toEqual(['found 7', 'lost: enough'])
    await kit.end()
  })

  test('a snapshot under load is of the first state that became durable, and not put off for ever', async () => {
    const source = memory({ faults: { delay: 10 } })
    const kit = kitWith(source)
    const ref = kit.system.spawn(counter('a'))
    await kit.advance(50)
    for (let i = 0; i < 30; i++) {
      for (let n = 0; n < 12; n++) ref.tell({ type: 'inc', by: 1 })
      await kit.advance(1)
    }
    const journal = await source.open(host)
    expect((await journal.heads(['counter/a']))[0]!.snapshot?.seq).toBeGreaterThan(9)
    await kit.advance(1000)
    await kit.end()
  })

  test('in flight is bounded: at 1,000 events an actor takes no further message', async () => {
    const journal = heldJournal()
    const kit = kitWith(journal)
    const ref = kit.system.spawn(counter('a'))
    await kit.settle()
    for (let i = 0; i < 3000; i++) ref.tell({ type: 'inc', by: 1 })
    await kit.settle()
    expect((await kit.system.ledger()).queued).toBe(2000)
    for (let i = 0; i < 10 && journal.waiting.length > 0; i++) {
      expect(journal.waiting[0]!.group[0]).toSatisfy((write: { events: unknown[] }) => write.events.length <= 1000)
      await journal.waiting[0]!.end('store')
      await kit.settle()
    }
    await answers(kit, ref.ask({ type: 'get' }), 3000)
    await kit.end()
  })
})

describe('trouble with the journal', () => {
  test('P9: a write that is refused rejects what waited for it, and the actor begins anew from what is stored', async () => {
    const journal = heldJournal()
    const kit = kitWith(journal)
    const ref = kit.system.spawn(counter('a'))
    await kit.settle()
    const first = noted(ref.ask({ type: 'add', by: 1 }))
    await kit.settle()
    const second = noted(ref.ask({ type: 'add', by: 10 }))
    const read = noted(ref.ask({ type: 'get' }))
    await kit.settle()
    await journal.waiting[0]!.end('fail')
    await kit.settle()
    expect([first.is, second.is, read.is]).toEqual(['persist-failed', 'persist-failed', 'persist-failed'])
    expect(journal.waiting).toEqual([])
    journal.through = true
    const after = noted(ref.ask({ type: 'add', by: 5 }))
    await kit.advance(1000)
    expect(after.value).toBe(5)
    await kit.end()
  })

  test('an outcome that is not known: the epoch is raised before anything is read', async () => {
    for (const how of ['unknown', 'unknown-stored'] as const) {
      const journal = heldJournal()
      const kit = kitWith(journal)
      const ref = kit.system.spawn(counter('a'))
      await kit.settle()
      const lost = noted(ref.ask({ type: 'add', by: 1 }))
      await kit.settle()
      journal.calls.length = 0
      await journal.waiting[0]!.end(how)
      await kit.settle()
      expect(lost.is).toBe('persist-unknown')
      journal.through = true
      const read = noted(ref.ask({ type: 'add', by: 0 }))
      await kit.advance(1000)
      expect(read.value).toBe(how === 'unknown' ? 0 : 1)
      expect(journal.calls.filter((call) => !call.startsWith('replay'))).toEqual(['raise 2', 'heads', 'append counter/a@2'])
      await kit.end()
    }
  })

  test('while an epoch is being raised nothing is read and nothing is written', async () => {
    const journal = heldJournal()
    let raise: (() => void) | undefined
    const slow: JournalSource = {
      name: 'slow',
      async open(given) {
        const opened = await journal.open(given)
        let raised = 0
        return new Proxy(opened, {
          get(target, name: keyof Journal) {
            const member = target[name] as unknown
            if (name !== 'raise') return typeof member === 'function' ? (member.bind(target) as unknown) : member
            return async (scope: string, epoch: number) => {
              if (++raised > 1) await new Promise<void>((resolve) => (raise = resolve))
              return target.raise(scope, epoch)
            }
          },
        })
      },
    }
    const kit = kitWith(slow)
    const [a, b] = [kit.system.spawn(counter('a')), kit.system.spawn(counter('b'))]
    await kit.settle()
    a.tell({ type: 'inc', by: 1 })
    await kit.settle()
    journal.calls.length = 0
    await journal.waiting[0]!.end('unknown')
    journal.through = true
    const added = noted(b.ask({ type: 'add', by: 1 }))
    await kit.advance(1000)
    expect([journal.calls, added.is]).toEqual([[], 'pending'])
    raise!()
    await kit.advance(1000)
    expect(journal.calls.slice(0, 2)).toEqual(['raise 2', expect.stringMatching(/^(heads|append)/) as string])
    expect(added.value).toBe(1)
    await kit.end()
  })

  test('of a group each actor hears what became of its own write', async () => {
    const source = memory()
    const uneven: JournalSource = {
      name: 'uneven',
      async open(given) {
        const opened = await source.open(given)
        return new Proxy(opened, {
          get(target, name: keyof Journal) {
            const member = target[name] as unknown
            if (name !== 'append') return typeof member === 'function' ? (member.bind(target) as unknown) : member
            return async (group: readonly Write[]): Promise<readonly Outcome[]> => {
              const kept = await target.append(group.filter(({ id }) => id !== 'counter/b'))
              let i = 0
              return group.map(({ id }) => (id === 'counter/b' ? { is: 'failed', cause: new Error('no') } : kept[i++]!))
            }
          },
        })
      },
    }
    const kit = kitWith(uneven)
    const refs = ['a', 'b', 'c'].map((key) => kit.system.spawn(counter(key)))
    await kit.settle()
    const ends = refs.map((ref) => noted(ref.ask({ type: 'add', by: 1 })))
    await kit.settle()
    expect(ends.map(({ is }) => is)).toEqual(['answered', 'persist-failed', 'answered'])
    expect(['a', 'b', 'c'].map((key) => source.eventsOf(`counter/${key}`).length)).toEqual([1, 0, 1])
    await kit.end()
  })

  test('P5: one that is fenced stops, is not restarted, and cannot be started again', async () => {
    const source = memory()
    const kit = kitWith(source)
    const ref = kit.system.spawn(counter('a'))
    await answers(kit, ref.ask({ type: 'add', by: 1 }), 1)
    const other = kitWith(source)
    const taken = other.system.spawn(counter('a'))
    await other.settle()
    const late = noted(ref.ask({ type: 'add', by: 1 }))
    await kit.settle()
    expect(late.is).toBe('persist-fenced')
    expect(kit.system.phaseOf(ref)).toBe('terminated')
    const again = kit.system.spawn(counter('a'))
    await kit.advance(5000)
    expect(kit.system.phaseOf(again)).toBe('terminated')
    const read = taken.ask({ type: 'get' })
    await other.settle()
    await expect(read).resolves.toBe(1)
    kit.expectLog('another system has taken over the journal; all persistent actors stop')
    await kit.end()
    await other.end()
  })

  test('with whenAway: wait, what is refused is held and tried again; nothing is lost and nobody fails', async () => {
    const journal = heldJournal()
    const kit = kitWith(journal, { whenAway: 'wait' })
    const ref = kit.system.spawn(counter('a'))
    await kit.settle()
    const added = noted(ref.ask({ type: 'add', by: 1 }, { timeout: 60_000 }))
    for (let i = 0; i < 7; i++) {
      await kit.advance(10_000)
      if (added.is !== 'pending') break
      await journal.waiting[0]?.end(i < 4 ? 'fail' : 'store')
    }
    await kit.settle()
    expect(added.value).toBe(1)
    await kit.end()
  })

  test('with whenAway: reject, after five groups that were refused the journal is left alone for a while', async () => {
    const source = memory({ faults: { fail: 1 } })
    const kit = kitWith(source)
    const refs = Array.from({ length: 8 }, (_, i) => kit.system.spawn(counter(`${i}`)))
    await kit.settle()
    const codes: string[] = []
    for (const ref of refs) {
      const failed = noted(ref.ask({ type: 'add', by: 1 }))
      await kit.settle()
      codes.push(failed.is)
    }
    expect(codes).toEqual(Array.from({ length: 8 }, () => 'persist-failed'))
    source.faults.fail = 0
    await kit.advance(20_000)
    const answer = noted(refs[0]!.ask({ type: 'add', by: 1 }))
    await kit.advance(20_000)
    expect(answer.value).toBe(1)
    await kit.end()
  })
})

describe('what is refused', () => {
  test('a second actor for an id, a reentrant one, an own startTimeout, a system without a journal', async () => {
    const kit = kitWith(memory())
    const bare = kitWith(memory())
    const first = kit.system.spawn(counter('a'))
    await kit.settle()
    const starts = [
      kit.system.spawn(counter('a')),
      kit.system.spawn(counter('b'), { reentrant: true, supervision: 'stop' }),
      kit.system.spawn(counter('b'), { startTimeout: 10, supervision: 'stop' }),
    ].map((ref) => noted(kit.system.started(ref)))
    await kit.advance(100)
    expect(starts.map(({ is }) => is)).toEqual(['actor-initialization', 'actor-initialization', 'actor-initialization'])
    expect(kit.system.phaseOf(first)).toBe('running')
    await kit.end()
    await bare.end()
  })

  test('a ref is told of a command by the context only: whatever else speaks tell is held too', async () => {
    const journal = heldJournal()
    const kit = kitWith(journal)
    const told: number[] = []
    const foreign = { path: '/elsewhere', tell: (n: number) => void told.push(n) } as unknown as ActorRef<number>
    const ref = kit.system.spawn(counter('a'))
    await kit.settle()
    ref.tell({ type: 'add', by: 3, replyTo: foreign })
    await kit.settle()
    expect(told).toEqual([])
    await journal.waiting[0]!.end('store')
    await kit.settle()
    expect(told).toEqual([3])
    await kit.end()
  })
})

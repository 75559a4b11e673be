// A failure that really happened, in a file, and again from it: as a command, and as the test that the command writes.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Actor, ActorSystem, type ActorRef, type Behavior, receive, same, setup, stopped } from '@troupe/core'
import { coreOf } from '@troupe/core/internal'
import { capsuleRecorder, observe, type Capsule } from '@troupe/observer'
import { readCapsule } from '@troupe/observer/capsule'
import { capsuleOf } from '../../observer/src/capsule/capsule-of.ts'
import { createTestKit, replayCapsule } from '@troupe/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../src/program.ts'
import shop, { mended, till } from './modules/till.mjs'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tr-'))
  process.env['TROUPE_RUNTIME_DIR'] = folder
})
afterEach(() => {
  delete process.env['TROUPE_RUNTIME_DIR']
  rmSync(folder, { recursive: true, force: true })
})

async function troupe(...argv: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let out = ''
  let err = ''
  const code = await runCommand(argv, {
    screen: { isTTY: false, columns: 100, rows: 30, colours: false, write: (text) => void (out += text) },
    keys: undefined,
    complain: (text) => void (err += `${text}\n`),
    version: '1.2.3',
  })
  return { code, out, err }
}

/** Lets an actor fail in a system that records, on virtual time. */
async function failed(spawn: (kit: ReturnType<typeof createTestKit>) => void | Promise<void>, path = '/user/it'): Promise<Capsule> {
  const kit = createTestKit({ flightRecorder: capsuleRecorder(), supervision: 'stop' })
  await spawn(kit)
  await kit.settle()
  const capsule = await capsuleOf(kit.system, path)
  await kit.system.shutdown()
  if ('none' in capsule) throw new Error(capsule.none)
  // As it is read from its file.
  return readCapsule(JSON.stringify(capsule))
}

describe('on the command line', () => {
  test('an actor that failed in a system that records is written to a file, and fails again from it; mended, it goes on', async () => {
    const system = ActorSystem.create('shop', { logger: false, keepAlive: false, supervision: 'stop', flightRecorder: capsuleRecorder() })
    await observe(system, { every: 100 }).ready
    expect(await troupe('capsule', '/user/till')).toMatchObject({ code: 1, err: expect.stringContaining('nothing at /user/till has failed') })
    shop(system)
    while (system.failures.count === 0) await new Promise((resolve) => setImmediate(resolve))
    const file = join(folder, 'till.capsule.json')
    const written = await troupe('capsule', '/user/till', '--to', file)
    expect(written).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/5 messages\nfailed with RangeError: the till has -100 eur.*\nwhole: /s),
    })
    expect(await troupe('capsule', '/user/till', '--to', file)).toMatchObject({ code: 2, err: expect.stringContaining('there already') })
    expect(await troupe('capsule', '/user/bank')).toMatchObject({ code: 1, err: expect.stringContaining('what has: /user/till') })
    await system.shutdown()

    const again = await troupe('replay', file)
    expect(again).toMatchObject({ code: 0, err: '' })
    expect(again.out).toMatch(
      /^■ the same failure at message 5 of 5: RangeError: the till has -100 eur, after the last payment, draw 0\.\d+\n.*till\.mjs.*\nwhole/s,
    )
    const without = await troupe('replay', file, '--with', `${join(import.meta.dirname, 'modules/till.mjs')}#mended`)
    expect(without).toMatchObject({ code: 1, out: expect.stringContaining('✓ no failure in 5 messages') })

    const to = join(folder, 'till.test.ts')
    expect(await troupe('replay', file, '--as-test', to)).toMatchObject({ code: 0, out: expect.stringContaining('red until') })
    const text = readFileSync(to, 'utf8')
    expect(text).toMatch(/import \{ till as actor \} from ".*modules\/till\.mjs"/)
    // What is in it is the capsule: evaluated as it stands, it is read again.
    const literal = /readCapsule\((.*?)\)\n\ntest/s.exec(text)![1]!
    const capsule = readCapsule(
      literal
        .split(/ \+\n\s*/)
        .map((part) => JSON.parse(part.trim()) as string)
        .join(''),
    )
    expect((await replayCapsule(capsule, till)).outcome).toBe('same')
    expect((await replayCapsule(capsule, mended)).failure).toBeUndefined()
    expect(await troupe('replay', file, '--as-test', to)).toMatchObject({ code: 2 })
    expect(await troupe('replay', file, '--as-test', `${to}/below.test.ts`)).toMatchObject({ code: 2, err: expect.stringContaining('Cannot write') })
  })

  test('what does not reproduce becomes no test, which would be green; and with its code said nothing of that is missing', async () => {
    const capsule = await failed((kit) => {
      const failing = receive<string>(() => {
        throw new Error('no paper')
      })
      kit.system.spawn(failing, { name: 'it' }).tell('print')
    })
    expect(capsule.missing).toEqual([expect.stringContaining('where its code is')])
    const file = join(folder, 'it.capsule.json')
    writeFileSync(file, JSON.stringify(capsule))
    const to = join(folder, 'it.test.ts')
    const code = (name: string): string => `${join(import.meta.dirname, 'modules/till.mjs')}#${name}`
    const untested = await troupe('replay', file, '--with', code('mended'), '--as-test', to)
    expect(untested).toMatchObject({ code: 1, err: '' })
    expect(untested.out).toMatch(
      /^✓ no failure in 1 message\n {2}then it was Error: no paper\nwhole: .*\nno test was written: it does not reproduce the failure\n$/,
    )
    expect(existsSync(to)).toBe(false)
  })

  test('what cannot be replayed says why, and that of a persistent actor the journal is the record', async () => {
    const capsule = await failed((kit) => {
      const failing = receive<string>(() => {
        throw new Error('no paper')
      })
      kit.system.spawn(failing, { name: 'it' }).tell('print')
    })
    const file = join(folder, 'it.capsule.json')
    writeFileSync(file, JSON.stringify(capsule))
    const code = (name: string): string => `${join(import.meta.dirname, 'modules/unreplayable.mjs')}#${name}`
    expect(await troupe('replay', file, '--with', code('throwing'))).toMatchObject({ code: 2, err: expect.stringContaining('← Error: no currency') })
    for (const name of ['account', 'made', 'Account', 'one'])
      expect(await troupe('replay', file, '--with', code(name))).toMatchObject({ code: 2, out: '', err: expect.stringContaining('it is persistent') })
  })

  test('a system that records nothing says how to', async () => {
    const system = ActorSystem.create('shop', { logger: false, keepAlive: false })
    await observe(system).ready
    expect(await troupe('capsule', '/user/x')).toMatchObject({ code: 1, err: expect.stringContaining('--record') })
    await system.shutdown()
  })

  test('a thread that does not answer is said, for it may have it', async () => {
    const kit = createTestKit({ flightRecorder: capsuleRecorder() })
    coreOf(kit.system).otherPlaces = { look: { recorded: async () => ({ found: [], silent: [1] }) } } as never
    expect(await capsuleOf(kit.system, '/user/it')).toEqual({ none: expect.stringMatching(/^thread 1 does not answer/) })
    coreOf(kit.system).otherPlaces = undefined
    await kit.system.shutdown()
  })

  test.each([
    ['nothing', /no JSON/],
    ['{}', /use what troupe capsule wrote/],
    ['{"troupe":"capsule","version":2}', /version/],
    ['{"troupe":"capsule","version":1}', /cut off/],
  ])('a file with %s is no capsule', async (text, says) => {
    const file = join(folder, 'x.json')
    writeFileSync(file, text)
    const { code, err } = await troupe('replay', file)
    expect(code).toBe(2)
    expect(err).toMatch(says)
  })
})

describe('what happens again', () => {
  test('an answer that was a refusal, one that timed out, and what was built up before', async () => {
    type Ask = { type: 'ask'; replyTo: ActorRef<number> }
    const strange = receive<Ask>(() => {
      throw new TypeError('not today')
    })
    const silent = receive<Ask>(() => same)
    const asking = (who: ActorRef<Ask>): Behavior<string> =>
      receive(async (ctx) => {
        await ctx.ask(who, { type: 'ask' }, { timeout: 500 })
      })
    for (const [other, says, ms] of [
      [strange, 'not today', 0],
      [silent, 'did not', 600],
    ] as const) {
      const capsule = await failed(async (kit) => {
        const who = kit.system.spawn(other, { name: 'other', supervision: 'resume' })
        kit.system.spawn(asking(who), { name: 'it' }).tell('go')
        await kit.advance(ms)
      })
      const replayed = await replayCapsule(
        { ...capsule, code: { ...capsule.code, args: [['Ref', 1, '/user/other']].map(() => [['Ref', 1], '/user/other']) } },
        asking,
      )
      expect(replayed).toMatchObject({ outcome: 'same', given: 1 })
      expect(String(replayed.failure)).toContain(ms === 0 ? says : 'Ask')
    }
  })

  test('the end of somebody who was watched', async () => {
    const watching = receive<{ type: 'watch'; who: ActorRef<string> }>(
      (ctx, { who }) => ctx.watch(who),
      (_ctx, signal) => {
        if (signal.type === 'Terminated') throw new Error(`it is gone`)
        return same
      },
    )
    const capsule = await failed(async (kit) => {
      const who = kit.system.spawn(
        receive<string>(() => stopped),
        { name: 'who' },
      )
      kit.system.spawn(watching, { name: 'it' }).tell({ type: 'watch', who })
      await kit.settle()
      who.tell('end')
    })
    expect(await replayCapsule(capsule, watching)).toMatchObject({ outcome: 'same' })
  })

  test('what it told itself, and what its timers sent, comes once', async () => {
    const seen: string[] = []
    const counting = setup<string>((ctx) => {
      let n = 0
      ctx.timers.every('tick', 10, 'tick')
      return receive((at, m) => {
        seen.push(m)
        if (m === 'tick' && ++n === 3) throw new Error(`enough after ${seen.join(' ')}`)
        if (m === 'begin') at.self.tell('self')
      })
    })
    const capsule = await failed(async (kit) => {
      kit.system.spawn(counting, { name: 'it' }).tell('begin')
      await kit.advance(30)
    })
    expect(capsule.failure.message).toBe('enough after begin self tick tick tick')
    seen.length = 0
    expect(await replayCapsule(capsule, counting)).toMatchObject({
      outcome: 'same',
      given: 5,
      missing: [],
    })
  })

  test('a start that failed, and a class with its arguments', async () => {
    const unable = setup<string>(() => {
      throw new Error('no disk')
    })
    const first = await failed((kit) => void kit.system.spawn(unable, { name: 'it' }))
    expect(await replayCapsule(first, unable)).toMatchObject({ outcome: 'same', messages: 0 })
    class Cart extends Actor {
      readonly most: number
      constructor(most: number) {
        super()
        this.most = most
      }
      add(n: number): void {
        if (n > this.most) throw new Error(`at most ${this.most}`)
      }
    }
    const second = await failed((kit) => {
      const cart = kit.system.spawn(Cart, { name: 'it', args: [3] })
      cart.tell.add(2)
      cart.tell.add(4)
    })
    expect(second.code).toMatchObject({ name: 'Cart', args: [[3]] })
    expect(await replayCapsule(second, Cart)).toMatchObject({ outcome: 'same', given: 2 })
  })

  test('partial: what could not be kept is said, and another failure is not taken for the same', async () => {
    class Money {
      readonly cents = 5
    }
    const odd = receive<{ type: 'x'; fn: () => number; money: Money }>((_ctx, { fn }) => {
      throw new Error(`it was ${fn()}`)
    })
    const capsule = await failed((kit) => kit.system.spawn(odd, { name: 'it' }).tell({ type: 'x', fn: () => 7, money: new Money() }))
    expect(capsule.missing).toEqual([
      expect.stringContaining('where its code is'),
      'a function in a message',
      expect.stringContaining('instance of Money'),
    ])
    const replayed = await replayCapsule(capsule, odd)
    expect(replayed.outcome).toBe('another')
    expect(String(replayed.failure)).toContain('fn is not a function')
  })

  test('redact takes things out before they are kept', async () => {
    const kit = createTestKit({
      supervision: 'stop',
      flightRecorder: capsuleRecorder({ redact: (value, type) => (type === 'login' ? { ...(value as object), password: '…' } : value) }),
    })
    const it = kit.system.spawn(
      receive<{ type: 'login'; password: string }>(() => {
        throw new Error('no')
      }),
      { name: 'it' },
    )
    it.tell({ type: 'login', password: 'hunter2' })
    await kit.settle()
    const text = JSON.stringify(await capsuleOf(kit.system, '/user/it'))
    expect(text).not.toContain('hunter2')
    expect(text).toContain('what was taken out of login')
    await kit.system.shutdown()
  })
})

import { createTestKit } from '@troupe/testkit'
import { type ActorContext, type ActorRef, receive, same, setup } from '@troupe/core'
import { actorBehind, Envelope, onRelease } from '@troupe/core/internal'
import { expect, test } from 'vitest'

const holder = (log: string[], signals = true) =>
  setup<'fail' | 'ok'>((ctx) => {
    const n = ctx.incarnation
    onRelease(ctx, { release: () => log.push(`release ${n}`) })
    return receive(
      (_ctx, m) => {
        if (m === 'fail') throw new Error('fail')
        return same
      },
      signals ? (_ctx, signal) => (signal.type === 'PostStop' ? void log.push(`PostStop ${n}`) : undefined) : undefined,
    )
  })

test('what was tied to an incarnation is let go once, after PostStop, on stop, restart and kill', async () => {
  for (const end of ['stop', 'kill'] as const) {
    const kit = createTestKit()
    const log: string[] = []
    const ref = kit.system.spawn(holder(log))
    ref.tell('fail')
    await kit.advance(20)
    expect(log).toEqual(['PostStop 0', 'release 0'])
    kit.system[end](ref)
    await kit.settle()
    expect(log).toEqual(['PostStop 0', 'release 0', 'PostStop 1', 'release 1'])
    await kit.end()
  }
})

test('a release that throws is logged and keeps no other from being let go', async () => {
  const kit = createTestKit()
  const log: string[] = []
  const ref = kit.system.spawn(
    setup((ctx) => {
      onRelease(ctx, {
        release: () => {
          throw new Error('stuck')
        },
      })
      onRelease(ctx, { release: () => log.push('second') })
      return receive(() => same)
    }),
  )
  await kit.settle()
  ref.stop()
  await kit.settle()
  expect(log).toEqual(['second'])
  expect(kit.logs.map((l) => l.message)).toContain('letting go of a resource failed')
  await kit.end()
})

test('a setup that fails lets go of what it tied, and an ended context ties nothing', async () => {
  const kit = createTestKit()
  const log: string[] = []
  let kept: ActorContext<never> | undefined
  kit.system.spawn(
    setup((ctx) => {
      kept = ctx
      onRelease(ctx, { release: () => log.push('released') })
      throw new Error('no')
    }),
  )
  await kit.settle()
  expect(log).toEqual(['released'])
  expect(() => onRelease(kept!, { release: () => {} })).toThrow(/has ended/)
  await kit.end()
})

test('an envelope given to tell travels as it is, through adapters too, and is opened when its message is taken', async () => {
  const kit = createTestKit()
  const opened: unknown[] = []
  class Seen extends Envelope {
    override open(_cell: never, message: unknown): unknown {
      opened.push(message)
      return message
    }
  }
  const envelope = new Seen()
  const probe = kit.probe<string>()
  let adapter: ActorRef<number> | undefined
  const owner = kit.system.spawn(
    setup<string>((ctx) => {
      adapter = ctx.adapt((n: number) => `n${n}`)
      return receive((_ctx, m) => {
        probe.ref.tell(m)
        return same
      })
    }),
  )
  await kit.settle()
  owner.tell('direct', envelope)
  adapter!.tell(7, envelope)
  expect(opened).toEqual([])
  await kit.settle()
  expect(opened).toEqual(['direct', 7])
  probe.expect('direct')
  probe.expect('n7')
  expect(actorBehind(adapter!)).toBe(owner)
  expect(actorBehind(owner)).toBe(owner)
  await kit.end()
})

// Refs of another protocol: told, asked, offered to, replaced, ended, and outlived by nobody. As long as an adapter is the
// present one of its incarnation, everything it is told arrives, in order; afterwards nothing does.

import { type ActorContext, type ActorRef, AskRefused, type Behavior, NotAllowed, receive, same, setup } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Own =
  | { readonly type: 'got'; readonly by: number; readonly n: number; readonly replyTo?: ActorRef<number> }
  | { readonly type: 'make' | 'keyed' | 'fail' | 'wait' | 'pipe' | 'aside' | 'back' }
/** Whether this can be put aside. */
function puts(ctx: ActorContext<Own>, message: unknown): boolean {
  try {
    ctx.stash.add(message as Own)
    return true
  } catch (cause) {
    if (cause instanceof NotAllowed) return false
    throw cause
  }
}
type Foreign = { readonly n: number; readonly replyTo?: ActorRef<number> }

function run(sim: Simulation): void {
  interface Made {
    readonly ref: ActorRef<Foreign>
    readonly life: number
    ended: boolean
    sent: number[]
    got: number[]
    /** Sent when it had ended already. */
    late: Set<number>
  }
  const made: Made[] = []
  let life = 0
  let piped = 0
  let arrived = 0
  const owner: Behavior<Own> = setup<Own>((ctx) => {
    const mine = ++life
    for (const m of made) m.ended = true
    const make = (key: string | undefined): void => {
      const by = made.length
      if (key !== undefined) for (const m of made) if (m.life === mine && m.ref.path.endsWith(`:${key}`)) m.ended = true
      const ref = ctx.adapt<Foreign>(
        (f) => {
          if (f.n % 11 === 10) throw new Error('an adapter')
          // What it is given is not its own yet; anything else may be put aside from here as from anywhere.
          sim.check(!puts(ctx, f), 'an adapter put aside what has not reached the handler')
          if (f.n % 7 === 6) sim.check(puts(ctx, { type: 'aside' }), 'an adapter may not put a message of its own aside')
          // Makes nothing of it.
          if (f.n % 13 === 12) return undefined as never
          return { type: 'got', by, n: f.n, ...(f.replyTo === undefined ? {} : { replyTo: f.replyTo }) }
        },
        key === undefined ? {} : { key },
      )
      made.push({ ref, life: mine, ended: false, sent: [], got: [], late: new Set() })
    }
    make(undefined)
    return receive<Own>(
      (c, m) => {
        switch (m.type) {
          case 'got': {
            const adapter = made[m.by]
            if (adapter === undefined) {
              arrived++
              return same
            }
            sim.check(adapter.life === mine, `an adapter of life ${adapter.life} reached life ${mine}`)
            sim.check(!adapter.late.has(m.n), 'an adapter was told after its end, and it arrived')
            const before = adapter.got.at(-1) ?? -1
            sim.check(before < m.n, `${m.n} came after ${before} through one adapter`)
            adapter.got.push(m.n)
            if (m.replyTo !== undefined) c.reply(m.n)
            return same
          }
          case 'make':
            make(undefined)
            return same
          case 'aside':
            return same
          case 'back':
            c.stash.unstashAll()
            return same
          case 'keyed':
            make(sim.oneOf(['k', 'l']))
            return same
          case 'pipe': {
            piped++
            const fails = sim.choose(3) === 1
            c.pipeToSelf(
              fails ? sim.delay().then(() => Promise.reject(new Error('piped'))) : sim.delay(),
              () => ({ type: 'got', by: -1, n: 0 }),
              (cause) => {
                sim.check(fails && String(cause).includes('piped'), 'a pipe has another cause')
                return { type: 'got', by: -1, n: 0 }
              },
            )
            return same
          }
          case 'wait':
            return sim.delay().then(() => same)
          case 'fail':
            throw new Error('owner')
        }
      },
      (c, s) => {
        sim.check(c.sender === undefined, `${s.type} comes from nobody, and has the sender of a message`)
        return same
      },
    )
  })
  const ref = sim.system.spawn(owner, {
    name: 'owner',
    supervision: sim.oneOf(['resume', 'restart'] as const),
    stopTimeout: 30,
    ...(sim.choose(3) === 2 ? { reentrant: true } : {}),
  })
  let n = 0
  let asked = 0
  let settled = 0
  let offered = 0
  let taken = 0
  sim.plan(sim.int(1, 16), () => {
    const to = made[sim.choose(Math.max(1, made.length))]
    if (to === undefined) return ref.tell({ type: 'make' })
    const number = n++
    switch (sim.choose(9)) {
      case 1:
        return ref.tell({ type: sim.oneOf(['keyed', 'make', 'pipe', 'wait', 'fail', 'back']) })
      case 2:
        to.ref.stop()
        to.ended = true
        return undefined
      case 6:
        asked++
        to.ref.ask(...([sim.oneOf(['words', 7, true]), { timeout: 40 }] as unknown as Parameters<typeof to.ref.ask>)).then(
          () => sim.check(false, 'what is not a message was asked and answered'),
          (cause: Error) => {
            settled++
            sim.check(cause instanceof AskRefused, `what is not a message was refused with ${cause.name}`)
          },
        )
        return undefined
      case 3: {
        const { ended } = to
        if (ended) to.late.add(number)
        asked++
        to.ref
          .ask<number>((replyTo) => ({ n: number, replyTo }), { timeout: 40 })
          .then(
            (answer) => {
              settled++
              sim.check(answer === number && !ended, `${number} was answered by ${answer}`)
            },
            (cause: Error) => {
              settled++
              sim.check(!cause.message.includes('no message'), `a question through an adapter was refused: ${cause.message}`)
              sim.check(
                cause.name !== 'AskTimeout' || sim.faulted || sim.system.phaseOf(ref) !== 'terminated',
                'a question to the dead ran out of time',
              )
            },
          )
        return undefined
      }
      case 4:
        if (to.ended) to.late.add(number)
        offered++
        to.ref.offer({ n: number }).then(
          () => taken++,
          () => taken++,
        )
        return undefined
      case 5:
        return sim.choose(2) === 0 ? sim.system.restart(ref) : ref.tell({ type: 'wait' })
      default:
        if (to.ended) to.late.add(number)
        else to.sent.push(number)
        return to.ref.tell({ n: number }, sim.choose(3) === 1 ? ref : undefined)
    }
  })
  sim.eventually(
    'what an adapter was told in its time arrived',
    () =>
      sim.faulted ||
      sim.system.phaseOf(ref) !== 'running' ||
      made.every((m) => m.ended || m.life !== life || m.sent.every((k) => k % 11 === 10 || k % 13 === 12 || m.got.includes(k))),
  )
  sim.eventually('what was piped arrived', () => sim.faulted || life > 1 || sim.system.phaseOf(ref) !== 'running' || arrived === piped)
  sim.eventually('questions and offers are settled', () => asked === settled && offered === taken)
}

export const adapters: LibraryScenario = { name: 'adapters', about: 'adapters deliver as long as they are the present ones, and not after', run }

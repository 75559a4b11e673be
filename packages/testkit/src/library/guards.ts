// What stands between a mailbox and a handler: links of middleware that change, swallow or fail, schemas, and reentrant
// actors with a bound. Whoever was let in is let out once, in reverse, and each call keeps its own sender.

import {
  flightRecorder,
  measured,
  type ActorRef,
  type Behavior,
  type MessageSchema,
  type Middleware,
  receive,
  same,
  setup,
  stopped,
  swallow,
  unhandled,
} from '@troupe/core'
import { cellOf } from '@troupe/core/internal'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Call = {
  readonly type: 'call' | 'wait' | 'fail' | 'fail-later' | 'unknown' | 'become' | 'swallow' | 'change' | 'trip' | 'trip-out' | 'bad' | 'end' | 'pass'
  readonly n: number
  readonly replyTo?: ActorRef<number>
}

const accepts: MessageSchema = {
  '~standard': {
    version: 1,
    vendor: 'sim',
    validate: (value: unknown) => {
      const { type, n } = value as Call
      if (type === 'bad') return n % 2 === 0 ? { issues: [{ message: 'a bad call' }] } : Promise.reject(new Error('a schema that takes its time'))
      return { value: type === 'change' ? { ...(value as Call), type: 'call' } : value }
    },
  },
}

/** How much is recorded of each actor. */
const recorded = 4

function run(sim: Simulation): void {
  const most = sim.oneOf([undefined, 1, 2, 3])
  const reentrant = most !== undefined
  let open = 0
  let lives = 0
  let closes = 0
  let ends = 0
  let cut = 0
  const counts = [0, 1].map(() => ({ before: 0, after: 0, error: 0 }))
  const inside: number[] = []
  const link = (i: number): Middleware => ({
    name: `link ${i}`,
    before: (message, passage) => {
      const m = message as Call
      if (i === 0) passage.notes.set('n', m.n)
      else sim.check(passage.notes.get('n') === m.n, 'a note was lost on the way')
      if (m.type === 'trip' && i === 1) throw new Error('a link')
      if (m.type === 'swallow' && i === 1) return swallow
      counts[i]!.before++
      return m.type === 'change' && i === 1 ? { ...m, type: 'call' } : undefined
    },
    after: (message, passage) => {
      sim.check(passage.notes.get('n') === (message as Call).n, 'a note belongs to another message')
      counts[i]!.after++
      if ((message as Call).type === 'trip-out' && i === 1) throw new Error('a link on the way out')
    },
    error: () => {
      counts[i]!.error++
    },
    close: () => {
      closes++
    },
  })
  const links = sim.choose(4) === 3 ? [] : [link(0), link(1)]
  const others: ActorRef<Call>[] = []
  const behavior = (): Behavior<Call> =>
    setup<Call>((ctx) => {
      lives++
      const life = lives
      void ctx
      return receive<Call>(
        (c, m) => {
          sim.check(m.type !== 'swallow' || links.length === 0, 'a message was swallowed and handled')
          sim.check(m.type !== 'bad', 'a message was refused and handled')
          const recent = cellOf(ref)?.extras?.flight?.entries() ?? []
          const last = recent.at(-1)
          sim.check(
            last?.what === 'message' && (last.message as Call).n === m.n,
            `call ${m.n} is handled, and the flight recorder does not end with it`,
          )
          sim.check(recent.length <= recorded, `${recent.length} entries were recorded, of ${recorded} at most`)
          const { sender } = c
          const over = (): void => {
            open--
            inside.splice(inside.indexOf(m.n), 1)
          }
          open++
          inside.push(m.n)
          if (!sim.faulted) sim.check(open <= (most ?? 1) + cut, `${open} calls are open, and ${most ?? 1} may be`)
          switch (m.type) {
            case 'wait':
            case 'fail-later':
              return sim.delay().then(() => {
                over()
                if (life === lives && !sim.faulted && !c.signal.aborted) sim.check(c.sender === sender, 'a call has the sender of another')
                if (m.type === 'fail-later') throw new Error('later')
                c.reply(m.n)
                return same
              })
            case 'fail':
              over()
              throw new Error('a call')
            case 'unknown':
              over()
              return unhandled
            case 'become':
              over()
              return behavior()
            case 'end':
              over()
              return stopped
            case 'pass':
              c.forward(others[0]!)
              if (sim.choose(2) === 1)
                return sim.delay().then(() => {
                  over()
                  return same
                })
              over()
              return same
            default:
              over()
              if (m.replyTo !== undefined) c.reply(m.n)
              return same
          }
        },
        (_c, s) => {
          // Whatever was open is cut off, and goes on outside.
          if (s.type === 'PreRestart' || s.type === 'PreStop' || s.type === 'PostStop') cut = Math.max(cut, open)
          return same
        },
      )
    })
  others.push(
    sim.calmly(() =>
      sim.system.spawn(
        receive<Call>((c, m) => {
          if (m.replyTo !== undefined) c.reply(m.n)
          return same
        }),
        { name: 'other' },
      ),
    ),
  )
  const ref: ActorRef<Call> = sim.system.spawn(behavior(), {
    name: 'guarded',
    supervision: sim.oneOf(['restart', 'resume'] as const),
    middleware: links,
    ...(most === undefined ? {} : { reentrant: { maxConcurrent: most } }),
    metrics: sim.choose(3) === 1 && measured(),
    stopTimeout: 30,
    ...(links.length === 0 || sim.choose(2) === 1 ? { accepts } : {}),
  })
  void sim.system.whenTerminated(ref).then(() => ends++)
  const schema = links.length === 0
  const kinds: readonly Call['type'][] = [
    'call',
    'wait',
    'fail',
    'unknown',
    'swallow',
    'change',
    'fail-later',
    'trip',
    'trip-out',
    'pass',
    ...(schema ? (['bad'] as const) : []),
    ...(reentrant ? (['wait', 'wait', 'become'] as const) : []),
    'end',
  ]
  let n = 0
  let asked = 0
  let settled = 0
  sim.plan(sim.int(1, 14), () => {
    const m: Call = { type: sim.oneOf(kinds), n: n++ }
    switch (sim.choose(7)) {
      case 1:
      case 2:
        asked++
        ref
          .ask<number>((replyTo) => ({ ...m, replyTo }), { timeout: 60 })
          .then(
            (answer) => {
              settled++
              sim.check(answer === m.n, `question ${m.n} was answered with ${answer}`)
            },
            () => settled++,
          )
        return
      case 3:
        if (sim.choose(3) === 1) sim.system.restart(ref)
        else ref.tell(m, others[0])
        return
      case 4:
        if (sim.choose(4) === 1) ref.stop()
        else ref.tell(m)
        return
      default:
        ref.tell(m, sim.choose(2) === 0 ? undefined : others[0]!)
    }
  })
  sim.eventually('every question is settled', () => asked === settled)
  sim.eventually(
    'who was let in was let out once',
    () =>
      links.length === 0 ||
      sim.faulted ||
      counts.every((c) => (cut > 0 || open > 0 ? c.before >= c.after + c.error : c.before === c.after + c.error)),
  )
  sim.eventually('links are closed with their actor', () => closes === (sim.system.phaseOf(ref) === 'terminated' ? links.length : 0))
  sim.eventually('an end is heard of once', () => ends === (sim.system.phaseOf(ref) === 'terminated' ? 1 : 0))
}

export const guards: LibraryScenario = {
  name: 'guards',
  about: 'middleware, schemas and bounds around handlers, also reentrant ones',
  run,
  options: { system: { flightRecorder: flightRecorder({ capacity: recorded }) } },
}

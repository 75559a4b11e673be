// Questions that are answered late, twice, never, by a chain of others, or by somebody who fails or stops meanwhile.

import { type ActorRef, type Behavior, receive, same, setup, stopped, unhandled } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Question = { readonly type: 'get'; readonly how: number; readonly replyTo: ActorRef<string> }
type Note = { readonly type: 'note'; readonly text: string }

function run(sim: Simulation): void {
  const refs: ActorRef<Question | Note>[] = []
  const passed = new Map<unknown, number>()
  const server = (i: number): Behavior<Question | Note> =>
    setup<Question | Note>((ctx) => {
      const incarnation = ctx.incarnation
      return receive<Question | Note>((c, m) => {
        if (m.type === 'note') {
          sim.check(Number(m.text) === c.incarnation, `an answer to incarnation ${m.text} was piped to incarnation ${c.incarnation}`)
          return same
        }
        switch (m.how) {
          case 0:
            c.reply('plain')
            return same
          case 1:
            return sim.delay().then(() => {
              m.replyTo.tell('later')
              return same
            })
          case 2:
            return same
          case 3:
            throw new Error('no answer')
          case 4:
            return unhandled
          case 5:
            m.replyTo.tell('once')
            m.replyTo.tell('twice')
            return same
          case 6:
            return stopped
          case 7: {
            // The next in the circle, forwarded: still one question.
            const hops = passed.get(m) ?? 0
            passed.set(m, hops + 1)
            if (hops < 3) c.forward(refs[(i + 1) % refs.length]!)
            else c.reply('enough')
            return same
          }
          case 8: {
            const next = refs[(i + 1) % refs.length]!
            const asked = c.ask(next, { type: 'get', how: sim.choose(7) }, { timeout: sim.oneOf([20, 5, 100]) })
            return asked.then(
              (answer) => {
                sim.check(!c.signal.aborted || c.incarnation === incarnation, 'an answer reached another incarnation')
                m.replyTo.tell(`via ${answer}`)
                return same
              },
              () => same,
            )
          }
          default: {
            const asked = c.ask(refs[(i + 1) % refs.length]!, { type: 'get', how: sim.choose(7) }, { timeout: 30 })
            const text = String(incarnation)
            c.pipeToSelf(
              asked,
              () => ({ type: 'note', text }),
              () => ({ type: 'note', text }),
            )
            return same
          }
        }
      })
    })
  for (let i = 0; i < 2 + sim.choose(2); i++)
    refs.push(sim.system.spawn(server(i), { name: `s${i}`, supervision: sim.oneOf(['restart', 'resume', 'stop']), stopTimeout: 30 }))
  let asked = 0
  let settled = 0
  let refused = 0
  // Now and then everybody just answers: then every question is answered.
  const calm = sim.choose(5) === 4
  sim.eventually('questions to those who answer are answered', () => sim.faulted || !calm || refused === 0)
  sim.plan(sim.int(1, 16), () => {
    const ref = refs[sim.choose(refs.length)]!
    if (!calm && sim.choose(6) === 5) return sim.choose(2) === 0 ? ref.stop() : sim.system.restart(ref)
    asked++
    const how = calm ? sim.oneOf([0, 1, 5]) : sim.choose(10)
    const at = sim.now
    const timeout = calm ? 500 : sim.oneOf([50, 10, 200])
    ref.ask({ type: 'get', how }, { timeout }).then(
      () => settled++,
      (cause: Error) => {
        settled++
        refused++
        if (cause.name === 'AskTimeout') sim.check(sim.now >= at + timeout, `an ask timed out after ${sim.now - at} of ${timeout} ms`)
      },
    )
    return undefined
  })
  sim.eventually('every ask is settled once', () => asked === settled)
}

export const askCycles: LibraryScenario = { name: 'ask cycles', about: 'questions answered late, twice, never, in circles, or by the dying', run }

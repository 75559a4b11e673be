// Questions in chains: who asks in order to answer has no more time than he was given; a circle is noticed at once, where
// it is one; a question that was taken back, ran out of time or was handed to somebody who stops is over at once; and who
// let his time run out has none left for questions of his own.

import { type ActorRef, type Behavior, Cancelled, DeadlockError, receive, same, setup, stopped } from '@troupe/core'
import type { Simulation } from '../sim/simulation.ts'
import type { LibraryScenario } from './scenario.ts'

type Ask = {
  readonly type: 'chain' | 'hold' | 'hand-on' | 'aside' | 'slow' | 'late' | 'boomerang' | 'back'
  /** How many more are asked before somebody answers. */
  readonly hops: number
  readonly replyTo: ActorRef<string>
}
type Note = { readonly type: 'let-go' | 'end' | 'fail' }

interface AbortControllerLike {
  readonly signal: NonNullable<NonNullable<Parameters<ActorRef<Ask>['ask']>[1]>['signal']>
  abort(reason?: unknown): void
}
const { AbortController } = globalThis as unknown as { readonly AbortController: new () => AbortControllerLike }

function run(sim: Simulation): void {
  const refs: ActorRef<Ask | Note>[] = []
  const seen = new Set<unknown>()
  const size = sim.int(2, 4)
  const last = size - 1
  // The last may take several at a time: then there is no circle through it.
  const reentrant = sim.choose(3) === 1
  const how = sim.oneOf(['direct', 'later', 'piped'] as const)
  const mode = sim.oneOf(['reject', 'off', 'warn'] as const)
  const server = (i: number): Behavior<Ask | Note> =>
    setup<Ask | Note>(() => {
      const held: ActorRef<string>[] = []
      return receive<Ask | Note>((c, m) => {
        switch (m.type) {
          case 'let-go':
            for (const replyTo of held.splice(0)) replyTo.tell('let go')
            c.stash.unstashAll()
            return same
          case 'end':
            return stopped
          case 'fail':
            throw new Error('a server')
          case 'slow':
            return sim.delay(25).then(() => {
              if (!c.signal.aborted) c.reply('slow')
              return same
            })
          case 'late':
            // Asks for help when whoever asked may have given up.
            return sim
              .delay(sim.oneOf([10, 30, 60]))
              .then(() => (c.signal.aborted ? 'over' : c.ask(refs[(i + 1) % size]!, { type: 'slow', hops: 0 }, { timeout: 200 })))
              .then(
                (text) => m.replyTo.tell(text),
                (cause: Error) => m.replyTo.tell(cause.name),
              )
              .then(() => same)
          case 'hold':
            held.push(m.replyTo)
            return same
          case 'aside':
            if (c.stash.size < 2 && sim.choose(2) === 0) c.stash.add(m)
            else c.reply('not aside')
            return same
          case 'boomerang':
            // Asked in passing: whoever asked is busy with something else, or with nothing, when it comes back to him.
            c.pipeToSelf(
              c.ask(refs[(i + 1) % size]!, { type: 'back', hops: 0 }, { timeout: 30 }),
              () => ({ type: 'let-go' }),
              () => ({ type: 'let-go' }),
            )
            c.reply('thrown')
            return same
          case 'back':
            if (seen.has(m)) c.reply('back')
            else {
              seen.add(m)
              c.forward(refs[(i + size - 1) % size]!)
            }
            return same
          case 'hand-on':
            if (i !== last) c.forward(refs[i + 1]!)
            else if (sim.choose(2) === 0) c.reply('at the end')
            else held.push(m.replyTo)
            return same
          case 'chain': {
            if (m.hops === 0) {
              c.reply('answer')
              return same
            }
            const question = { type: 'chain', hops: m.hops - 1 } as const
            const ask = (): Promise<string> => c.ask(refs[(i + 1) % size]!, question, { timeout: 40, deadlock: mode })
            const answer = (text: string): Behavior<Ask | Note> => {
              m.replyTo.tell(text)
              return same
            }
            const refuse = (cause: Error): Behavior<Ask | Note> => {
              m.replyTo.tell(cause instanceof DeadlockError ? 'a circle' : cause.name)
              return same
            }
            if (how === 'piped') {
              // Nobody waits, so there is no circle.
              const asked = ask()
              c.pipeToSelf(
                asked.then(
                  (text) => m.replyTo.tell(text),
                  (cause: Error) => m.replyTo.tell(cause instanceof DeadlockError ? 'a circle' : cause.name),
                ),
                () => ({ type: 'let-go' }),
                () => ({ type: 'let-go' }),
              )
              return same
            }
            return (how === 'direct' ? ask() : sim.delay(1).then(ask)).then(answer, refuse)
          }
        }
      })
    })
  for (let i = 0; i < size; i++)
    refs.push(
      sim.system.spawn(server(i), {
        name: `s${i}`,
        supervision: sim.oneOf(['restart', 'resume']),
        stopTimeout: 20,
        reentrant: i === last && reentrant,
      }),
    )
  let asked = 0
  let settled = 0
  // Alone, a chain ends as it must: by an answer, or where it closes a circle.
  const calm = sim.choose(2) === 0
  sim.eventually('every question is settled', () => asked === settled)
  const one = (ref: ActorRef<Ask | Note>, type: Ask['type'], hops: number): void => {
    const abort = sim.choose(4) === 1 ? new AbortController() : undefined
    const timeout = sim.oneOf([50, 20, 100])
    const at = sim.now
    let aborted = -1
    let done = false
    asked++
    ref.ask({ type, hops }, { timeout, ...(abort === undefined ? {} : { signal: abort.signal }) }).then(
      (answer) => {
        settled++
        done = true
        sim.check(aborted < 0 || aborted === sim.now, 'a question was answered that had been taken back')
        if (calm && type === 'chain' && !sim.faulted && abort === undefined) {
          const waits = how !== 'piped' && mode === 'reject'
          const circle = waits && hops >= size && !(reentrant && size > 0)
          if (circle) sim.check(answer === 'a circle', `a circle of ${size} with ${hops} hops was answered by ${answer}`)
          else if (hops < size || how === 'piped') sim.check(answer === 'answer', `${hops} hops among ${size} were answered by ${answer}`)
          else if (reentrant && mode === 'reject') sim.check(answer !== 'a circle', 'a circle was seen through one who takes several at a time')
        }
      },
      (cause: Error) => {
        settled++
        done = true
        if (calm && type === 'chain' && !sim.faulted && abort === undefined && hops < size)
          sim.check(false, `${hops} hops among ${size} ended with ${String(cause)}`)
        // What settled it in the same moment may have come first: its promise is only heard of later, and a clock that jumps may be sooner.
        if (aborted >= 0)
          sim.check(sim.now === aborted || sim.faulted, `a question was taken back at ${aborted} ms, and ended at ${sim.now} with ${cause.name}`)
        else sim.check(!(cause instanceof Cancelled), 'a question was cancelled that nobody took back')
        sim.check(sim.now <= at + timeout || sim.faulted, `a question of ${timeout} ms was settled after ${sim.now - at}`)
      },
    )
    if (abort !== undefined)
      sim.after(sim.choose(15), () => {
        if (!done) aborted = sim.now
        abort.abort('enough')
      })
  }
  if (calm) {
    let turn = 0
    const hops = sim.choose(size * 2 + 1)
    const next = (): void => {
      one(refs[sim.choose(size)]!, 'chain', hops)
      if (++turn < 3) sim.after(250, next)
    }
    next()
    return
  }
  const types: readonly Ask['type'][] = ['chain', 'hold', 'hand-on', 'aside', 'slow', 'boomerang', 'slow', 'late']
  sim.plan(sim.int(1, 12), () => {
    const ref = refs[sim.choose(size)]!
    switch (sim.choose(9)) {
      case 4:
        return ref.tell({ type: 'let-go' })
      case 5:
        return sim.choose(2) === 0 ? ref.stop() : ref.tell({ type: sim.oneOf(['fail', 'end']) })
      case 6:
        return sim.choose(2) === 0 ? sim.system.restart(ref) : sim.system.kill(ref)
      case 7: {
        // Answered, or given up, before it is sent.
        asked++
        const throws = sim.choose(2) === 1
        const early = ref.ask<string>(
          (replyTo) => {
            if (throws) throw new Error('no question')
            replyTo.tell('early')
            return { type: 'hold', hops: 0, replyTo }
          },
          { timeout: 30 },
        )
        early.then(
          (answer) => {
            settled++
            sim.check(answer === 'early', `a question that was answered at once has the answer ${answer}`)
          },
          (cause: Error) => {
            settled++
            sim.check(throws && cause.message === 'no question', `a question that could not be made ended with ${cause.message}`)
          },
        )
        return undefined
      }
      default:
        return one(ref, sim.oneOf(types), sim.choose(size + 1))
    }
  })
}

export const deadlines: LibraryScenario = { name: 'deadlines', about: 'chains and circles of questions, taken back, expired or handed on', run }

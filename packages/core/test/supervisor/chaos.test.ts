// Everything at once: failures, ends, kills, suspensions and requests on top of starts and stops that take time and of
// backoffs, without waiting for one to be done before the next. Whatever happened, when the dust has settled nobody is
// left half-way: each child runs or is stopped, every request was answered, and the supervisor still stops in order.

import { createTestKit } from '@troupe/testkit'
import { fc } from '../properties.ts'
import { expect, test } from 'vitest'
import { type ActorRef, child, delay, type Shutdown, supervisor, supervisorClient } from '@troupe/core'
import { makeJournal, type Work, worker } from './worker.ts'

const runs = Number(process.env['TROUPE_RUNS'] ?? 400)
const names = ['a', 'b', 'c', 'd'] as const

const childPlan = fc.record({
  restart: fc.constantFrom('permanent', 'permanent', 'transient', 'temporary'),
  shutdown: fc.constantFrom<Shutdown>(5, 40, 'kill', 'infinity'),
  backoff: fc.constantFrom(undefined, 0, 15, 60),
  needs: fc.nat(7),
  slowStart: fc.constantFrom(0, 0, 7, 30),
  slowStop: fc.constantFrom(0, 0, 7, 30),
})
const plan = fc.record({
  strategy: fc.constantFrom('one-for-one', 'all-for-one', 'rest-for-one', 'dependents'),
  intensity: fc.constantFrom(2, 10, 50),
  children: fc.array(childPlan, { minLength: 1, maxLength: 4 }),
})
const verbs = [
  'crash',
  'crash',
  'crash',
  'end',
  'kill',
  'jam',
  'stop',
  'stop',
  'restart',
  'delete',
  'start',
  'restart-by-hand',
  'suspend',
  'resume',
] as const
const command = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constantFrom(...verbs), fc.constantFrom(...names)).map((c) => c.join(' ')) },
  { weight: 3, arbitrary: fc.constantFrom('tick 0', 'tick 1', 'tick 6', 'tick 20', 'tick 100') },
)

test(`nobody is left half-way, in ${runs} random storms`, { timeout: 180_000 + runs * 30 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      plan,
      fc.array(command, { maxLength: 30, size: '+1' }),
      fc.boolean(),
      async ({ strategy, intensity, children }, commands, policy) => {
        const kit = createTestKit()
        const journal = makeJournal()
        const pause = (ms: number): Promise<void> => delay(ms, { clock: kit.system.clock })
        const specs = children.map((c, i) => {
          const name = names[i]!
          journal.plans[name] = {
            ...(c.slowStart > 0 && { starting: () => pause(c.slowStart) }),
            ...(c.slowStop > 0 && { stopping: () => pause(c.slowStop) }),
          }
          const needs = names.slice(0, i).filter((_, n) => (c.needs >> n) & 1)
          const backoff = c.backoff === undefined ? undefined : { min: c.backoff, max: 200, jitter: 0 }
          return child(name, worker(name, journal), { restart: c.restart, shutdown: c.shutdown, needs, backoff })
        })
        const sup = kit.system.spawn(supervisor({ strategy, intensity, children: specs }), { name: 'sup', supervision: policy ? 'stop' : 'restart' })
        const client = supervisorClient(sup, { timeout: 5000 })
        const answers: Promise<string>[] = []
        const answered = (request: Promise<unknown>): void => {
          answers.push(
            request.then(
              () => 'ok',
              (cause: { code?: string }) => String(cause.code),
            ),
          )
        }
        for (const text of commands) {
          const [verb, arg] = text.split(' ') as [string, string]
          const target = kit.system.find(`/user/sup/${arg}`) as ActorRef<Work> | undefined
          if (verb === 'tick') await kit.advance(Number(arg))
          else if (verb === 'jam') (journal.plans[arg] ??= {}).failStarts = 1
          else if (verb === 'stop') answered(client.stopChild(arg))
          else if (verb === 'restart') answered(client.restartChild(arg))
          else if (verb === 'delete') answered(client.deleteChild(arg))
          else if (verb === 'start') answered(client.startChild(child(arg, worker(arg, journal))))
          else if (target === undefined) continue
          else if (verb === 'kill') kit.system.kill(target)
          else if (verb === 'restart-by-hand') kit.system.restart(target)
          else if (verb === 'suspend') kit.system.suspend(target, 'storm')
          else if (verb === 'resume') kit.system.resume(target)
          else target.tell({ type: verb as 'crash' | 'end' })
        }
        await kit.advance(2000)
        if (kit.system.phaseOf(sup) !== 'terminated') {
          expect(kit.system.phaseOf(sup)).toBe('running')
          const asked = client.children()
          await kit.settle()
          for (const c of await asked) {
            expect([c.name, c.status]).toEqual([c.name, c.ref === undefined ? 'stopped' : 'running'])
            if (c.ref !== undefined) expect(kit.system.phaseOf(c.ref)).toMatch(/running|suspended/)
          }
        }
        for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^(ok|child-refused|ask-target-stopped)$/)
        const ups = [
          ...journal.lines.reduce((up, line) => (line.startsWith('+') ? up.add(line.slice(1)) : up.delete(line.slice(1)), up), new Set<string>()),
        ]
        journal.take()
        sup.stop()
        await kit.advance(500)
        expect(kit.system.phaseOf(sup)).toBe('terminated')
        expect(journal.take().filter((l) => l.startsWith('-'))).toHaveLength(ups.length)
        await kit.end()
      },
    ),
    { numRuns: runs },
  )
})

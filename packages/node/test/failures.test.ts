// What the system remembers and logs of actors on threads.

import { expect, test } from 'vitest'
import { type ActorRef, type LevelledLogger, supervise } from '@troupe/core'
import type { Subject } from '../dist-test/subject.js'
import { stagesOfTests } from './stage.ts'

const stage = stagesOfTests()
const restart = supervise({ backoff: { min: 0, max: 0 } })

test('system.failures has the failed messages of actors on threads, and of those below them, each once', async () => {
  const s = stage()
  const a = s.subject({ name: 'a', dispatcher: 'parallel', supervision: restart })
  await s.system.started(a)
  a.tell({ type: 'throw', message: 'above' })
  a.tell({ type: 'spawn', name: 'kid' })
  expect(await a.ask({ type: 'state' })).toMatchObject({ incarnation: 1 })
  const kid = (await s.threads.find('/user/a/kid')) as ActorRef<Subject>
  kid.tell({ type: 'throw', message: 'below' })
  await s.until('both', () => s.system.failures.count === 2)
  expect(s.system.failures.list()).toMatchObject([
    { message: { type: 'throw', message: 'above' }, cause: { message: 'above' }, directive: 'restart' },
    { message: { type: 'throw', message: 'below' }, cause: { message: 'below' }, directive: 'restart' },
  ])
  // By identity: to compare two refs field by field is to walk through both systems.
  expect(s.system.failures.list().map((failure) => failure.actor === a)).toEqual([true, false])
  expect(s.system.failures.list()[1]!.actor === kid).toBe(true)
  expect(s.logs.filter((l) => l.message === 'the actor failed').map((l) => [l.fields['actor'], l.fields['message']])).toEqual([
    ['/user/a', 'throw'],
    ['/user/a/kid', 'throw'],
  ])
  await s.end()
  expect(s.system.failures.count).toBe(2)
})

test('phases of actors on threads, and of those below them, are told once at debug, where debug is wanted', async () => {
  const told: string[] = []
  const logger: LevelledLogger = {
    debug: ({ actor, to }, message) => void (message === 'the actor changed its phase' && told.push(`${String(actor)} ${String(to)}`)),
    info: () => {},
    warn: () => {},
    error: () => {},
  }
  const s = stage({ system: { logger } })
  const a = s.subject({ name: 'a', dispatcher: 'parallel' })
  a.tell({ type: 'spawn', name: 'kid' })
  await s.until('the kid runs', () => told.includes('/user/a/kid running'))
  expect(told.filter((line) => line.startsWith('/user/a'))).toEqual([
    '/user/a starting',
    '/user/a running',
    '/user/a/kid starting',
    '/user/a/kid running',
  ])
  await s.end()
})

import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { type ActorSnapshot, child, formatTree, ignore, receive, setup, supervisor } from '@troupe/core'

const crashing = receive<'crash'>(() => {
  throw new Error('crash')
})

test('the tree shows phase, restarts, mailbox depth and what an actor waits for, in aligned columns', async () => {
  const kit = createTestKit()
  const sup = kit.system.spawn(
    supervisor({
      children: [
        child('database', crashing),
        child('cache', crashing, { backoff: { min: 1000, max: 1000, jitter: 0 } }),
        child(
          'api',
          setup(() => receive<'slow'>(() => new Promise<void>(() => {}))),
          { stopTimeout: 10 },
        ),
      ],
    }),
    { name: 'sup' },
  )
  const last = kit.system.spawn(ignore, { name: 'a-rather-long-name' })
  await kit.settle()
  const at = (name: string) => kit.system.find(`/user/sup/${name}`) as typeof sup as unknown as { tell(m: string): void }
  at('database').tell('crash')
  await kit.settle()
  at('cache').tell('crash')
  for (let i = 0; i < 4; i++) at('api').tell('slow')
  await kit.settle()
  at('cache').tell('crash')
  kit.system.suspend(last, 'maintenance')
  await kit.settle()
  expect(formatTree(await kit.system.inspect())).toBe(
    [
      'user                   running',
      '├─ sup                 running',
      '│  ├─ database         running     restarts 1',
      '│  ├─ cache            restarting              queued 1  (backoff)',
      '│  └─ api              running                 queued 3  awaiting string',
      '└─ a-rather-long-name  suspended                         (maintenance)',
    ].join('\n'),
  )
  await kit.end()
})

test('columns that say nothing are left out', async () => {
  const kit = createTestKit()
  kit.system.spawn(ignore, { name: 'one' })
  await kit.settle()
  expect(formatTree(await kit.system.inspect())).toBe('user    running\n└─ one  running')
  await kit.end()
})

function snapshot(name: string, children: readonly ActorSnapshot[]): ActorSnapshot {
  return {
    path: `/${name}`,
    name,
    uid: 1,
    phase: 'running',
    incarnation: 0,
    queued: 0,
    stashed: 0,
    pending: undefined,
    waiting: undefined,
    dispatcher: 'concurrent',
    mailbox: { kind: 'unbounded', capacity: undefined },
    metrics: undefined,
    recent: undefined,
    children,
  }
}

test('a tree of 200,000 actors and one 2,000 deep are printed', () => {
  const wide = snapshot(
    'top',
    Array.from({ length: 200_000 }, () => snapshot('x', [])),
  )
  expect(formatTree(wide).endsWith('└─ x  running')).toBe(true)
  let deep = snapshot('x', [])
  for (let i = 0; i < 2000; i++) deep = snapshot('x', [deep])
  expect(formatTree(deep).split('\n')).toHaveLength(2001)
})

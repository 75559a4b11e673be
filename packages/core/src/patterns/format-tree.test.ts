import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { child, formatTree, ignore, receive, setup, supervisor } from 'troupe'

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

test('a tree of 100,000 actors and one 2,000 deep are printed without recursion or spread', async () => {
  const kit = createTestKit()
  for (let i = 0; i < 100_000; i++) kit.system.spawn(ignore)
  await kit.settle()
  const wide = formatTree(await kit.system.inspect())
  expect(wide.split('\n')).toHaveLength(100_001)
  await kit.end()
  const deep = (n: number): ReturnType<typeof setup<unknown>> =>
    setup((ctx) => {
      if (n > 0) ctx.spawn(deep(n - 1), { name: 'd' })
      return ignore
    })
  const other = createTestKit()
  other.system.spawn(deep(2000), { name: 'd' })
  await other.settle()
  expect(formatTree(await other.system.inspect()).split('\n')).toHaveLength(2002)
  await other.end()
})

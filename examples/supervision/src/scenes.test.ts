import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { playAll } from './scenes.ts'

/** What each strategy does, as printed: the line of stops and starts, and who was restarted. */
const expected: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  'one-for-one': ['-db +db', ['db']],
  'all-for-one': ['-db -mail -web -cache -log +log +db +cache +web +mail', ['log', 'db', 'cache', 'web', 'mail']],
  'rest-for-one': ['-db -mail -web -cache +db +cache +web +mail', ['db', 'cache', 'web', 'mail']],
  dependents: ['-db -web -cache +db +cache +web', ['db', 'cache', 'web']],
  'simple-one-for-one': ['-bob +bob', ['$']],
}

async function play(): Promise<Map<string, string[]>> {
  const kit = createTestKit()
  const scenes = new Map<string, string[]>()
  let scene: string[] = []
  await playAll(kit.system, {
    show: (text) => {
      if (text.startsWith('# ')) scenes.set(text.slice(2).split(':')[0]!, (scene = []))
      else scene.push(text)
    },
    settle: () => kit.settle(),
  })
  await kit.end()
  return scenes
}

/** The names of those that a tree shows as restarted. */
function restartedIn(tree: string): string[] {
  return tree.split('\n').flatMap((line) =>
    line.includes('restarts 1')
      ? [
          line
            .replaceAll(/[├└─│ ]+/g, ' ')
            .trim()
            .split(' ')[0]!
            .replace(/\d+$/, ''),
        ]
      : [],
  )
}

test('each strategy restarts exactly those that it says, in its order, and the printed trees show it', async () => {
  const scenes = await play()
  for (const [strategy, [order, restarted]] of Object.entries(expected)) {
    const [before, happened, after] = scenes.get(strategy)!
    expect(restartedIn(before!)).toEqual([])
    expect(happened!.trim()).toBe(order)
    expect(restartedIn(after!)).toEqual(restarted)
  }
})

test('the tree before and after a dependents restart reads as aligned text', async () => {
  const [before, , after] = (await play()).get('dependents')!
  expect(before).toBe(
    ['shop      running', '├─ log    running', '├─ db     running', '├─ cache  running', '├─ web    running', '└─ mail   running'].join('\n'),
  )
  expect(after).toBe(
    [
      'shop      running',
      '├─ log    running',
      '├─ db     running  restarts 1',
      '├─ cache  running  restarts 1',
      '├─ web    running  restarts 1',
      '└─ mail   running',
    ].join('\n'),
  )
})

test('a branch that gives up is restarted as a whole, and when the root gives up the causes tell the way', async () => {
  const scenes = await play()
  expect(scenes.get('giving up')![1]!.trim()).toBe('-cache -db -web +db +cache +web')
  const [happened, ...causes] = scenes.get('and once more')!.map((l) => l.trim())
  expect(happened).toBe('-cache -db -web -log')
  expect(causes.map((c) => c.split(':')[0])).toEqual(['/user/shop gave up', '/user/shop/storage gave up', 'db lost its connection'])
})

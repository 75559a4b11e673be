// The decisions alone: no actors, no time but a number.

import { expect, test } from 'vitest'
import { decide } from './decide.ts'
import type { Strategy } from './scope.ts'
import { type ChildFacts, type Effect, type Event, makeTree, type Tree } from './tree.ts'

function facts(name: string, more: Partial<ChildFacts> = {}): ChildFacts {
  return { name, restart: 'permanent', shutdown: 5000, significant: false, needs: [], siblings: [], backoff: undefined, ...more }
}

function up(strategy: Strategy, ...children: ChildFacts[]): Tree {
  const tree = makeTree({ path: '/user/sup', strategy, intensity: 3, period: 1000, autoShutdown: 'never', random: () => 0.5, children })
  const [first] = decide(tree, { type: 'boot' }, 0)
  expect(first).toEqual({ type: 'spawn', id: 1 })
  children.forEach((_, i) => decide(tree, { type: 'started', id: i + 1 }, 0))
  return tree
}

const short = (effects: readonly Effect[]): string => effects.map((e) => ('id' in e ? `${e.type} ${e.id}` : e.type)).join(', ')
const feed = (tree: Tree, now: number, ...events: Event[]): string => events.map((e) => short(decide(tree, e, now))).join(' | ')

test('boot starts one child at a time and reports when the last is up', () => {
  const tree = makeTree({
    path: '/',
    strategy: 'one-for-one',
    intensity: 3,
    period: 1000,
    autoShutdown: 'never',
    random: () => 0,
    children: [facts('a'), facts('b')],
  })
  expect(feed(tree, 0, { type: 'boot' }, { type: 'started', id: 1 }, { type: 'started', id: 2 })).toBe('spawn 1 | spawn 2 | booted')
})

test('a group comes to rest one by one, the failed one first, then youngest first, and up again oldest first', () => {
  const tree = up('all-for-one', facts('a'), facts('b'), facts('c'))
  expect(
    feed(
      tree,
      1,
      { type: 'failed', id: 2, cause: 'x' },
      { type: 'held', id: 2 },
      { type: 'held', id: 3 },
      { type: 'held', id: 1 },
      { type: 'started', id: 1 },
      { type: 'started', id: 2 },
      { type: 'started', id: 3 },
    ),
  ).toBe('restarting, hold 2 | hold 3 | hold 1 | relaunch 1 | relaunch 2 | relaunch 3 | ')
})

test('a bystander with shutdown kill is stopped and spawned anew; one that was killed while it came to rest as well', () => {
  const tree = up('all-for-one', facts('a', { shutdown: 'kill' }), facts('b'))
  expect(
    feed(
      tree,
      1,
      { type: 'failed', id: 2, cause: 'x' },
      { type: 'ended', id: 2, reason: 'killed', cause: undefined },
      { type: 'ended', id: 1, reason: 'killed', cause: undefined },
      { type: 'started', id: 1 },
      { type: 'started', id: 2 },
    ),
  ).toBe('restarting, hold 2 | stop 1 | spawn 1 | spawn 2 | ')
})

test('backoff grows with each attempt and begins anew after a quiet period', () => {
  const tree = up('one-for-one', facts('a', { backoff: { min: 100, max: 300, factor: 2, jitter: 0 } }))
  const waits: number[] = []
  const crash = (now: number): void => {
    decide(tree, { type: 'failed', id: 1, cause: 'x' }, now)
    for (const effect of decide(tree, { type: 'held', id: 1 }, now)) {
      if (effect.type !== 'wait') continue
      waits.push(effect.operation.until - now)
      decide(tree, { type: 'due', operation: effect.operation }, effect.operation.until)
      decide(tree, { type: 'started', id: 1 }, effect.operation.until)
    }
  }
  for (const now of [0, 500, 1000]) crash(now)
  crash(5000)
  expect(waits).toEqual([100, 200, 300, 100])
})

test('a wait that was cancelled is not due any more', () => {
  const tree = up('one-for-one', facts('a', { backoff: { min: 100, max: 100, factor: 1, jitter: 0 } }))
  decide(tree, { type: 'failed', id: 1, cause: 'x' }, 0)
  const [wait] = decide(tree, { type: 'held', id: 1 }, 0) as [Extract<Effect, { type: 'wait' }>]
  expect(feed(tree, 1, { type: 'stop', request: 1, id: 1 }, { type: 'due', operation: wait.operation })).toBe('unwait, stop 1 | ')
  expect(feed(tree, 2, { type: 'ended', id: 1, reason: 'shutdown', cause: undefined })).toBe('answer')
})

test('a child held though nobody wants it to wait goes on at once', () => {
  const tree = up('one-for-one', facts('a'))
  expect(feed(tree, 1, { type: 'held', id: 1 }, { type: 'started', id: 1 })).toBe('relaunch 1 | ')
})

test('closing in the middle of a group restart stops everybody, youngest first, and answers what was asked', () => {
  const tree = up('all-for-one', facts('a'), facts('b'), facts('c'))
  decide(tree, { type: 'failed', id: 1, cause: 'x' }, 1)
  expect(feed(tree, 1, { type: 'stop', request: 9, id: 3 }, { type: 'close' })).toBe(' | answer, stop 3')
  const ended = (id: number): Event => ({ type: 'ended', id, reason: 'shutdown', cause: undefined })
  expect(feed(tree, 1, ended(3), ended(2), ended(1))).toBe('stop 2 | stop 1 | closed')
})

test('closing cancels the wait of a child for its backoff', () => {
  const tree = up('one-for-one', facts('a', { backoff: { min: 100, max: 100, factor: 1, jitter: 0 } }))
  decide(tree, { type: 'failed', id: 1, cause: 'x' }, 0)
  expect(feed(tree, 0, { type: 'held', id: 1 }, { type: 'close' })).toBe('wait | unwait, stop 1')
})

test('a stop of a child in a group restart is done when the group is up', () => {
  const tree = up('all-for-one', facts('a'), facts('b'))
  decide(tree, { type: 'failed', id: 1, cause: 'x' }, 1)
  expect(
    feed(
      tree,
      1,
      { type: 'stop', request: 9, id: 2 },
      { type: 'held', id: 1 },
      { type: 'held', id: 2 },
      { type: 'started', id: 1 },
      { type: 'started', id: 2 },
    ),
  ).toBe(' | hold 2 | relaunch 1 | relaunch 2 | stop 2')
  expect(feed(tree, 1, { type: 'ended', id: 2, reason: 'shutdown', cause: undefined })).toBe('answer')
})

test('news of a child that is off the books is ignored', () => {
  const tree = up('one-for-one', facts('a', { restart: 'temporary' }))
  const ended: Event = { type: 'ended', id: 1, reason: 'normal', cause: undefined }
  expect(feed(tree, 1, ended, ended, { type: 'started', id: 1 }, { type: 'held', id: 1 })).toBe('forget 1 |  |  | ')
})

test('a child whose start failed is tried again with those that need it, and these wait for what else they need', () => {
  const tree = up('dependents', facts('a'), facts('b', { needs: ['a'] }), facts('c', { needs: ['a'] }), facts('d', { needs: ['b', 'c'] }))
  expect(
    feed(
      tree,
      1,
      { type: 'failed', id: 1, cause: 'x' },
      { type: 'held', id: 1 },
      { type: 'held', id: 4 },
      { type: 'held', id: 3 },
      { type: 'held', id: 2 },
      { type: 'started', id: 1 },
    ),
  ).toBe('restarting, hold 1 | hold 4 | hold 3 | hold 2 | relaunch 1 | relaunch 2')
  expect(feed(tree, 1, { type: 'failed', id: 2, cause: 'y' }, { type: 'held', id: 2 })).toBe('restarting, hold 2, relaunch 3 | relaunch 2')
  // Its restart is done but for the one that also needs the third, which another restart is still starting.
  expect(feed(tree, 1, { type: 'started', id: 2 }, { type: 'started', id: 3 }, { type: 'started', id: 4 })).toBe(' | relaunch 4 | ')
  expect(tree.operations.size).toBe(0)
})

test('a child that is gone while it waits for what it needs is spawned anew, once', () => {
  const tree = up('dependents', facts('a'), facts('b', { needs: ['a'] }), facts('c', { needs: ['a'] }), facts('d', { needs: ['b', 'c'] }))
  feed(tree, 1, { type: 'failed', id: 1, cause: 'x' }, { type: 'held', id: 1 }, { type: 'held', id: 4 }, { type: 'held', id: 3 })
  feed(tree, 1, { type: 'held', id: 2 }, { type: 'started', id: 1 }, { type: 'failed', id: 2, cause: 'y' }, { type: 'held', id: 2 })
  const killed: Event = { type: 'ended', id: 4, reason: 'killed', cause: undefined }
  expect(feed(tree, 1, { type: 'started', id: 2 }, killed, { type: 'started', id: 3 }, { type: 'started', id: 4 })).toBe(' |  | spawn 4 | ')
})

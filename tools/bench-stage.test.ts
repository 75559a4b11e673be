import { expect, test } from 'vitest'
import { type Benchmark, expectEqual, onRaw, onTroupe } from '../bench/savina/stage.ts'

const thousand: Benchmark = {
  name: 'a thousand',
  unit: 'messages',
  operations: 1000,
  kind: 'messages',
  run: (stage, finish) => {
    const counter = stage.spawn<number>((n, self) => {
      if (n === 1000) finish(n)
      else self.tell(n + 1)
      return n === 1000
    })
    counter.tell(0)
  },
  check: (result) => expectEqual(result, 1000, 'a thousand'),
}

test('a benchmark runs on both stages', async () => {
  expect(await onTroupe(thousand)).toBeGreaterThan(0)
  expect(await onRaw(thousand)).toBeGreaterThan(0)
})

test('an actor that fails in a benchmark is a failure, not a time', async () => {
  const failing: Benchmark = {
    ...thousand,
    run: (stage, finish) => {
      const actor = stage.spawn<number>((n) => {
        if (n === 0) throw new Error('broken')
        finish(1000)
      })
      actor.tell(0)
      stage.spawn<number>(() => finish(1000)).tell(1)
    },
  }
  await expect(onTroupe(failing)).rejects.toThrow('broken')
})

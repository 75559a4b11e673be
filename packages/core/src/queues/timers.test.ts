// The timer heap against a sorted list as model, and its use of the host's one timer.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ManualRuntime } from '../ports/manual.ts'
import { type Deadline, TimerQueue } from './timers.ts'

class Note implements Deadline {
  at = 0
  order = 0
  readonly #act: (now: number) => void
  constructor(act: (now: number) => void) {
    this.#act = act
  }
  fire(now: number): void {
    this.#act(now)
  }
}

/** A runtime whose clock the test moves, counting the host timers that are armed. */
class Counting extends ManualRuntime {
  readonly clock: { now: number }
  armed = 0
  mostArmed = 0
  asked: number[] = []
  constructor(clock = { now: 0 }) {
    super({ now: () => clock.now })
    this.clock = clock
  }
  override timer(ms: number, task: () => void): () => void {
    this.asked.push(ms)
    this.mostArmed = Math.max(this.mostArmed, ++this.armed)
    let open = true
    const close = (): void => {
      if (open) this.armed--
      open = false
    }
    const disarm = super.timer(ms, () => {
      close()
      task()
    })
    return () => {
      close()
      disarm()
    }
  }
}

test('deadlines fire in the order of time, equals in the order they were set, cancelled ones never', () => {
  type Step = { op: 'set' | 'cancel' | 'advance'; n: number }
  const step: fc.Arbitrary<Step> = fc.record({ op: fc.constantFrom('set', 'set', 'set', 'cancel', 'advance'), n: fc.nat(20) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const runtime = new Counting()
      const queue: TimerQueue = new TimerQueue(runtime, () => void queue.fireDue(runtime.now()))
      let model: { id: number; at: number; deadline: Deadline }[] = []
      const fired: number[] = []
      let ids = 0
      for (const { op, n } of steps) {
        if (op === 'set') {
          const id = ++ids
          const deadline = new Note(() => fired.push(id))
          const at = runtime.clock.now + n
          queue.set(deadline, at)
          model.push({ id, at, deadline })
        } else if (op === 'cancel') {
          const picked = model[n % Math.max(1, model.length)]
          if (picked === undefined) continue
          queue.cancel(picked.deadline)
          queue.cancel(picked.deadline)
          model = model.filter((m) => m !== picked)
        } else {
          runtime.clock.now += n
          runtime.pump()
          const due = model.filter((m) => m.at <= runtime.clock.now).sort((a, b) => a.at - b.at || a.id - b.id)
          model = model.filter((m) => m.at > runtime.clock.now)
          expect(fired.splice(0)).toEqual(due.map((d) => d.id))
        }
        expect(queue.size).toBe(model.length)
        expect(runtime.armed).toBeLessThanOrEqual(1)
        const next = Math.min(Infinity, ...model.map((m) => m.at))
        expect(queue.next).toBeLessThanOrEqual(next)
        if (model.length > 0) expect(runtime.nextDeadline).toBeLessThanOrEqual(next)
      }
    }),
    { numRuns: 300 },
  )
})

test('sweeping thousands of cancelled deadlines keeps the order of the others', () => {
  const runtime = new Counting()
  const queue: TimerQueue = new TimerQueue(runtime, () => void queue.fireDue(runtime.now()))
  const fired: number[] = []
  const all = Array.from({ length: 10_000 }, (_, i) => new Note(() => fired.push(i)))
  all.forEach((d, i) => queue.set(d, (i * 7919) % 100))
  all.forEach((d, i) => void (i % 4 !== 0 && queue.cancel(d)))
  expect(queue.size).toBe(2500)
  runtime.clock.now = 100
  runtime.pump()
  const left = all.map((_, i) => i).filter((i) => i % 4 === 0)
  expect(fired).toEqual(left.sort((a, b) => ((a * 7919) % 100) - ((b * 7919) % 100) || a - b))
  expect(queue.size).toBe(0)
})

test('two hundred thousand pending deadlines have at most one host timer armed at a time', () => {
  const runtime = new Counting()
  const queue: TimerQueue = new TimerQueue(runtime, () => void queue.fireDue(runtime.now()))
  let fired = 0
  const fire = (): void => void fired++
  for (let i = 0; i < 200_000; i++) queue.set(new Note(fire), 1 + ((i * 7919) % 1000))
  expect(queue.size).toBe(200_000)
  expect(runtime.mostArmed).toBe(1)
  for (let t = 0; t <= 1000; t += 50) {
    runtime.clock.now = t
    runtime.pump()
  }
  expect(fired).toBe(200_000)
  expect(runtime.mostArmed).toBe(1)
  expect(queue.size).toBe(0)
})

test('a zero delay set while firing waits for the next call, and one cancelled while firing never fires', () => {
  const runtime = new Counting()
  const queue: TimerQueue = new TimerQueue(runtime, () => {})
  const fired: string[] = []
  const later = new Note(() => fired.push('later'))
  const again = new Note(() => fired.push('again'))
  const taken = new Note(() => fired.push('taken back'))
  queue.set(
    new Note(() => {
      fired.push('first')
      queue.cancel(later)
      queue.set(again, 0)
      queue.set(taken, 0)
      queue.cancel(taken)
    }),
    0,
  )
  queue.set(later, 0)
  expect(queue.fireDue(0)).toBe(true)
  expect(fired).toEqual(['first'])
  expect(queue.fireDue(0)).toBe(true)
  expect(fired).toEqual(['first', 'again'])
  expect(queue.fireDue(0)).toBe(false)
  expect(queue.size).toBe(0)
})

test('a deadline that throws does not hold up the others, nor those set later', () => {
  const runtime = new Counting()
  const failed: unknown[] = []
  const queue: TimerQueue = new TimerQueue(
    runtime,
    () => void queue.fireDue(runtime.now()),
    (cause) => failed.push(cause),
  )
  const boom = new Error('boom')
  const fired: string[] = []
  queue.set(
    new Note(() => {
      throw boom
    }),
    1,
  )
  queue.set(new Note(() => fired.push('same time')), 1)
  queue.set(new Note(() => fired.push('later')), 2)
  runtime.clock.now = 1
  runtime.pump()
  queue.set(new Note(() => fired.push('new')), 3)
  runtime.clock.now = 3
  runtime.pump()
  expect(fired).toEqual(['same time', 'later', 'new'])
  expect(failed).toEqual([boom])
})

test('nothing fires or is armed after close', () => {
  const runtime = new Counting()
  const queue: TimerQueue = new TimerQueue(runtime, () => void queue.fireDue(runtime.now()))
  const fired: number[] = []
  const deadline = new Note(() => fired.push(1))
  queue.set(deadline, 5)
  queue.close()
  queue.cancel(deadline)
  queue.set(new Note(() => fired.push(2)), 1)
  runtime.clock.now = 10
  runtime.pump()
  expect(fired).toEqual([])
  expect(runtime.armed).toBe(0)
  expect(queue.size).toBe(0)
})

test('a delay beyond what hosts take is asked for again on the way', () => {
  const runtime = new Counting()
  const queue: TimerQueue = new TimerQueue(runtime, () => void queue.fireDue(runtime.now()))
  const fired: number[] = []
  queue.set(new Note((now) => fired.push(now)), 2 ** 31 + 1000)
  // A host that cuts the delay short calls early.
  runtime.clock.now = 2 ** 31 - 1
  queue.fireDue(runtime.now())
  expect(fired).toEqual([])
  expect(runtime.asked.at(-1)).toBe(1001)
  runtime.clock.now = 2 ** 31 + 1000
  runtime.pump()
  expect(fired).toEqual([2 ** 31 + 1000])
})

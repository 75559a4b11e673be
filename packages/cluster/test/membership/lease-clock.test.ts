// The clock of leases, on clocks that are set by hand.

import fc from 'fast-check'
import { HostRuntime } from '@troupe/core'
import { expect, test } from 'vitest'
import { LeaseClock } from '../../src/membership/lease-clock.ts'
import { hostClocks, leaseClockOf } from '../../src/node/host-clocks.ts'

/** A machine that runs, is suspended, and whose wall clock is stepped. */
class Machine {
  monotonic = 5_000
  wall = 1.7e12
  boot = 80_000
  bootReads = 0
  readonly #resolution: number
  constructor(resolution = 10) {
    this.#resolution = resolution
  }
  run(ms: number): void {
    this.monotonic += ms
    this.suspend(ms)
  }
  suspend(ms: number): void {
    this.wall += ms
    this.boot += ms
  }
  clock(hasBootClock: boolean): LeaseClock {
    return new LeaseClock({
      monotonic: () => this.monotonic,
      wall: () => this.wall,
      boot: hasBootClock
        ? () => {
            this.bootReads++
            return Math.floor(this.boot / this.#resolution) * this.#resolution
          }
        : undefined,
      bootResolutionMs: 2 * this.#resolution,
    })
  }
}

test.each([true, false])('a suspension counts in full as soon as the machine is awake; with a boot clock: %s', (hasBootClock) => {
  const machine = new Machine()
  const clock = machine.clock(hasBootClock)
  const start = clock.now()
  machine.run(1_000)
  expect(clock.now() - start).toBe(1_000)
  machine.suspend(9_000)
  expect(Math.abs(clock.now() - start - 10_000)).toBeLessThanOrEqual(10)
  machine.run(500)
  expect(Math.abs(clock.now() - start - 10_500)).toBeLessThanOrEqual(10)
})

test('a step of the wall clock changes nothing where there is a boot clock', () => {
  const machine = new Machine()
  const clock = machine.clock(true)
  const start = clock.now()
  for (const step of [3_600_000, -7_200_000, 40, -40, 1e9]) {
    machine.wall += step
    machine.run(10)
  }
  expect(clock.now() - start).toBe(50)
})

test('where there is only a wall clock a step forward counts as a suspension, and a step back changes nothing', () => {
  const machine = new Machine()
  const clock = machine.clock(false)
  const start = clock.now()
  machine.wall -= 3_600_000
  expect(clock.now() - start).toBe(0)
  machine.wall += 5_000
  expect(clock.now() - start).toBe(5_000)
  machine.run(100)
  expect(clock.now() - start).toBe(5_100)
})

test('the boot clock, which is slow to read, is read only when the wall clock moved against the monotonic one', () => {
  const machine = new Machine()
  const clock = machine.clock(true)
  const { bootReads } = machine
  for (let i = 0; i < 10_000; i++) {
    machine.run(10)
    // Slewed, as NTP does.
    machine.wall += 0.005
    clock.now()
  }
  expect(machine.bootReads - bootReads).toBeLessThanOrEqual(1)
})

test('it never goes back, and is never behind what passed by more than its tolerance, whatever is done to the wall clock', () => {
  const step = fc.record({ do: fc.constantFrom('run', 'suspend', 'wall'), ms: fc.integer({ min: -20_000, max: 20_000 }) })
  fc.assert(
    fc.property(fc.array(step), fc.constantFrom(10, 1_000), (script, resolution) => {
      const machine = new Machine(resolution)
      const clock = machine.clock(true)
      const [start, boot] = [clock.now(), machine.boot]
      let last = start
      for (const { do: what, ms } of script) {
        if (what === 'wall') machine.wall += ms
        else if (what === 'run') machine.run(Math.abs(ms))
        // A suspension that a step of the wall clock hides is seen at the next step.
        else machine.suspend(Math.abs(ms) + 100)
        const now = clock.now()
        expect(now).toBeGreaterThanOrEqual(last)
        last = now
        expect(now - start).toBeLessThanOrEqual(machine.boot - boot + resolution)
        expect(now - start).toBeGreaterThanOrEqual(machine.boot - boot - 3 * resolution - 50)
      }
    }),
  )
})

test('a system on the host counts leases by the boot clock of its machine; another runtime by its own', () => {
  const runtime = new HostRuntime()
  const { boot, bootResolutionMs, monotonic, wall } = hostClocks(runtime)
  expect(boot?.()).toBeGreaterThan(0)
  expect(bootResolutionMs).toBeLessThan(3_000)
  expect([typeof monotonic(), typeof wall()]).toEqual(['number', 'number'])
  const clock = leaseClockOf(runtime)
  const before = runtime.now()
  const now = clock()
  expect(now).toBeGreaterThanOrEqual(before)
  expect(clock()).toBeGreaterThanOrEqual(now)
  const own = Object.assign(Object.create(runtime) as HostRuntime, { now: () => 7 })
  expect(leaseClockOf(Object.assign(own, { bootNow: () => 42 }))()).toBe(42)
})

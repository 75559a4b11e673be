// The public API of @troupe/testkit, by hand.

export { Probe } from './probe.ts'
export { createTestKit, type LogLine, seeded, type TestKit } from './test-kit.ts'
export { VirtualClock } from './virtual-time.ts'

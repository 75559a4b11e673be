// What tests import as 'vitest' where vitest itself does not run: its own parts for gathering, running and expecting, which know no host,
// and of `vi` what the tests use. Fake timers are a queue of their own; nothing else is imitated.

import {
  ASYMMETRIC_MATCHERS_OBJECT,
  chai,
  GLOBAL_EXPECT,
  getState,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from '@vitest/expect'
import { restoreAllMocks, spyOn } from '@vitest/spy'
import { fakeTimers, realTimers, turnTo, turnToNext } from './fake-timers.mjs'

export { expectTypeOf } from 'expect-type'
export { afterAll, afterEach, beforeAll, beforeEach, describe, it, onTestFinished, test } from '@vitest/runner'

chai.use(JestExtend)
chai.use(JestChaiExpect)
chai.use(JestAsymmetricMatchers)

export const expect = Object.assign((value, message) => chai.expect(value, message), chai.expect)
expect.getState = () => getState(expect)
expect.setState = (state) => setState(state, expect)
Object.assign(expect, globalThis[ASYMMETRIC_MATCHERS_OBJECT])
Object.defineProperty(globalThis, GLOBAL_EXPECT, { value: expect, writable: true, configurable: true })
setState({ assertionCalls: 0, isExpectingAssertions: false, expectedAssertionsNumber: null, environment: 'runtimes', testPath: '' }, expect)

const stubbed = new Map()
export const vi = {
  spyOn,
  restoreAllMocks,
  useFakeTimers: fakeTimers,
  useRealTimers: realTimers,
  advanceTimersByTime: turnTo,
  advanceTimersToNextTimer: turnToNext,
  stubGlobal(name, value) {
    if (!stubbed.has(name)) stubbed.set(name, Object.getOwnPropertyDescriptor(globalThis, name))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: true })
  },
  unstubAllGlobals() {
    for (const [name, was] of stubbed) Object.defineProperty(globalThis, name, was)
    stubbed.clear()
  },
}

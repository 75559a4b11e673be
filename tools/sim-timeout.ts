// Runs before each test file. A simulation that the test runner ends by its timeout cannot report by itself: this prints which one it was, its
// seed and the command to run it again. The simulator keeps that text on the global object while a simulation runs.

import { afterEach } from 'vitest'

afterEach(({ task }) => {
  if (!task.result?.errors?.some(({ message }) => message.includes('timed out'))) return
  const about = (globalThis as unknown as Record<symbol, (() => string) | undefined>)[Symbol.for('troupe.simulation')]
  if (about !== undefined) process.stderr.write(`\n"${task.name}" timed out in:\n${about()}\n`)
})

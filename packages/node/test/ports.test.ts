// The same tests again where threads share no memory: what users rely on holds by ports as well.

import { afterAll, beforeAll, describe } from 'vitest'
import { stageDefaults } from './stage.ts'

// While tests are gathered, for some ask which way it is, and again while they run.
stageDefaults.sharedMemory = false
beforeAll(() => void (stageDefaults.sharedMemory = false))
afterAll(() => void (stageDefaults.sharedMemory = undefined))

describe('by ports', async () => {
  await import('./behaviours.test.ts')
  await import('./border.test.ts')
  await import('./crossing.test.ts')
  await import('./faults.test.ts')
  await import('./figures.test.ts')
  await import('./flow.test.ts')
  await import('./long-work.test.ts')
  await import('./options.test.ts')
  await import('./values.test.ts')
  await import('./chaos.test.ts')
})

import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { processData } from './process-data.ts'

const steps = [
  { name: 'download', ms: 30 },
  { name: 'images', ms: 20 },
  { name: 'database', ms: 40 },
]

test('the steps run at once and end together', async () => {
  const kit = createTestKit()
  const lines: string[] = []
  const running = processData(steps, (line) => lines.push(`${kit.clock.now}: ${line}`), kit.system.clock)
  await kit.advance(40)
  expect(await running).toEqual(['download', 'images', 'database'])
  expect(lines).toEqual(['20: images is done', '30: download is done', '40: database is done'])
  await kit.end()
})

test('the first failure cancels the others, and is told after they have ended', async () => {
  const kit = createTestKit()
  const lines: string[] = []
  const broken = steps.map(({ name, ms }) => ({ name, ms, fails: name === 'images' }))
  const running = processData(broken, (line) => lines.push(`${kit.clock.now}: ${line}`), kit.system.clock).catch((cause: unknown) => cause)
  await kit.advance(20)
  expect(await running).toMatchObject({ code: 'tasks-failed', errors: [{ message: 'images broke' }] })
  expect(lines).toEqual(['20: images failed', '20: download was cancelled', '20: database was cancelled'])
  await kit.end()
})

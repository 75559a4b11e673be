// Rare observations on diagnostics channels.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { receive } from '@troupe/core'
import { createTestKit } from '@troupe/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { type Diagnosis, publishDiagnostics } from '../../src/telemetry/diagnostics.ts'

test('a failure is published on its channel as long as that is wanted', async () => {
  await using kit = createTestKit()
  const heard: string[] = []
  const hear = (message: unknown): void => {
    const { system, observation } = message as Diagnosis
    heard.push(`${system} ${observation.type}`)
  }
  const channels = ['troupe:actor.failed', 'troupe:directive', 'troupe:actor.spawned']
  for (const name of channels) subscribe(name, hear)
  onTestFinished(() => channels.forEach((name) => unsubscribe(name, hear)))
  const stop = publishDiagnostics(kit.system)
  const ref = kit.system.spawn(
    receive<string>(() => {
      throw new Error('no')
    }),
    { name: 'a' },
  )
  ref.tell('x')
  await kit.advance(1000)
  expect(heard).toEqual(['actor.failed', 'directive'].map((type) => `${kit.system.name} ${type}`))
  stop()
  ref.tell('x')
  await kit.advance(1000)
  expect(heard).toHaveLength(2)
  expect(kit.system.metrics().subscriptions).toBe(0)
})

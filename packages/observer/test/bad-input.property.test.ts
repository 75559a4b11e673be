// Every public function of the observer, with wrong input in every place: refused with a code, or something sensible.

import { metrics, trace } from '@opentelemetry/api'
import { ActorSystem } from '@troupe/core'
import * as api from '@troupe/observer'
import * as entryOfCapsule from '@troupe/observer/capsule'
import * as entryOfOpenTelemetry from '@troupe/observer/opentelemetry'
import * as entryOfPrometheus from '@troupe/observer/prometheus'
import * as entryOfFindings from '@troupe/observer/findings'
import { Registry } from 'prom-client'
import { afterAll, describe, expect, test } from 'vitest'
import { countedInputs, type Entry, entry, holds } from '../../core/test/wrong-input.ts'

const systems: ActorSystem[] = []
const fresh = (): ActorSystem => {
  const system = ActorSystem.create('x', { logger: false, keepAlive: false })
  systems.push(system)
  return system
}
afterAll(async () => {
  for (const system of systems) await system.shutdown()
})
const call = (f: unknown): Entry['act'] => {
  return (args) => (f as (...given: readonly unknown[]) => unknown)(...args)
}

const functions: Record<string, Entry> = {
  observe: entry(call(api.observe), () => [fresh(), { socket: false, every: 1000, mute: [], page: false }]),
  observerOf: entry(call(api.observerOf), () => [fresh()]),
  journalsAway: entry(call(api.journalsAway), () => [fresh()]),
  attach: entry(
    (args) =>
      (api.attach as (...given: readonly unknown[]) => Promise<unknown>)(...args).catch((cause: { code?: unknown }) => {
        if (cause.code === undefined) throw cause
      }),
    () => [{ protocol: 1, system: 'x', id: 1, pid: 1, socket: '/nowhere/x.sock', since: '', program: '' }],
  ),
  serveGuarded: entry(
    async (args) => {
      const page = await (api.serveGuarded as (...given: readonly unknown[]) => Promise<api.Page>)(...args)
      await page.close()
    },
    () => [{ files: { '/': { type: 'text/plain', body: new Uint8Array(1) } }, questions: {}, streams: {}, failed: () => {}, token: 'x'.repeat(32) }],
  ),
  listSystems: entry(call(api.listSystems), () => ['/nowhere']),
  findings: entry(call(api.findings), () => [[], { mute: [], nameOf: String }]),
  capsuleRecorder: entry(call(api.capsuleRecorder), () => [
    { capacity: 10, redact: (value: unknown) => value, redactAt: { url: import.meta.url, name: 'redact' } },
  ]),
  readCapsule: entry(call(entryOfCapsule.readCapsule), () => ['{}']),
  checkCapsule: entry(call(entryOfCapsule.checkCapsule), () => [{ troupe: 'capsule', version: 1 }]),
  // Of what a capsule holds: whoever calls it has checked that.
  decodeValue: entry(
    () => entryOfCapsule.decodeValue([['Ref', 1], '/user/x'], String),
    () => [],
  ),
  // A plain test of plain values, which a compiler checks.
  isMuted: entry(
    () => entryOfFindings.isMuted({ id: 'x', rule: 'drops' }, new Set(['drops'])),
    () => [],
  ),
  publishDiagnostics: entry(call(api.publishDiagnostics), () => [fresh()]),
  prometheusMetrics: entry(call(entryOfPrometheus.prometheusMetrics), () => [
    api.observe(fresh(), { socket: false }),
    { register: new Registry(), timings: false },
  ]),
  openTelemetry: entry(call(entryOfOpenTelemetry.openTelemetry), () => [
    api.observe(fresh(), { socket: false }),
    { meter: metrics.getMeter('x'), tracer: trace.getTracer('x'), metrics: true, traces: false },
  ]),
  Rounds: entry(
    (args) => void new (entryOfFindings.Rounds as unknown as new (...given: readonly unknown[]) => object)(...args),
    () => [fresh()],
  ),
}

describe('whatever it is given, it is refused with a code or does something sensible:', () => {
  for (const [name, calls] of Object.entries(functions))
    test(name, async () => {
      const before = countedInputs()
      await holds(calls, { runs: 5, each: 5 })
      expect(countedInputs()).toBeGreaterThan(before)
    })
})

test('there is an entry for every export', () => {
  const names = [api, entryOfFindings, entryOfCapsule, entryOfPrometheus, entryOfOpenTelemetry]
    .flatMap((of) => Object.keys(of))
    .filter((name) => name !== 'ruleNames' && name !== 'codeUnknown')
  expect(names.filter((name) => !(name in functions))).toEqual([])
})

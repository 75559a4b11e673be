// The dashboard for Grafana: whole, with the fields that Grafana documents; its questions are PromQL, about metrics and labels that there are.

import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { createTestKit } from '@troupe/testkit'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { observe } from '../../src/attach/observe.ts'
import { prometheusMetrics } from '../../src/telemetry/prometheus.ts'

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly datasource?: { readonly type: string; readonly uid: string }
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly datasource: unknown; readonly legendFormat: string }[]
  readonly fieldConfig?: { readonly defaults: object; readonly overrides: readonly unknown[] }
  readonly options?: object
}
interface Variable {
  readonly name: string
  readonly type: string
  readonly query: unknown
  readonly definition?: string
}
interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly schemaVersion: number
  readonly version: number
  readonly tags: readonly string[]
  readonly time: { readonly from: string; readonly to: string }
  readonly templating: { readonly list: readonly Variable[] }
  readonly annotations: { readonly list: readonly unknown[] }
  readonly panels: readonly Panel[]
}

const dashboard = JSON.parse(readFileSync(new URL('../../grafana/troupe.json', import.meta.url), 'utf8')) as Dashboard
const exprs = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
const asked = [...exprs, ...dashboard.templating.list.flatMap(({ definition }) => /^label_values\((.*), \w+\)$/.exec(definition ?? '')?.[1] ?? [])]

/** What a question is when variables stand for something. */
const plain = (expr: string): string => expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$\w+/g, '.*')

/** What of an expression the grammar of PromQL does not understand. */
function mistakes(expr: string): string[] {
  const found: string[] = []
  parser.parse(expr).iterate({ enter: (node) => (node.type.isError ? void found.push(expr.slice(node.from, node.to + 10)) : undefined) })
  return found
}

test('it has a uid that stays, the variables of the design, and rows as the views of the page', () => {
  expect(dashboard).toMatchObject({ uid: 'troupe-system', title: 'Troupe', schemaVersion: 39, tags: ['troupe', 'actors'], annotations: { list: [] } })
  expect(dashboard.uid).toMatch(/^[\w-]{1,40}$/)
  expect(dashboard.time).toEqual({ from: expect.stringMatching(/^now-/), to: 'now' })
  expect(dashboard.templating.list.map(({ name, type }) => [name, type])).toEqual([
    ['datasource', 'datasource'],
    ['system', 'query'],
    ['kind', 'query'],
  ])
  const views = ['Overview', 'Actors', 'Flow', 'Traces', 'Waits', 'Failures', 'Runtime']
  const rows = dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title)
  expect(rows).toEqual(views.filter((view) => rows.includes(view)))
  expect(rows.length).toBeGreaterThanOrEqual(5)
})

test('every panel has what Grafana needs, is said in a sentence, and lies beside the others', () => {
  const taken = new Set<string>()
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  for (const { type, title, description, gridPos, datasource, targets, fieldConfig, options } of dashboard.panels) {
    const { x, y, w, h } = gridPos
    for (const part of [x, y, w, h]) expect(Number.isInteger(part)).toBe(true)
    expect(x >= 0 && w > 0 && x + w <= 24 && h > 0).toBe(true)
    for (let column = x; column < x + w; column++)
      for (let line = y; line < y + h; line++) {
        expect([title, taken.has(`${column} ${line}`)]).toEqual([title, false])
        taken.add(`${column} ${line}`)
      }
    if (type === 'row') continue
    expect(['timeseries', 'stat']).toContain(type)
    expect(description).toMatch(/\.$/)
    expect(datasource).toEqual({ type: 'prometheus', uid: '${datasource}' })
    expect(fieldConfig).toMatchObject({ defaults: { unit: expect.any(String) as string }, overrides: [] })
    expect(options).toBeTypeOf('object')
    expect(targets!.length).toBeGreaterThan(0)
    expect(new Set(targets!.map(({ refId }) => refId)).size).toBe(targets!.length)
    for (const target of targets!) expect(target).toMatchObject({ datasource, refId: expect.stringMatching(/^[A-Z]$/) as string, legendFormat: expect.any(String) as string }) // prettier-ignore
  }
})

test('every question is PromQL, rates are taken over the interval that Grafana chooses, and variables are those that there are', () => {
  expect(mistakes('sum(rate(x[1m])')).not.toEqual([])
  for (const expr of asked) expect([expr, mistakes(plain(expr))]).toEqual([expr, []])
  for (const expr of exprs) {
    for (const [, range] of expr.matchAll(/rate\([^[]*\[([^\]]*)\]/g)) expect([expr, range]).toEqual([expr, '$__rate_interval'])
    for (const [, name] of expr.matchAll(/\$(\w+)/g)) expect(['__rate_interval', 'system', 'kind']).toContain(name)
  }
})

test('every metric and label that it asks for is one that a system tells', async () => {
  await using kit = createTestKit()
  const register = new Registry()
  prometheusMetrics(observe(kit.system, { socket: false }), { register, timings: false })
  const labels = new Map<string, ReadonlySet<string>>()
  for (const metric of register.getMetricsAsArray() as unknown as readonly {
    readonly name: string
    readonly type?: string
    readonly labelNames: readonly string[]
  }[]) {
    const of = new Set(['le', ...metric.labelNames])
    for (const name of ['', '_bucket', '_sum', '_count']) labels.set(metric.name + name, of)
  }
  const used = new Set<string>()
  for (const expr of asked)
    for (const [, name, matchers = ''] of expr.matchAll(/(troupe_\w+)(?:\{([^}]*)\})?/g)) {
      expect([name, labels.has(name!)]).toEqual([name, true])
      used.add(name!.replace(/_(bucket|sum|count)$/, ''))
      for (const [, label] of matchers.matchAll(/(\w+)\s*(?:=~|!=|!~|=)/g))
        expect([name, label, labels.get(name!)!.has(label!)]).toEqual([name, label, true])
    }
  expect([...used].toSorted()).toEqual(
    register
      .getMetricsAsArray()
      .map(({ name }) => name)
      .toSorted(),
  )
})

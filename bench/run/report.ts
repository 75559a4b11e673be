// The report: what a run found, as a value; and that value as Markdown with plots. Nothing is measured here.

import { ratio, verdicts } from './budgets.ts'
import type { Machine } from './machine.ts'
import type { Entry } from './plan.ts'
import { bars, type BarGroup, lines } from './plot.ts'
import type { Results } from './rounds.ts'
import { short, times } from './statistics.ts'

export interface Percentiles {
  readonly p50: number
  readonly p99: number
  readonly p999: number
}

export interface Latency {
  readonly rate: number
  readonly probe: Percentiles
  readonly loop: Percentiles
}

export interface Growth {
  readonly what: string
  readonly figures: readonly { readonly side: string; readonly size: number; readonly ns: number }[]
}

export interface Report {
  readonly command: string
  readonly date: string
  readonly machine: Machine
  readonly rounds: number
  readonly versions: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  readonly absent: readonly string[]
  readonly benchmarks: readonly (Entry & { readonly results: Results })[]
  readonly growth: readonly Growth[]
  readonly latency: Readonly<Record<string, Latency>>
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [`| ${head.join(' | ')} |`, `|${head.map((_, i) => (i === 0 ? '---' : '---:')).join('|')}|`, ...rows.map((r) => `| ${r.join(' | ')} |`), ''].join(
    '\n',
  )

const titles: Readonly<Record<string, string>> = { idle: 'bytes per idle actor (less is better)' }
const title = (name: string): string => titles[name] ?? name

/** The plots of a report by file name. */
export function plots(report: Report): Readonly<Record<string, string>> {
  const out: Record<string, string> = {}
  const groups = (pick: (name: string) => boolean): BarGroup[] =>
    report.benchmarks
      .filter((b) => b.contested && pick(b.name))
      .map((b) => ({
        label: `${title(b.name)}${b.measure === 'rate' ? `, ${b.unit}/s` : ''}`,
        bars: Object.entries(b.results)
          .map(([side, figure]) => ({ label: report.labels[side] ?? side, value: figure.median, ours: side.startsWith('troupe') }))
          .toSorted((a, c) => (b.measure === 'rate' ? c.value - a.value : a.value - c.value)),
      }))
      .filter((g) => g.bars.length > 1)
  const note = 'Medians, logarithmic scale, one machine, one run.'
  const shown: readonly (readonly [string, string, (name: string) => boolean])[] = [
    ['messages', 'Messages', (n) => ['ping-pong', 'thread ring', 'big', 'counting', 'fork-join throughput'].includes(n)],
    ['actors', 'Making actors, and asking them', (n) => ['fork-join create', 'skynet', 'ask sequential', 'ask concurrent'].includes(n)],
    ['idle', 'Memory of an idle actor', (n) => n === 'idle'],
    ['work', 'Actors that work', (n) => ['concurrent dictionary', 'logistic map', 'N-queens'].includes(n)],
  ]
  for (const [file, heading, pick] of shown) {
    const found = groups(pick)
    if (found.length > 0) out[`${file}.svg`] = bars(heading, note, found)
  }
  for (const { what, figures } of report.growth) {
    const sides = [...new Set(figures.map((f) => f.side))]
    const drawn = sides.map((side) => ({
      label: report.labels[side] ?? side,
      points: figures.filter((f) => f.side === side).map((f) => ({ x: f.size, y: f.ns })),
    }))
    const counted = what === 'timer' ? 'timers armed at once' : 'actors'
    if (drawn.length > 0)
      out[`growth-${what}.svg`] = lines(
        `Cost per ${what} as ${what === 'timer' ? 'timers' : 'actors'} grow in number`,
        counted,
        'ns of CPU time',
        drawn,
      )
  }
  return out
}

export function markdown(report: Report): string {
  const { machine } = report
  const parts: string[] = [
    '# Benchmark report',
    '',
    `Written by \`${report.command}\` on ${report.date}: ${report.rounds} ${report.rounds === 1 ? 'round' : 'rounds'}, sides in turn, a fresh process each, medians. ` +
      `${machine.cpu}, ${machine.cores} cores, ${machine.memory}, ${machine.platform}, Node ${machine.node} (V8 ${machine.v8}). ` +
      'How to read and repeat it: [Performance](../../docs/guide/performance.md).',
    '',
    `Versions: ${Object.entries(report.versions)
      .map(([side, version]) => `${report.labels[side] ?? side} ${version}`)
      .join('; ')}.`,
    ...report.absent.map((line) => `\nLeft out: ${line}.`),
    '',
  ]
  const pictures = Object.keys(plots(report))
  const picture = (file: string): void => {
    if (pictures.includes(file)) parts.push(`![${file.replace('.svg', '')}](${file})`, '')
  }
  const judged = verdicts(report)
  if (judged.length > 0) {
    const missed = judged.filter((v) => v.kept === false).length
    parts.push(
      '## Budgets',
      '',
      `Ours against theirs: above 1 is better than they are. ${missed === 0 ? 'All budgets hold.' : `**${missed} missed**, of ${judged.filter((v) => v.kept !== undefined).length}.`}`,
      '',
    )
    parts.push(
      table(
        ['benchmark', 'against', 'budget', 'measured', ''],
        judged.map((v) => [
          title(v.benchmark),
          report.labels[v.against] ?? v.against,
          v.least === undefined ? 'report' : `≥ ${times(v.least)}`,
          times(v.ratio),
          v.kept === false ? '**missed**' : v.kept === true ? 'holds' : v.ratio >= 1 ? 'ahead' : 'behind',
        ]),
      ),
    )
  }
  parts.push('## Against the peers', '')
  for (const file of ['messages.svg', 'actors.svg', 'idle.svg', 'work.svg']) picture(file)
  for (const b of report.benchmarks.filter((e) => e.contested)) {
    parts.push(`### ${title(b.name)}`, '')
    parts.push(
      table(
        ['side', b.measure === 'rate' ? `${b.unit}/s` : b.unit, 'spread', 'Troupe is'],
        Object.entries(b.results).map(([side, figure]) => {
          const r = ratio(report, b.name, side)
          return [
            report.labels[side] ?? side,
            short(figure.median),
            `±${(figure.spread * 100).toFixed(0)} %`,
            side.startsWith('troupe') || r === undefined ? '' : times(r),
          ]
        }),
      ),
    )
  }
  parts.push('## Savina and the rest, against the raw floor', '')
  parts.push(
    table(
      ['benchmark', 'counted in', 'Troupe', 'spread', 'raw', 'spread', 'ratio'],
      report.benchmarks
        .filter((b) => b.results['troupe'] !== undefined)
        .map((b) => {
          const [mine, raw] = [b.results['troupe']!, b.results['raw']]
          const r = ratio(report, b.name, 'raw')
          const spread = (f: typeof raw): string => (f === undefined ? '' : `±${(f.spread * 100).toFixed(0)} %`)
          return [
            title(b.name),
            b.measure === 'rate' ? `${b.unit}/s` : b.unit,
            short(mine.median),
            spread(mine),
            raw === undefined ? '' : short(raw.median),
            spread(raw),
            r === undefined ? '' : r.toFixed(2),
          ]
        }),
    ),
  )
  if (report.growth.length > 0) {
    parts.push('## Growth', '', 'Nanoseconds of CPU time per operation (collector threads included); actors are visited in shuffled order.', '')
    for (const { what, figures } of report.growth) {
      picture(`growth-${what}.svg`)
      const sizes = [...new Set(figures.map((f) => f.size))]
      const rows: string[][] = []
      for (const side of new Set(figures.map((f) => f.side))) {
        const points = sizes.map((size) => figures.find((f) => f.side === side && f.size === size)?.ns)
        const [first, last] = [points[0], points.at(-1)]
        const grown = first === undefined || last === undefined ? '' : times(last / first)
        rows.push([report.labels[side] ?? side, ...points.map((p) => (p === undefined ? '' : short(p))), grown])
      }
      parts.push(table([`ns per ${what} at`, ...sizes.map((s) => short(s).replace('.00', '').replace('.0', '')), 'growth'], rows))
    }
  }
  const loaded = Object.entries(report.latency)
  if (loaded.length > 0) {
    parts.push(
      '## Latency under load',
      '',
      'A thousand actors, each always with a message for itself; the host tells a probe every 2 ms. Milliseconds; the loop’s delay includes its 1 ms of resolution.',
      '',
    )
    parts.push(
      table(
        ['side', 'messages/s meanwhile', 'probe p50', 'p99', 'p99.9', 'loop delay p50', 'p99', 'p99.9'],
        loaded.map(([side, { rate, probe, loop }]) =>
          [report.labels[side] ?? side, short(rate)].concat(
            [probe.p50, probe.p99, probe.p999, loop.p50, loop.p99, loop.p999].map((v) => v.toFixed(2)),
          ),
        ),
      ),
    )
  }
  return parts.join('\n')
}

// `npm run bench:flame -- "fork-join create" [troupe | raw]`: where the time of one benchmark goes, as a flame graph in
// bench/report/flame-<benchmark>.svg. Width is CPU time, one row per call; the collector is a column of its own.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine, oneOf, required } from '@troupe/testkit/internal'
import { plan } from './plan.ts'

interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  readonly children?: readonly number[]
}
interface Profile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** A call and what it called, merged over all occurrences. */
interface Frame {
  readonly name: string
  readonly where: string
  time: number
  readonly calls: Map<string, Frame>
}

const frame = (name: string, where: string): Frame => ({ name, where, time: 0, calls: new Map() })

/** Turns samples into one tree; what belongs to Node itself keeps its name but not its line. */
function treeOf(profile: Profile): Frame {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const parents = new Map(profile.nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)))
  const root = frame('all', '')
  profile.samples.forEach((sample, i) => {
    const stack: ProfileNode[] = []
    for (let node = nodes.get(sample); node !== undefined && node.callFrame.functionName !== '(root)'; node = parents.get(node.id)) stack.push(node)
    if (stack.length === 0 || stack[0]!.callFrame.functionName === '(idle)') return
    const collecting = stack[0]!.callFrame.functionName === '(garbage collector)'
    let at = root
    at.time += profile.timeDeltas[i]!
    for (const { callFrame } of collecting ? stack.slice(0, 1) : stack.toReversed()) {
      const file = callFrame.url.split('/').at(-1) ?? ''
      const name = callFrame.functionName === '' ? '(anonymous)' : callFrame.functionName
      const key = `${name} ${file}`
      const next = at.calls.get(key) ?? frame(name, file)
      at.calls.set(key, next)
      next.time += profile.timeDeltas[i]!
      at = next
    }
  })
  return root
}

const width = 1200
const row = 18
const least = 0.002

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** Warm colours for actors, grey for what is not ours to change. */
function colour({ name, where }: Frame): string {
  if (name === '(garbage collector)') return '#b9b9c6'
  if (where === '' || name.startsWith('(')) return '#d8d8d8'
  if (/^(one|micro|stage|loads|numerics|pipelines|search|sharing|coordination)\.js$/.test(where)) return '#9fc5e8'
  let hash = 7
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) >>> 0
  return `hsl(${20 + (hash % 30)} 85% ${62 + (hash % 12)}%)`
}

export function flameGraph(title: string, root: Frame): string {
  const parts: string[] = []
  let deepest = 0
  const draw = (at: Frame, x: number, depth: number): void => {
    const share = at.time / root.time
    if (share < least) return
    deepest = Math.max(deepest, depth)
    const w = share * width
    const percent = `${(share * 100).toFixed(1)} %`
    const label = `${at.name}${w > 160 ? ` ${percent}` : ''}`
    const fits = Math.floor((w - 6) / 6.4)
    parts.push(
      `<g><title>${escaped(`${at.name} ${at.where} ${percent}`)}</title><rect x="${x.toFixed(1)}" y="${34 + depth * row}" width="${Math.max(0.5, w - 0.5).toFixed(1)}" height="${row - 1}" fill="${colour(at)}"/>` +
        (fits >= 4 ? `<text x="${(x + 3).toFixed(1)}" y="${34 + depth * row + 12}">${escaped(label.slice(0, fits))}</text>` : '') +
        '</g>',
    )
    let left = x
    for (const call of [...at.calls.values()].toSorted((a, b) => b.time - a.time)) {
      draw(call, left, depth + 1)
      left += (call.time / root.time) * width
    }
  }
  draw(root, 0, 0)
  const height = 34 + (deepest + 1) * row + 6
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, monospace" font-size="11"><rect width="100%" height="100%" fill="#fff"/><text x="6" y="20" font-size="14">${escaped(title)}</text>${parts.join('')}</svg>\n`
}

const profiled = plan.filter((e) => e.measure === 'rate').map((e) => e.name)
const { benchmark: name, side } = commandLine({
  name: 'npm run bench:flame',
  about: 'Where the CPU time of one benchmark goes, as a flame graph in bench/report/flame-<benchmark>.svg.',
  words: {
    benchmark: required(oneOf('benchmark', profiled, 'which one; its name in quotes where it has several words', undefined)),
    side: oneOf('side', ['troupe', 'raw'], 'of whom: Troupe, or the raw floor', 'troupe'),
  },
})
const folder = mkdtempSync(join(tmpdir(), 'troupe-flame-'))
try {
  const one = fileURLToPath(new URL('one.js', import.meta.url))
  const flags = ['--cpu-prof', '--cpu-prof-interval', '200', '--cpu-prof-dir', folder]
  execFileSync(process.execPath, [...flags, one, side, name, '500', '4000'], { stdio: ['ignore', 'ignore', 'inherit'] })
  const file = readdirSync(folder).find((f) => f.endsWith('.cpuprofile'))
  if (file === undefined) throw new Error('Node wrote no profile')
  const tree = treeOf(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile)
  const report = fileURLToPath(new URL('../../report/', import.meta.url))
  mkdirSync(report, { recursive: true })
  const target = `flame-${name.replaceAll(/\W+/g, '-')}${side === 'raw' ? '-raw' : ''}.svg`
  writeFileSync(report + target, flameGraph(`${name}, ${side}, Node ${process.version}: share of CPU time`, tree))
  console.log(`bench/report/${target}`)
} finally {
  rmSync(folder, { recursive: true })
}

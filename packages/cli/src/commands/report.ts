// Everything that a look at a system shows, as one file: to be kept with an incident, or sent to somebody. It has names, types and numbers; no message.

import { existsSync, writeFileSync } from 'node:fs'
import type { Attached, Hello, TreeNode, Watched } from '@troupe/observer'
import { Exit, exitCodes } from '../exit.ts'
import { count, duration, type Screen } from '../style.ts'

export interface ReportOptions {
  readonly json: boolean
  readonly to: string | undefined
  /** Milliseconds to look for. */
  readonly for: number
}

interface Seen {
  readonly made: string
  readonly system: string
  readonly pid: number
  readonly program: string
  readonly hello: Hello
  readonly watched: Watched
  readonly tree: TreeNode | null
  readonly waits: readonly object[]
  readonly dead: object
  readonly failures: { readonly count: number; readonly failures: readonly object[] }
}

export async function report(attached: Attached, screen: Screen, options: ReportOptions): Promise<void> {
  const { system, pid, program } = attached.descriptor
  const made = new Date().toISOString()
  const type = options.json ? 'json' : 'html'
  const file = options.to ?? `${system.replaceAll(/[^\w.-]+/g, '-')}-${made.replaceAll(/[:.]/g, '-')}.${type}`
  if (existsSync(file)) throw new Exit(exitCodes.usage, `${file} is there already; name another by --to.`)
  let watched: Watched | undefined
  let began: number | undefined
  for await (const told of attached.watch({ rows: 200 })) {
    watched = told
    began ??= told.at
    if (told.at - began >= options.for) break
  }
  const [hello, tree, waits, dead, failures] = await Promise.all([
    attached.ask('hello'),
    attached.ask('tree', { depth: 6, most: 50 }),
    attached.ask('waits'),
    attached.ask('dead', { limit: 200 }),
    attached.ask('failures', { limit: 200 }),
  ])
  attached.close()
  const seen: Seen = { made, system, pid, program, hello, watched: watched!, tree, waits, dead, failures }
  writeFileSync(file, options.json ? `${JSON.stringify(seen, undefined, 1)}\n` : htmlOf(seen), { flag: 'wx', mode: 0o600 })
  screen.write(`${file}\n`)
}

/** Whatever a name or an error says, it is text. */
function text(value: unknown): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replaceAll(/[&<>"']/g, (letter) => entities[letter]!)
}

function tableOf(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  if (rows.length === 0) return '<p>none</p>'
  const cells = (row: readonly unknown[]): string => row.map((cell) => `<td>${text(cell ?? '')}</td>`).join('')
  return `<table><tr>${head.map((title) => `<th scope="col">${text(title)}</th>`).join('')}</tr>${rows.map((row) => `<tr>${cells(row)}</tr>`).join('')}</table>`
}

/** Of objects alike: their fields as columns. */
function listOf(rows: readonly object[]): string {
  const head = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  return tableOf(
    head,
    rows.map((row) => head.map((key) => (row as Record<string, unknown>)[key])),
  )
}

function treeLines({ name, phase, queued, restarts, children, folded }: TreeNode, indent = ''): string[] {
  const facts = [phase === 'running' ? '' : phase, queued > 0 ? `${count(queued)} queued` : '', restarts > 0 ? `${restarts} restarts` : '']
  return [
    `${indent}${name}  ${facts.filter((fact) => fact !== '').join(', ')}`.trimEnd(),
    ...children.flatMap((child) => treeLines(child, `${indent}  `)),
    ...(folded === undefined ? [] : [`${indent}  … ${count(folded.actors)} more, ${count(folded.queued)} queued`]),
  ]
}

function htmlOf({ made, system, pid, program, hello, watched, tree, waits, dead, failures }: Seen): string {
  const { findings, rows, metrics } = watched
  const { letters } = dead as { readonly letters: readonly object[] }
  const list =
    findings.length === 0
      ? '<p>✓ nothing needs you</p>'
      : `<ul>${findings.map((f) => `<li class="${f.severity === 'error' ? 'bad' : 'odd'}"><b>${text(f.title)}</b> ${text(f.subject)}: ${text(f.sentence)}</li>`).join('')}</ul>`
  const section = (title: string, body: string): string => `<section><h2>${text(title)}</h2>${body}</section>`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${text(system)}, ${text(made)}</title>
<style>:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;display:block;overflow-x:auto}td,th{padding:.15rem .7rem .15rem 0;text-align:left;border-bottom:1px solid #8884;font-variant-numeric:tabular-nums}li.bad::marker{content:"■ ";color:#c22}li.odd::marker{content:"▲ ";color:#a60}pre{overflow-x:auto}</style></head>
<body><h1>${text(system)}</h1><p>process ${pid}, ${text(program)}, up for ${text(duration(hello.at))}; ${text(made)}</p>
<p>${text(count(watched.actors))} actors · ${text(count(watched.messagesPerSecond))} messages/s · ${text(count(watched.queued))} queued · ${text(count(metrics.supervision.restarts))} restarts · ${text(count(metrics.messages.deadLettered))} dead letters</p>
${section('What needs attention', list)}
${section(
  'Actors, those in most trouble first',
  tableOf(
    ['actor', 'kind', 'phase', 'queued', 'msg/s', 'cpu ms/s', 'pending ms', 'restarts'],
    rows.map((r) => [r.path, r.kind, r.phase, r.queued, Math.round(r.rate), r.busy.toFixed(1), r.pending?.toFixed(0), r.restarts]),
  ),
)}
${section('Tree', `<pre>${text(tree === null ? '' : treeLines(tree).join('\n'))}</pre>`)}
${section('Failures', listOf(failures.failures))}
${section('Who waits for whom', listOf(waits))}
${section('Dead letters', listOf(letters))}
</body></html>
`
}

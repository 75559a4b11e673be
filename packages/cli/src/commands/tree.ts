// The tree of actors, the first of many siblings by trouble, the others folded.

import type { Attached, TreeNode } from '@troupe/observer'
import { noActor } from '../meant.ts'
import { brief, cleaned, count, duration, jsonLine, type Screen, Style } from '../style.ts'

export interface TreeOptions {
  readonly json: boolean
  readonly depth: number
  readonly most: number
}

export async function tree(attached: Attached, screen: Screen, path: string, { json, depth, most }: TreeOptions): Promise<void> {
  const root = (await attached.ask('tree', { path, depth, most })) ?? (await noActor(attached, path))
  attached.close()
  if (json) return screen.write(jsonLine(root))
  const style = new Style(screen.colours)
  const shown = cleaned(root)
  screen.write(`${[lineOf(shown, '', style), ...below(shown, '', style)].join('\n')}\n`)
}

function below({ children, folded }: TreeNode, indent: string, style: Style): string[] {
  return [
    ...children.flatMap((child, i) => {
      const isLast = i === children.length - 1 && folded === undefined
      return [lineOf(child, style.dim(`${indent}${isLast ? '└─ ' : '├─ '}`), style), ...below(child, `${indent}${isLast ? '   ' : '│  '}`, style)]
    }),
    ...(folded === undefined
      ? []
      : [style.dim(`${indent}└─ … ${count(folded.actors)} more, ${count(folded.queued)} queued, ${count(folded.restarts)} restarts`)]),
  ]
}

function lineOf({ name, label, phase, queued, stashed, restarts, pending, thread }: TreeNode, lead: string, style: Style): string {
  const facts = [
    label === undefined ? '' : style.dim(brief(label)),
    phase === 'running' ? '' : style.red(phase),
    queued > 0 ? (queued > 100 ? style.yellow(`${count(queued)} queued`) : `${count(queued)} queued`) : '',
    stashed > 0 ? `${count(stashed)} stashed` : '',
    restarts > 0 ? `${restarts} ${restarts === 1 ? 'restart' : 'restarts'}` : '',
    pending === undefined ? '' : style.yellow(`${brief(pending.what)} pending for ${duration(pending.ms)}`),
    thread === undefined ? '' : style.dim(`thread ${thread}`),
  ].filter((fact) => fact !== '')
  return `${lead}${name}${facts.length === 0 ? '' : `  ${facts.join(', ')}`}`
}

// What needs attention, in sentences, the worst first. Looks for a few seconds: a mailbox that grows takes time to be seen.

import type { Attached, Finding, Watched } from '@troupe/observer'
import { exitCodes } from '../exit.ts'
import { brief, clean, counted, cut, jsonLine, padEnd, type Screen, Style } from '../style.ts'

export interface DoctorOptions {
  readonly json: boolean
  /** Milliseconds to look for. */
  readonly for: number
}

/** The exit code: 1 where there is something that will not get better by itself. */
export async function doctor(attached: Attached, screen: Screen, options: DoctorOptions): Promise<number> {
  const style = new Style(screen.colours)
  let last: Watched | undefined
  let began: number | undefined
  for await (const told of attached.watch()) {
    last = told
    began ??= told.at
    const left = options.for - (told.at - began)
    if (screen.isTTY && !options.json) screen.write(`\r${style.dim(`looking, ${Math.max(0, Math.ceil(left / 1000))} s to go…`)}\u001B[K`)
    if (left <= 0) break
  }
  if (screen.isTTY && !options.json) screen.write('\r\u001B[K')
  const findings = last?.findings ?? []
  const serious = findings.some((finding) => finding.severity === 'error')
  if (options.json) screen.write(jsonLine({ system: attached.descriptor.system, pid: attached.descriptor.pid, findings }))
  else screen.write(`${reportOf(findings, last, screen, style).join('\n')}\n`)
  return serious ? exitCodes.found : exitCodes.fine
}

export function reportOf(findings: readonly Finding[], last: Watched | undefined, screen: Screen, style: Style): string[] {
  const lines = findings.flatMap((finding) => linesOf(finding, screen, style))
  if (last !== undefined && last.lost > 0) lines.push(style.yellow(`${counted(last.lost, 'observation')} lost: there may be more`))
  for (const thread of last?.silent ?? []) lines.push(style.yellow(`thread ${thread} does not answer: nothing is known of its actors`))
  if (lines.length === 0)
    lines.push(
      `${style.green('✓')} nothing needs you: ${counted(last?.actors ?? 0, 'actor')}, ${counted(last?.metrics.messages.handled ?? 0, 'message')} handled`,
    )
  return lines
}

function linesOf({ severity, title, subject, sentence, docs }: Finding, screen: Screen, style: Style): string[] {
  const mark = severity === 'error' ? style.red('■') : style.yellow('▲')
  const head = `${mark} ${style.bold(padEnd(title, 22))} `
  // Piped it is one line each, for grep; on a terminal what does not fit comes below, indented.
  if (!screen.isTTY) return [`${head}${brief(subject)}: ${brief(sentence, 1000)}`]
  const room = Math.max(40, screen.columns - 2)
  const below = wrap(brief(sentence, 1000), room - 2).map((line) => `  ${line}`)
  return [`${head}${style.cyan(cut(clean(subject), Math.max(20, room - 25)))}`, ...below, `  ${style.dim(docs)}`]
}

/** Into lines of a width, at spaces. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && Array.from(line).length + 1 + Array.from(word).length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return line === '' ? lines : [...lines, line]
}

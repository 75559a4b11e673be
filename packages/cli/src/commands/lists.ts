// What is a list: who waits for whom, dead letters, and events as they come.

import type { Attached, SeenEvent } from '@troupe/observer'
import { brief, clean, cleaned, count, duration, jsonLine, type Screen, Style, table } from '../style.ts'

export async function waits(attached: Attached, screen: Screen, { json }: { readonly json: boolean }): Promise<void> {
  const all = await attached.ask('waits')
  attached.close()
  if (json) return screen.write(jsonLine(all))
  if (all.length === 0) return screen.write('Nobody waits for an answer.\n')
  const style = new Style(screen.colours)
  const rows = cleaned(all)
    .toSorted((a, b) => b.ms - a.ms)
    .map(({ askerPath, targetPath, type, ms, left, state, binds }) => [
      askerPath ?? 'outside',
      targetPath,
      type ?? '',
      duration(ms),
      left === Infinity || left === null ? '' : duration(Math.max(0, left)),
      state,
      binds ? style.yellow('stands still') : '',
    ])
  screen.write(`${table(['asker', 'target', 'question', 'for', 'left', 'where', 'asker'], rows, new Set([3, 4]), style).join('\n')}\n`)
}

export async function dead(attached: Attached, screen: Screen, { json, limit }: { readonly json: boolean; readonly limit: number }): Promise<void> {
  const { at } = await attached.ask('hello')
  const found = await attached.ask('dead', { limit })
  attached.close()
  if (json) return screen.write(jsonLine(found))
  if (found.count === 0) return screen.write('There are no dead letters.\n')
  const style = new Style(screen.colours)
  const rows = cleaned(found.letters).map((letter) => [
    `${duration(Math.max(0, at - letter.at))} ago`,
    letter.message,
    letter.sender ?? 'unsaid',
    letter.recipient ?? 'nobody',
    letter.reason,
  ])
  screen.write(`${table(['when', 'message', 'from', 'to', 'reason'], rows, new Set([0]), style).join('\n')}\n`)
  if (found.count > found.letters.length) screen.write(`${style.dim(`${count(found.count)} in all; these are the last`)}\n`)
}

/** As they are observed, until the command is ended, or so many have come. */
export async function events(
  attached: Attached,
  screen: Screen,
  { json, count: most }: { readonly json: boolean; readonly count: number | undefined },
): Promise<void> {
  const style = new Style(screen.colours)
  let left = most ?? Infinity
  for await (const told of attached.watch()) {
    if (told.lost > 0 && !json) screen.write(`${style.yellow(`${told.lost} events were lost`)}\n`)
    for (const event of told.events) {
      screen.write(json ? jsonLine(event) : `${eventLine(event, style)}\n`)
      if (--left <= 0) {
        attached.close()
        return
      }
    }
  }
}

const grave = new Set(['actor.failed', 'deadlock', 'thread.lost'])
const notable = new Set(['message.dead', 'ask.timeout', 'stash.overflow', 'turn.slow', 'mailbox.pressure', 'directive', 'events.backpressured'])

function eventLine({ at, type, path, text }: SeenEvent, style: Style): string {
  const name = grave.has(type) ? style.red(type) : notable.has(type) ? style.yellow(type) : style.dim(type)
  return `${style.dim(`${(at / 1000).toFixed(3)} s`)}  ${name}  ${path === undefined ? '' : `${style.cyan(clean(path))}  `}${brief(text, 300)}`
}

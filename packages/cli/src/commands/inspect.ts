// All that is known of one actor.

import type { Attached } from '@troupe/observer'
import { noActor } from '../meant.ts'
import { brief, cleaned, count, counted, duration, jsonLine, padEnd, type Screen, Style } from '../style.ts'

export async function inspect(attached: Attached, screen: Screen, path: string, { json }: { readonly json: boolean }): Promise<void> {
  const found = (await attached.ask('inspect', { path })) ?? (await noActor(attached, path))
  attached.close()
  if (json) return screen.write(jsonLine(found))
  const actor = cleaned(found)
  const style = new Style(screen.colours)
  const moreTimers = (actor.timers ?? 0) - actor.timersSet.length
  const facts: (readonly [string, string] | undefined)[] = [
    ['kind', brief(actor.kind)],
    actor.label === undefined ? undefined : ['label', brief(actor.label)],
    ['phase', actor.phase === 'running' ? style.green(actor.phase) : style.red(actor.phase)],
    actor.waiting === undefined
      ? undefined
      : [
          '',
          `${brief(actor.waiting.reason)} for ${duration(actor.waiting.ms)}${actor.waiting.cause === undefined ? '' : `: ${brief(actor.waiting.cause)}`}`,
        ],
    ['restarts', String(actor.incarnation)],
    [
      'mailbox',
      `${brief(actor.mailbox.kind)}${actor.mailbox.capacity === undefined ? '' : ` of ${actor.mailbox.capacity}`}, ${count(actor.queued)} queued`,
    ],
    actor.stashed > 0 ? ['stash', counted(actor.stashed, 'message')] : undefined,
    actor.pending === undefined ? undefined : ['pending', style.yellow(`${brief(actor.pending.what)} for ${duration(actor.pending.ms)}`)],
    ['dispatcher', `${brief(actor.dispatcher)}${actor.thread === undefined ? '' : `, thread ${actor.thread}`}`],
    actor.watchers === undefined ? undefined : ['watchers', String(actor.watchers)],
    ['children', count(actor.childCount)],
    ...actor.timersSet.map(({ key, due, every, type }): readonly [string, string] => [
      'timer',
      `${brief(key)}, ${brief(type)}, ${due === 0 ? 'due' : `in ${duration(due)}`}${every === undefined ? ', once' : `, every ${duration(every)}`}`,
    ]),
    moreTimers > 0 ? ['', `and ${count(moreTimers)} more timers`] : undefined,
    ...actor.waits.map((wait): readonly [string, string] =>
      wait.asker === actor.uid
        ? ['asks', `${wait.targetPath} ${brief(wait.type ?? '')} since ${duration(wait.ms)}, ${wait.state}`]
        : ['asked by', `${wait.askerPath ?? 'outside'} ${brief(wait.type ?? '')} since ${duration(wait.ms)}, ${wait.state}`],
    ),
  ]
  const lines = facts.filter((fact) => fact !== undefined).map(([name, value]) => `  ${style.dim(padEnd(name, 12))}${value}`)
  screen.write(`${[`${style.bold(actor.path)} ${style.dim(`#${actor.uid}`)}`, ...lines].join('\n')}\n`)
}

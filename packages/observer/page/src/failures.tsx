// What failed, how often, why, and what was decided. On a line of time, grouped by cause, and with what happened before.

import { effect, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { SeenEvent } from '../../src/findings/frame.ts'
import { sortOf } from '../../src/findings/words.ts'
import type { LettersNews } from '../../src/server/desk.ts'
import { ask } from './connection.ts'
import { hello, linkTo, moments, past, paused } from './store.ts'
import { useWidth } from './width.ts'
import { duration, exact, plural, timeOfDay } from './words.ts'

const letters = signal<LettersNews | undefined>(undefined)
const chosen = signal<string | undefined>(undefined)

interface Lane {
  readonly title: string
  readonly sign: string
  readonly tone: string
  readonly types: readonly string[]
}
const lanes: readonly Lane[] = [
  { title: 'failed', sign: '◆', tone: 'red', types: ['actor.failed', 'thread.lost'] },
  { title: 'held the loop', sign: '●', tone: 'amber', types: ['turn.slow'] },
  { title: 'dead letters, timeouts', sign: '▲', tone: 'blue', types: ['message.dead', 'ask.timeout', 'message.unhandled', 'stash.overflow'] },
]
const clock = (at: number): string => timeOfDay((hello.value?.clockZero ?? 0) + at)

export function Failures() {
  useEffect(
    () =>
      effect(() => {
        void (paused.value ? undefined : moments.value)
        void ask<LettersNews>('letters').then((answer) => answer !== undefined && (letters.value = answer))
      }),
    [],
  )
  const events = past.value.flatMap(({ round }) => round.events)
  return (
    <>
      <Timeline events={events} />
      <div class="cols even">
        <ByCause events={events} />
        <Before events={events} />
      </div>
      <DeadLetters />
    </>
  )
}

/** What falls on one spot of the line is one mark, which tells of the worst of it. */
function gathered(
  events: readonly SeenEvent[],
  from: number,
  to: number,
): { readonly event: SeenEvent; readonly times: number; readonly longest: number }[] {
  const spots = new Map<number, { event: SeenEvent; times: number; longest: number }>()
  for (const event of events) {
    const spot = Math.floor(((event.at - from) / (to - from)) * marksMost)
    const known = spots.get(spot)
    if (known === undefined) spots.set(spot, { event, times: 1, longest: event.ms ?? 0 })
    else {
      known.times++
      if ((event.ms ?? 0) > known.longest) Object.assign(known, { event, longest: event.ms })
    }
  }
  return [...spots.values()]
}
const marksMost = 90

function Timeline({ events }: { readonly events: readonly SeenEvent[] }) {
  const all = past.value
  const to = all.at(-1)?.round.at ?? 1
  const from = Math.min(all[0]?.round.at ?? 0, to - 30_000)
  const frame = useRef<HTMLDivElement>(null)
  const width = useWidth(frame)
  // On a phone what a line is stands above it.
  const narrow = width < 560
  const left = narrow ? 4 : 175
  const right = width - 20
  const x = (at: number): number => left + ((at - from) / (to - from)) * (right - left)
  const some = lanes.some(({ types }) => events.some(({ type }) => types.includes(type)))
  return (
    <section class="card">
      <h2>
        The last {duration(to - from)} <small>each mark is what happened within a moment; larger: more of it, or it took longer</small>
      </h2>
      <div ref={frame}>
        <svg
          class="picture"
          width={width}
          height={narrow ? 168 : 140}
          viewBox={`0 0 ${width} ${narrow ? 168 : 140}`}
          role="img"
          aria-label={`${events.length} events in the last ${duration(to - from)}`}
        >
          {lanes.map(({ title, sign, tone, types }, lane) => {
            const y = narrow ? 38 + lane * 48 : 30 + lane * 38
            const own = gathered(
              events.filter(({ type }) => types.includes(type)),
              from,
              to,
            )
            return (
              <g key={title}>
                <text x="0" y={narrow ? y - 18 : y + 4}>
                  <tspan fill={`var(--${tone})`}>{sign}</tspan> {title}
                </text>
                <line x1={left} x2={right} y1={y} y2={y} stroke="var(--line)" />
                {own.map(({ event, times, longest }, i) => (
                  <circle
                    key={i}
                    cx={x(event.at)}
                    cy={y}
                    r={Math.min(14, 3.5 + Math.sqrt(longest) * 0.5 + Math.log2(times))}
                    fill={`var(--${tone})`}
                    opacity="0.55"
                  >
                    <title>{`${clock(event.at)} ${event.path ?? ''} ${event.text}${times > 1 ? `, and ${times - 1} more` : ''}`}</title>
                  </circle>
                ))}
              </g>
            )
          })}
          <text x={left} y={narrow ? 164 : 136} class="dim">
            {clock(from)}
          </text>
          <text x={right} y={narrow ? 164 : 136} class="dim" text-anchor="end">
            {clock(to)}
          </text>
        </svg>
      </div>
      {!some && <p class="dim">Nothing failed while you look. What failed before is below, as far as the system still knows it.</p>}
    </section>
  )
}

interface Group {
  readonly cause: string
  readonly times: number
  readonly actors: number
  readonly last: number
  readonly decisions: string
  readonly example: string
}

/** Failures that the system remembers, also those from before this page was opened. */
function groups(): Group[] {
  const found = new Map<string, { times: number; actors: Set<string>; last: number; decisions: Set<string>; example: string; cause: string }>()
  for (const { cause, actor, at, directive } of letters.value?.failures ?? []) {
    const key = sortOf(cause)
    let group = found.get(key)
    if (group === undefined) found.set(key, (group = { times: 0, actors: new Set(), last: 0, decisions: new Set(), example: actor, cause }))
    group.times++
    group.actors.add(actor)
    group.decisions.add(directive ?? 'undecided')
    if (at >= group.last) Object.assign(group, { last: at, example: actor, cause })
  }
  return [...found.values()]
    .map(({ cause, times, last, example, actors, decisions }) => ({
      cause,
      times,
      last,
      example,
      actors: actors.size,
      decisions: [...decisions].join(', '),
    }))
    .sort((a, b) => b.times - a.times)
}

function ByCause({ events }: { readonly events: readonly SeenEvent[] }) {
  const all = groups()
  return (
    <section class="card">
      <h2>
        By cause <small>of the last failures that the system keeps; numbers in causes are starred to put them together</small>
      </h2>
      {all.length === 0 ? (
        <p class="empty">
          <b>No failures</b>Since the system began none of its actors has failed.
        </p>
      ) : (
        <div class="scroll">
          <table class="roomy">
            <thead>
              <tr>
                <th>cause</th>
                <th class="num">times</th>
                <th class="num">actors</th>
                <th>decided</th>
                <th>last</th>
              </tr>
            </thead>
            <tbody>
              {all.slice(0, 50).map((group) => (
                <tr key={group.cause} class={`pick ${chosen.value === group.example ? 'on' : ''}`} onClick={() => (chosen.value = group.example)}>
                  <td>
                    <button type="button" class="quiet red" onClick={() => (chosen.value = group.example)}>
                      {group.cause}
                    </button>
                  </td>
                  <td class="num">{exact(group.times)}</td>
                  <td class="num">{exact(group.actors)}</td>
                  <td>{lastDecision(events, group.example) ?? group.decisions}</td>
                  <td class="dim when">{clock(group.last)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

function lastDecision(events: readonly SeenEvent[], path: string): string | undefined {
  return events.findLast((event) => event.type === 'directive' && event.path === path)?.text
}

function Before({ events }: { readonly events: readonly SeenEvent[] }) {
  const path = chosen.value ?? groups()[0]?.example
  const own = events.filter((event) => event.path === path)
  const failed = own.findLast(({ type }) => type === 'actor.failed')
  const around = failed === undefined ? own.slice(-25) : own.filter(({ at }) => Math.abs(at - failed.at) < 60_000).slice(-25)
  const uid = own.at(-1)?.uid
  return (
    <section class="card">
      <h2>What happened before and after {path === undefined ? '' : <span class="mono">{path}</span>}</h2>
      {around.length === 0 ? (
        <p class="empty">{path === undefined ? 'Choose a cause.' : 'It happened before this page was opened; nothing more is known of it here.'}</p>
      ) : (
        <ol class="log" tabIndex={0}>
          {around.map((event, i) => (
            <li key={i}>
              <span class="dim num">
                {failed === undefined ? clock(event.at) : `${event.at >= failed.at ? '+' : '−'}${exact(Math.abs(event.at - failed.at))} ms`}
              </span>
              <span class={event.type === 'actor.failed' ? 'red' : ''}>{event.text}</span>
            </li>
          ))}
        </ol>
      )}
      {uid !== undefined && (
        <p>
          <a class="button" href={linkTo('actors', uid)}>
            Look at it →
          </a>
        </p>
      )}
    </section>
  )
}

function DeadLetters() {
  const byWay = new Map<string, { message: string; sender: string; recipient: string; reason: string; times: number; last: number }>()
  for (const { message, sender = 'outside', recipient = 'nobody', reason, at } of letters.value?.letters ?? []) {
    const key = JSON.stringify([message, sender, recipient, reason])
    const known = byWay.get(key)
    if (known === undefined) byWay.set(key, { message, sender, recipient, reason, times: 1, last: at })
    else {
      known.times++
      known.last = at
    }
  }
  const rows = [...byWay.values()].sort((a, b) => b.times - a.times)
  return (
    <section class="card">
      <h2>
        Dead letters{' '}
        {rows.length > 0 && <small>{plural(letters.value?.letters.length ?? 0, 'letter')} that the system keeps, by way and reason</small>}
      </h2>
      {rows.length === 0 ? (
        <p class="empty">Every message has reached somebody.</p>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>from</th>
                <th>to</th>
                <th>message</th>
                <th>reason</th>
                <th class="num">times</th>
                <th>last</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, 50).map((row) => (
                <tr key={`${row.sender} ${row.recipient} ${row.message} ${row.reason}`}>
                  <td class="mono">{row.sender}</td>
                  <td class="mono">{row.recipient}</td>
                  <td>{row.message}</td>
                  <td>{row.reason}</td>
                  <td class="num">{exact(row.times)}</td>
                  <td class="dim when">{clock(row.last)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

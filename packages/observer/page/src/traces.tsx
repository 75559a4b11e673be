// Where did the time go? Messages that were followed to their end, with all that came of them, hop by hop.

import { effect, signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { TraceNews } from '../../src/server/desk.ts'
import { ask } from './connection.ts'
import { type Opened, openedFrom } from './opened.ts'
import { moments, paused } from './store.ts'
import { ms, plural } from './words.ts'

const traces = signal<readonly TraceNews[]>([])
const chosen = signal<number | undefined>(undefined)
const waiting = signal<string | undefined>(undefined)
const opened = signal<Opened | undefined>(undefined)
const refused = signal('')
const spansShown = 40

async function openFile(file: File): Promise<void> {
  const found = openedFrom(await file.text())
  refused.value = found === undefined ? `${file.name} is neither a capsule, nor what troupe trace --json or troupe sim --save writes.` : ''
  if (found !== undefined) opened.value = found
}

const endOf = (trace: TraceNews): number => Math.max(trace.at, ...trace.spans.map(({ doneAt, takenAt, sentAt }) => doneAt ?? takenAt ?? sentAt))
const lengthOf = (trace: TraceNews): number => endOf(trace) - trace.at

function choose(id: number): void {
  opened.value = undefined
  chosen.value = id
}

export function Traces() {
  useEffect(
    () =>
      effect(() => {
        void (paused.value ? undefined : moments.value)
        void ask<readonly TraceNews[]>('traces').then((answer) => answer !== undefined && (traces.value = answer))
      }),
    [],
  )
  const order = traces.value.toSorted((a, b) => lengthOf(b) - lengthOf(a))
  const trace = opened.value?.trace ?? order.find(({ id }) => id === chosen.value) ?? order[0]
  return (
    <div class="cols traces">
      <section class="card">
        <h2>
          Hop by hop <small>hatched: in the mailbox · solid: in the handler · dashed arrow: forwarded · dotted: the answer</small>
        </h2>
        {trace === undefined ? (
          <p class="empty">
            <b>No trace yet</b>About ten messages a second are followed while this view is open, if any are sent.
          </p>
        ) : (
          <Sequence trace={trace} inSteps={opened.value?.inSteps === true} />
        )}
      </section>
      <div class="stack">
        {opened.value !== undefined ? <FromFile of={opened.value} /> : trace !== undefined && <Where trace={trace} />}
        <section class="card">
          <h2>Slowest of {plural(order.length, 'trace')}</h2>
          <form
            class="tools"
            onSubmit={(event) => {
              event.preventDefault()
              const type = new FormData(event.currentTarget).get('type')
              if (typeof type !== 'string' || type === '') return
              waiting.value = type
              void ask('trace-next', { type })
            }}
          >
            <input name="type" placeholder="message type" aria-label="Type of the message to follow next" />
            <button type="submit">Follow the next one</button>
            {waiting.value !== undefined && <span class="dim">the next {waiting.value} is followed</span>}
          </form>
          <p class="tools">
            <label>
              <span class="dim">or open a capsule, a run that troupe sim --save wrote, or what troupe trace --json wrote: </span>
              <input
                type="file"
                accept=".json,application/json"
                onChange={(event) => {
                  const file = event.currentTarget.files?.[0]
                  if (file !== undefined) void openFile(file)
                }}
              />
            </label>
            {refused.value !== '' && <span class="red">{refused.value}</span>}
          </p>
          <table>
            <thead>
              <tr>
                <th>message</th>
                <th class="num">took</th>
                <th class="num">messages</th>
              </tr>
            </thead>
            <tbody>
              {order.slice(0, 15).map((one) => (
                <tr key={one.id} class={`pick ${one === trace ? 'on' : ''}`} onClick={() => choose(one.id)}>
                  <td>
                    <button type="button" class="quiet" aria-pressed={one === trace} onClick={() => choose(one.id)}>
                      {one.type}
                    </button>
                  </td>
                  <td class="num">{ms(lengthOf(one))}</td>
                  <td class="num">{one.spans.length}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </div>
    </div>
  )
}

function FromFile({ of: { title, note } }: { readonly of: Opened }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      <p>{note}</p>
      <p>
        <button type="button" onClick={() => (opened.value = undefined)}>
          Back to the system
        </button>
      </p>
    </section>
  )
}

function Where({ trace }: { readonly trace: TraceNews }) {
  let queued = 0
  let handled = 0
  for (const { sentAt, takenAt, doneAt, how } of trace.spans) {
    if (how === 'answer') continue
    queued += Math.max(0, (takenAt ?? endOf(trace)) - sentAt)
    if (takenAt !== undefined && takenAt !== null) handled += Math.max(0, (doneAt ?? endOf(trace)) - takenAt)
  }
  const setBy = trace.spans[0]?.setBy ?? undefined
  return (
    <section class="card">
      <h2>Where did {ms(lengthOf(trace))} go?</h2>
      {setBy !== undefined && (
        <p>
          A timer sent it, {ms(trace.at - setBy.at)} after it was set by the handler of{' '}
          {traces.value.some(({ id }) => id === setBy.trace) ? (
            <button type="button" class="quiet" onClick={() => choose(setBy.trace)}>
              {setBy.type} →
            </button>
          ) : (
            <b>{setBy.type}</b>
          )}
        </p>
      )}
      <p>
        <b class="amber">{ms(queued)}</b> waiting in mailboxes
      </p>
      <p>
        <b class="blue">{ms(handled)}</b> in handlers
      </p>
      <p class="dim">
        Sums over all its messages: what went on at the same time counts twice.
        {trace.leftOut > 0 ? ` ${trace.leftOut} more messages were not followed.` : ''}
      </p>
      <p>
        <button type="button" onClick={() => savePerfetto(trace)} title="A file that ui.perfetto.dev and chrome://tracing open">
          Save for Perfetto
        </button>
      </p>
    </section>
  )
}

/** How wide an element is, now and when it changes. */
function useWidth(): readonly [number, (element: HTMLElement | null) => void] {
  const [width, setWidth] = useState(0)
  const [element, setElement] = useState<HTMLElement | null>(null)
  useEffect(() => {
    if (element === null) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [element])
  return [width, setElement]
}

/** As Perfetto and the tracing of browsers read it: a lane for each actor, what waited and what was handled in it. */
function perfetto(trace: TraceNews): string {
  const names = [...new Set(trace.spans.map(({ toName }) => toName))]
  const end = endOf(trace)
  const events: object[] = names.map((name, tid) => ({ ph: 'M', pid: 1, tid, name: 'thread_name', args: { name } }))
  for (const { toName, fromName, type, how, sentAt, takenAt, doneAt } of trace.spans) {
    if (how === 'answer') continue
    const tid = names.indexOf(toName)
    const taken = takenAt ?? end
    const us = (time: number): number => Math.round(time * 1000)
    events.push({
      ph: 'X',
      pid: 1,
      tid,
      name: `${type} (in the mailbox)`,
      cat: 'queue',
      ts: us(sentAt),
      dur: us(taken - sentAt),
      args: { from: fromName, how },
    })
    if (takenAt !== undefined && takenAt !== null)
      events.push({
        ph: 'X',
        pid: 1,
        tid,
        name: type,
        cat: 'handler',
        ts: us(taken),
        dur: us((doneAt ?? end) - taken),
        args: { from: fromName, how },
      })
  }
  return JSON.stringify({ traceEvents: events })
}

function savePerfetto(trace: TraceNews): void {
  const anchor = document.createElement('a')
  anchor.href = URL.createObjectURL(new Blob([perfetto(trace)], { type: 'application/json' }))
  anchor.download = `troupe-trace-${trace.id}.json`
  anchor.click()
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000)
}

function Sequence({ trace, inSteps }: { readonly trace: TraceNews; readonly inSteps: boolean }) {
  const long = (n: number): string => (inSteps ? plural(n, 'step') : ms(n))
  const [room, measure] = useWidth()
  const spans = trace.spans.slice(0, spansShown)
  const names = [...new Set(spans.flatMap(({ fromName, toName }) => [fromName, toName]))]
  const lane = Math.max(120, Math.min(260, (Math.max(600, room) - 230) / Math.max(1, names.length - 1)))
  const x = (name: string): number => 70 + names.indexOf(name) * lane
  const end = endOf(trace)
  const tall = Math.max(320, Math.min(620, spans.length * 34))
  const y = (at: number): number => 46 + ((at - trace.at) / Math.max(0.01, end - trace.at)) * tall
  const width = 70 + (names.length - 1) * lane + 150
  return (
    <div class="scroll" ref={measure}>
      <svg
        class="picture natural"
        viewBox={`0 0 ${width} ${tall + 70}`}
        width={width}
        height={tall + 70}
        role="img"
        aria-label={`${trace.type}: ${plural(spans.length, 'message')} between ${names.join(', ')}`}
      >
        <defs>
          <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <line x1="0" y1="0" x2="0" y2="6" stroke="var(--amber)" stroke-width="3" />
          </pattern>
          <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">
            <path d="M0,0 L8,4 L0,8 Z" fill="var(--blue)" />
          </marker>
        </defs>
        {names.map((name) => (
          <g key={name}>
            <text x={x(name)} y="16" text-anchor="middle" font-weight="650">
              <title>{name}</title>
              {name.slice(name.lastIndexOf('/') + 1)}
            </text>
            <line x1={x(name)} x2={x(name)} y1="26" y2={tall + 60} stroke="var(--line)" />
          </g>
        ))}
        {spans.map((span) => {
          const [from, to] = [x(span.fromName), x(span.toName)]
          const sent = y(span.sentAt)
          const taken = y(span.takenAt ?? end)
          const done = y(span.doneAt ?? end)
          const dash = span.how === 'forward' ? '6 4' : span.how === 'answer' ? '2 3' : undefined
          const towards = to === from ? from + 40 : to - Math.sign(to - from) * 8
          return (
            <g key={span.id}>
              <line
                x1={from}
                x2={towards}
                y1={sent}
                y2={sent}
                stroke="var(--blue)"
                stroke-width="1.5"
                stroke-dasharray={dash}
                marker-end="url(#tip)"
              />
              {span.how !== 'answer' && (
                <>
                  <rect x={to - 5} y={sent} width="10" height={Math.max(1, taken - sent)} fill="url(#hatch)" stroke="var(--amber)" />
                  <rect x={to - 5} y={taken} width="10" height={Math.max(2, done - taken)} fill="var(--blue)" />
                  <title>{`${span.type}: ${long((span.takenAt ?? end) - span.sentAt)} in the mailbox, ${long((span.doneAt ?? end) - (span.takenAt ?? end))} in the handler`}</title>
                </>
              )}
              <text x={(from + to) / 2 + (from === to ? 30 : 0)} y={sent - 4} text-anchor="middle">
                {span.type.length > 40 ? `${span.type.slice(0, 39)}…` : span.type}
                {span.how === 'forward' ? ' (forwarded)' : ''}
              </text>
              {span.how !== 'answer' && taken - sent > 26 && (
                <text x={to + 10} y={(sent + taken) / 2 + 4} class="dim">
                  {long((span.takenAt ?? end) - span.sentAt)} queued
                </text>
              )}
            </g>
          )
        })}
      </svg>
      {trace.spans.length > spansShown && <p class="dim">{plural(trace.spans.length - spansShown, 'more message')} of this trace are not drawn.</p>}
    </div>
  )
}

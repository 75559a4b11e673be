// Which actor is stuck, on what, since when? A tree or a flat list, of which only what is on the screen is asked for, so that a hundred
// thousand actors scroll like ten.

import { effect, signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Line, Lines, LinesWish, SortKey } from '../../src/feed/news.ts'
import { ask } from './connection.ts'
import { ActorPanel } from './panel.tsx'
import { filter, linkTo, moments, paused, selected, shown } from './store.ts'
import { count, duration, exact } from './words.ts'

const height = 28
/** Lines beyond those that can be seen, to both sides. */
const beyond = 60

const mode = signal<LinesWish['mode']>('tree')
const sort = signal<SortKey>('trouble')
const opened = signal<ReadonlySet<number>>(new Set())
const closed = signal<ReadonlySet<number>>(new Set())
const full = signal<ReadonlySet<number>>(new Set())
const lines = signal<Lines | undefined>(undefined)
const first = signal(0)

let asking = false
let again = false
/** One question at a time: what scrolls by meanwhile is asked for once, at the end. */
async function refresh(): Promise<void> {
  if (asking) {
    again = true
    return
  }
  asking = true
  const wish: LinesWish = {
    mode: mode.value,
    sort: sort.value,
    filter: filter.value,
    offset: Math.max(0, first.value - beyond),
    count: 40 + 2 * beyond,
    opened: [...opened.value].slice(-1000),
    closed: [...closed.value].slice(-1000),
    full: [...full.value].slice(-1000),
  }
  const answer = await ask<Lines>('lines', wish)
  if (answer !== undefined) lines.value = answer
  asking = false
  if (again) {
    again = false
    await refresh()
  }
}

const toggled = (set: ReadonlySet<number>, uid: number, on: boolean): ReadonlySet<number> =>
  new Set(on ? [...set, uid] : [...set].filter((one) => one !== uid))

function fold(line: Line, open: boolean): void {
  opened.value = toggled(opened.value, line.uid, open)
  closed.value = toggled(closed.value, line.uid, !open)
}

function choose(line: Line): void {
  if (line.more !== undefined) full.value = toggled(full.value, line.more.parent, true)
  else {
    selected.value = line.uid
    history.replaceState(null, '', linkTo('actors', line.uid))
  }
}

export function Actors() {
  useEffect(
    () =>
      effect(() => {
        // Anew with every round and every wish; while it is paused only what was asked.
        void (paused.value ? undefined : moments.value)
        void [mode.value, sort.value, filter.value, opened.value, closed.value, full.value, first.value]
        void refresh()
      }),
    [],
  )
  return (
    <div class="cols">
      <section class="card">
        <Tools />
        <List />
        <div class="legend">
          <span>↑ ↓ choose</span>
          <span>← → fold</span>
          <span>/ search</span>
          <span>load: milliseconds of turns in a second; about, as msg/s, where a thread handles millions</span>
          {paused.value && <span class="amber">as of now: the list is not kept for earlier moments</span>}
        </div>
      </section>
      <ActorPanel />
    </div>
  )
}

function Tools() {
  const sorts: readonly (readonly [SortKey, string])[] = [
    ['trouble', 'trouble'],
    ['queued', 'queued'],
    ['rate', 'messages/s'],
    ['load', 'load'],
    ['restarts', 'restarts'],
  ]
  return (
    <div class="tools">
      <button type="button" aria-pressed={mode.value === 'tree'} onClick={() => (mode.value = 'tree')}>
        Tree
      </button>
      <button type="button" aria-pressed={mode.value === 'flat'} onClick={() => (mode.value = 'flat')}>
        List
      </button>
      <label>
        <span class="dim">sorted by </span>
        <select value={sort.value} onChange={(event) => (sort.value = event.currentTarget.value as SortKey)}>
          {sorts.map(([key, text]) => (
            <option key={key} value={key}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <input
        type="search"
        placeholder="Search path, kind, label"
        aria-label="Search actors by path, kind or label"
        value={filter.value}
        onInput={(event) => {
          filter.value = event.currentTarget.value
          first.value = 0
        }}
      />
      <span class="dim">
        {exact(shown.value?.round.figures.actors ?? lines.value?.actors ?? 0)} actors
        {filter.value === '' ? '' : `, ${exact(lines.value?.total ?? 0)} match`}
      </span>
    </div>
  )
}

function List() {
  const body = useRef<HTMLDivElement>(null)
  const [tall, setTall] = useState(400)
  const known = lines.value
  const total = known?.total ?? 0
  useEffect(() => {
    const element = body.current!
    const observer = new ResizeObserver(() => setTall(element.clientHeight))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const from = Math.max(0, first.value - 5)
  const to = Math.min(total, first.value + Math.ceil(tall / height) + 5)
  const rows = []
  for (let i = from; i < to; i++) rows.push(<Row key={i} index={i} line={known?.lines[i - known.offset]} />)
  return (
    <div class="grid" role="grid" aria-label="Actors" aria-rowcount={total + 1} aria-colcount={7}>
      <div class="row head" role="row" aria-rowindex={1}>
        <span role="columnheader">actor</span>
        <span role="columnheader">phase</span>
        <span role="columnheader" class="num">
          queued
        </span>
        <span role="columnheader" class="num wide">
          msg/s
        </span>
        <span role="columnheader" class="num wide">
          load
        </span>
        <span role="columnheader" class="num wide">
          restarts
        </span>
        <span role="columnheader" class="wide">
          doing
        </span>
      </div>
      <div
        class="body"
        role="rowgroup"
        ref={body}
        tabIndex={0}
        aria-label="Actors, arrow keys choose"
        onScroll={(event) => (first.value = Math.floor(event.currentTarget.scrollTop / height))}
        onKeyDown={(event) => onKey(event, body.current!)}
      >
        <div style={{ height: `${total * height}px` }} role="presentation" />
        {rows}
      </div>
    </div>
  )
}

function onKey(event: KeyboardEvent, body: HTMLElement): void {
  const known = lines.value
  if (known === undefined) return
  const at = known.lines.findIndex(({ uid, more }) => uid === selected.value && more === undefined)
  const line = known.lines[at]
  const go = (by: number): void => {
    let next = at + by
    while (known.lines[next]?.more !== undefined) next += by
    const to = known.lines[at < 0 ? 0 : next]
    if (to === undefined) return
    choose(to)
    const top = (known.offset + (at < 0 ? 0 : next)) * height
    if (top < body.scrollTop) body.scrollTop = top
    else if (top + height > body.scrollTop + body.clientHeight) body.scrollTop = top + height - body.clientHeight
  }
  if (event.key === 'ArrowDown') go(1)
  else if (event.key === 'ArrowUp') go(-1)
  else if (event.key === 'ArrowRight' && line !== undefined) fold(line, true)
  else if (event.key === 'ArrowLeft' && line !== undefined) fold(line, false)
  else return
  event.preventDefault()
}

const signs = ['', '', '▲', '◆'] as const
const keyClasses = ['idle', 'busy', 'behind', 'trouble'] as const

function Row({ index, line }: { readonly index: number; readonly line: Line | undefined }) {
  const style = { top: `${index * height}px` }
  if (line === undefined)
    return (
      <div class="row dim" role="row" aria-rowindex={index + 2} style={style}>
        <span role="gridcell">…</span>
      </div>
    )
  const indent = { paddingLeft: `${line.depth * 18}px` }
  if (line.more !== undefined)
    return (
      <div class="row dim" role="row" aria-rowindex={index + 2} style={style} onClick={() => choose(line)}>
        <span role="gridcell" style={indent}>
          <span class="fold" aria-hidden="true">
            ⋯
          </span>
          {exact(line.more.actors)} more
        </span>
        <span role="gridcell" />
        <span role="gridcell" class="num">
          {line.more.queued > 0 ? count(line.more.queued) : ''}
        </span>
        <span role="gridcell" class="num wide" />
        <span role="gridcell" class="num wide" />
        <span role="gridcell" class="num wide">
          {line.more.restarts > 0 ? count(line.more.restarts) : ''}
        </span>
        <span role="gridcell" class="wide">
          click to show
        </span>
      </div>
    )
  const level = keyClasses[line.state] ?? 'idle'
  return (
    <div class="row" role="row" aria-rowindex={index + 2} aria-selected={selected.value === line.uid} style={style} onClick={() => choose(line)}>
      <span role="gridcell" style={indent} title={line.path}>
        <span
          class="fold"
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation()
            fold(line, !line.open)
          }}
        >
          {line.children === 0 || mode.value === 'flat' ? '' : line.open ? '▾' : '▸'}
        </span>
        {signs[line.state] !== '' && <span class={`key ${level}`}>{signs[line.state]}</span>}
        {mode.value === 'flat' || filter.value !== '' ? line.path : line.name}
        {line.label !== undefined && <span class="dim"> {line.label}</span>}
      </span>
      <span role="gridcell" class={line.phase === 'running' ? 'green' : 'red'}>
        {line.phase}
      </span>
      <span role="gridcell" class={`num ${line.queued > 100 ? 'red' : ''}`}>
        {line.queued > 0 ? count(line.queued) : ''}
      </span>
      <span role="gridcell" class="num wide">
        {line.rate > 0 ? count(line.rate) : ''}
      </span>
      <span role="gridcell" class="num wide">
        {line.load >= 0.05 ? line.load.toFixed(1) : ''}
      </span>
      <span role="gridcell" class={`num wide ${line.restarts > 0 ? 'amber' : ''}`}>
        {line.restarts > 0 ? count(line.restarts) : ''}
      </span>
      <span role="gridcell" class="wide dim">
        {line.pendingMs === undefined ? (line.stashed > 0 ? `${count(line.stashed)} stashed` : '') : `pending ${duration(line.pendingMs)}`}
      </span>
    </div>
  )
}

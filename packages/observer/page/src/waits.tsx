// Who waits for whose answer: now, or at the moment that is shown. Cycles are red: nobody in one will ever go on.

import type { Wait } from '@troupe/core/internal'
import { sortOf } from '../../src/findings/words.ts'
import { type Arrow, type Box, Graph } from './graph.tsx'
import { linkTo, shown } from './store.ts'
import { count, duration, plural } from './words.ts'

const boxesMost = 40

const askerOf = (wait: Wait): string => wait.askerPath ?? 'outside'

/** Those from whom one comes back to oneself, along questions that hold up their askers. */
function inCycles(waits: readonly Wait[]): ReadonlySet<string> {
  const next = new Map<string, string[]>()
  for (const wait of waits) if (wait.binds) next.set(askerOf(wait), [...(next.get(askerOf(wait)) ?? []), wait.targetPath])
  const reaches = (from: string, to: string): boolean => {
    const seen = new Set<string>()
    const open = [...(next.get(from) ?? [])]
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      if (one === to) return true
      if (seen.has(one)) continue
      seen.add(one)
      open.push(...(next.get(one) ?? []))
    }
    return false
  }
  return new Set([...next.keys()].filter((path) => reaches(path, path)))
}

/** The longest way from one who waits to one who does not; without going in circles. */
function longestChain(waits: readonly Wait[]): readonly string[] {
  const next = new Map<string, string[]>()
  for (const wait of waits) if (wait.binds) next.set(askerOf(wait), [...(next.get(askerOf(wait)) ?? []), wait.targetPath])
  const known = new Map<string, readonly string[]>()
  const from = (path: string, above: ReadonlySet<string>): readonly string[] => {
    const found = known.get(path)
    if (found !== undefined) return found
    let longest: readonly string[] = []
    for (const to of next.get(path) ?? []) {
      if (above.has(to) || above.size > 100) continue
      const way = from(to, new Set([...above, to]))
      if (way.length > longest.length) longest = way
    }
    const chain = [path, ...longest]
    known.set(path, chain)
    return chain
  }
  let longest: readonly string[] = []
  for (const path of next.keys()) {
    const chain = from(path, new Set([path]))
    if (chain.length > longest.length) longest = chain
  }
  return longest
}

/** So many of one sort are one box. */
const alike = 4
/** What a box is called: those whose paths differ only in their numbers are one where there are many, but not in a circle. */
function boxNames(waits: readonly Wait[], cycle: ReadonlySet<string>): (path: string) => string {
  const sorts = new Map<string, Set<string>>()
  for (const path of waits.flatMap((wait) => [askerOf(wait), wait.targetPath])) {
    const sort = sortOf(path)
    if (!cycle.has(path)) sorts.set(sort, (sorts.get(sort) ?? new Set()).add(path))
  }
  return (path) => {
    const same = sorts.get(sortOf(path))
    return same === undefined || same.size < alike || cycle.has(path) ? path : `${sortOf(path)} ×${same.size}`
  }
}

/** Of many that ask one the same, one arrow. */
function pictureOf(waits: readonly Wait[], cycle: ReadonlySet<string>): { readonly boxes: readonly Box[]; readonly arrows: readonly Arrow[] } {
  const ways = new Map<string, { from: string; to: string; times: number; longest: number; type: string }>()
  const called = boxNames(waits, cycle)
  for (const wait of waits) {
    const [from, to] = [called(askerOf(wait)), called(wait.targetPath)]
    const key = JSON.stringify([from, to])
    const way = ways.get(key)
    if (way === undefined) ways.set(key, { from, to, times: 1, longest: wait.ms, type: wait.type ?? 'question' })
    else {
      way.times++
      if (way.type === 'question' && wait.type !== undefined) way.type = wait.type
      way.longest = Math.max(way.longest, wait.ms)
    }
  }
  const bad = (from: string, to: string): boolean => cycle.has(from) && cycle.has(to)
  const order = [...ways.values()].sort((a, b) => Number(bad(b.from, b.to)) - Number(bad(a.from, a.to)) || b.longest - a.longest)
  const paths = new Set<string>()
  const arrows: Arrow[] = []
  for (const { from, to, times, longest, type } of order) {
    const more = [from, to].filter((path) => !paths.has(path)).length
    if (paths.size + more > boxesMost) continue
    paths.add(from).add(to)
    const red = bad(from, to)
    arrows.push({
      from,
      to,
      text: `${type}${times > 1 ? ` ×${count(times)}` : ''}, ${duration(longest)}`,
      width: red ? 2.5 : 1.8,
      tone: red ? 'red' : undefined,
    })
  }
  const uids = new Map<string, number | undefined>(
    waits.flatMap((w): [string, number | undefined][] => [
      [called(askerOf(w)), w.asker],
      [called(w.targetPath), w.target],
    ]),
  )
  const boxes = [...paths].map((path): Box => {
    const asked = waits.filter((wait) => called(wait.targetPath) === path)
    const uid = uids.get(path)
    const text = cycle.has(path)
      ? 'in a cycle'
      : asked.length > 0
        ? `owes ${plural(asked.length, 'answer')}`
        : path === 'outside'
          ? 'not an actor'
          : 'waits'
    return { id: path, title: path, text, tone: cycle.has(path) ? 'red' : undefined, href: uid === undefined ? undefined : linkTo('actors', uid) }
  })
  return { boxes, arrows }
}

export function Waits() {
  const round = shown.value?.round
  const waits = round?.waits
  if (waits === undefined) return <p class="card empty">Waits were not kept for that moment: they are only while this view is open.</p>
  if (waits.length === 0)
    return (
      <section class="card">
        <p class="empty">
          <b>Nobody waits for an answer</b>Questions that are under way for longer than a blink appear here.
        </p>
      </section>
    )
  const cycle = inCycles(waits)
  const chain = longestChain(waits)
  const { boxes, arrows } = pictureOf(waits, cycle)
  const last = waits.find((wait) => wait.targetPath === chain.at(-1))
  return (
    <>
      <div class="cols">
        <section class="card">
          <h2>
            Who waits for whom <small>an arrow goes from who asks to who owes the answer · red: a cycle · the time: since the oldest question</small>
          </h2>
          <Graph boxes={boxes} arrows={arrows} label={`${plural(waits.length, 'question')} under way; ${cycle.size} actors in cycles`} />
        </section>
        <div class="stack">
          {cycle.size > 0 && (
            <section class="card verdict bad">
              <div>
                A cycle: none of these will go on
                <p class="mono red">{[...cycle, [...cycle][0]].join(' → ')}</p>
                <p>
                  Each handler awaits an answer that only another of them can give. Ask with <code>deadlock: 'reject'</code> to have the closing
                  question fail at once, or answer before asking.
                </p>
              </div>
            </section>
          )}
          <section class="card">
            <h2>Longest chain</h2>
            <p class="mono">{chain.length > 1 ? chain.join(' → ') : 'No handler stands still for an answer.'}</p>
            {last !== undefined && (
              <p class="dim">
                {last.targetPath} has the question {last.state === 'queued' ? 'still in its mailbox' : last.state} for {duration(last.ms)}.
              </p>
            )}
          </section>
        </div>
      </div>
      <Table waits={waits} leftOut={round?.waitsLeftOut ?? 0} cycle={cycle} />
    </>
  )
}

function Table({ waits, leftOut, cycle }: { readonly waits: readonly Wait[]; readonly leftOut: number; readonly cycle: ReadonlySet<string> }) {
  const rows = waits.toSorted((a, b) => b.ms - a.ms).slice(0, 100)
  return (
    <section class="card">
      <h2>
        {plural(waits.length + leftOut, 'question')} under way <small>the oldest {rows.length}</small>
      </h2>
      <div class="scroll">
        <table class="roomy">
          <thead>
            <tr>
              <th>who asks</th>
              <th>who owes the answer</th>
              <th>question</th>
              <th class="num">since</th>
              <th class="num">given up in</th>
              <th>where it is</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((wait, i) => (
              <tr key={i}>
                <td class={`mono ${cycle.has(askerOf(wait)) ? 'red' : ''}`}>
                  {wait.asker === undefined ? askerOf(wait) : <a href={linkTo('actors', wait.asker)}>{askerOf(wait)}</a>}
                </td>
                <td class="mono">
                  <a href={linkTo('actors', wait.target)}>{wait.targetPath}</a>
                </td>
                <td>{wait.type ?? '–'}</td>
                <td class="num">{duration(wait.ms)}</td>
                <td class="num">{wait.left === null || !Number.isFinite(wait.left) ? 'never' : duration(Math.max(0.001, wait.left))}</td>
                <td>{wait.state}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

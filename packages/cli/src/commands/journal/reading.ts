// Commands that look into a journal: which ids there are, one with its events, sizes by kind, and whether all is as it was written.

import type { ListedId, ShownId } from '@troupe/persistence'
import { Exit, exitCodes } from '../../exit.ts'
import { clean, jsonLine, type Screen, Style, table } from '../../style.ts'
import { type Place, say, some, using } from './opening.ts'

export function listJournal(
  screen: Screen,
  place: Place,
  { kind, most }: { readonly kind: string | undefined; readonly most: number },
): Promise<void> {
  return using(place, false, async (journal, { listIds }) => {
    const rows: ListedId[] = []
    let more = false
    for await (const id of listIds(journal, { kind })) {
      more = rows.length === most
      if (more) break
      rows.push(id)
    }
    if (place.json) return screen.write(rows.map(jsonLine).join(''))
    const cells = rows.map(({ id, seq, deleted, snapshots, revision }) => [
      clean(id),
      seq.toLocaleString('en'),
      deleted === 0 ? '' : deleted.toLocaleString('en'),
      snapshots.join(' '),
      revision === undefined ? '' : revision.toLocaleString('en'),
    ])
    const style = new Style(screen.colours)
    const head = ['id', 'last event', 'deleted up to', 'snapshots at', 'revision']
    screen.write(`${table(head, cells, new Set([1, 2, 4]), style).join('\n')}\n`)
    if (more) screen.write(`${style.dim(`… and more; --most ${most * 10} shows them`)}\n`)
  })
}

export function showInJournal(screen: Screen, place: Place, id: string, options: { readonly after: number; readonly most: number }): Promise<void> {
  return using(place, false, async (journal, { listIds, showId }) => {
    const shown = await showId(journal, id, options)
    const { seq, state, snapshot } = shown.head
    if (seq === 0 && state === undefined && snapshot === undefined) {
      const near = await likely(id, listIds(journal))
      throw new Exit(
        exitCodes.found,
        `There is no ${clean(id)} in this journal.${near === undefined ? '' : ` Did you mean ${clean(near)}?`} For a list: troupe journal ls ${place.journal}`,
      )
    }
    say(screen, place, shown, () => pageOf(id, shown, new Style(screen.colours)))
  })
}

function pageOf(id: string, { head: { seq, deleted, snapshot, state }, events }: ShownId, style: Style): string {
  const lines = [`${style.bold(clean(id))}: last event ${seq}${deleted > 0 ? `, deleted up to ${deleted}` : ''}`]
  if (snapshot !== undefined)
    lines.push(`snapshot at ${snapshot.seq}, version ${snapshot.version}, ${timeOf(snapshot.time)}: ${clean(snapshot.data)}`)
  if (state !== undefined)
    lines.push(`state of revision ${state.revision}, version ${state.version}, ${timeOf(state.time)}: ${clean(state.data ?? 'cleared')}`)
  for (const { seq: number, type, version, time, tags, subject, data } of events)
    lines.push(
      [
        String(number),
        style.dim(timeOf(time)),
        style.cyan(`${clean(type)}@${version}`),
        clean(data),
        tags.map((tag) => `#${clean(tag)}`).join(' '),
        subject === undefined ? '' : `of ${clean(subject)}`,
      ]
        .filter((part) => part !== '')
        .join('  '),
    )
  const last = events.at(-1)
  if (last !== undefined && last.seq < seq) lines.push(style.dim(`… up to ${seq}; --after ${last.seq} goes on`))
  return lines.join('\n')
}

/** When something was persisted, as far as the writer's clock was a clock. */
function timeOf(time: number): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString()
}

/** Of the first ids, one that differs by a slip: a letter, or the case of some. */
async function likely(wanted: string, ids: AsyncIterable<ListedId>): Promise<string | undefined> {
  let left = 10_000
  for await (const { id } of ids) {
    if (id.toLowerCase() === wanted.toLowerCase() || isSlip(id, wanted)) return id
    if (--left === 0) return undefined
  }
  return undefined
}

/** Whether one letter was put in, left out, or is another. */
function isSlip(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const [a, b] = [one.length >= other.length ? at + 1 : at, other.length >= one.length ? at + 1 : at]
  return one.slice(a) === other.slice(b)
}

/** The exit code: 1 where something is damaged. */
export function verifyJournal(screen: Screen, place: Place): Promise<number> {
  return using(place, false, async (journal) => {
    const verified = await journal.verify()
    const { ids, events, snapshots, damages } = verified
    const style = new Style(screen.colours)
    say(screen, place, verified, () =>
      [
        ...damages.map(({ where, problem }) => `${style.red('DAMAGED')}  ${clean(where)}: ${clean(problem)}`),
        `${some(ids, 'id')}, ${some(events, 'event')}, ${some(snapshots, 'snapshot')}: ${damages.length === 0 ? 'all as it was written' : some(damages.length, 'damage')}`,
      ].join('\n'),
    )
    return damages.length === 0 ? exitCodes.fine : exitCodes.found
  })
}

export function journalStats(screen: Screen, place: Place): Promise<void> {
  return using(place, false, async (journal, { kindStats }) => {
    const { identity } = journal
    const all = await journal.stats()
    const kinds = await kindStats(journal)
    say(screen, place, { identity, ...all, kinds }, () => {
      const { ids, events, snapshots, bytes } = all
      const figures = (...values: readonly (number | string)[]): string[] =>
        values.map((value) => (typeof value === 'number' ? value.toLocaleString('en') : value))
      const rows = kinds.map((of) => figures(clean(of.kind), of.ids, of.events, of.deleted, of.snapshots, of.states))
      const head = ['kind', 'ids', 'events', 'deleted', 'snapshots', 'states']
      return [
        `journal ${identity}${bytes === undefined ? '' : `, ${(bytes / 1e6).toFixed(1)} MB`}`,
        ...table(head, [...rows, figures('in all', ids, events, '', snapshots, '')], new Set([1, 2, 3, 4, 5]), new Style(screen.colours)),
      ].join('\n')
    })
  })
}

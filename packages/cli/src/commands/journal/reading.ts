// Commands that look into a journal: which ids there are, one with its events, sizes by kind, and whether all is as it was written.

import type { ListedId, ShownId } from '@troupe/persistence'
import { exitCodes } from '../../exit.ts'
import { clean, jsonLine, type Screen, Style, table } from '../../style.ts'
import { noId, noKind } from './near.ts'
import { type Place, say, some, using } from './opening.ts'

export function listJournal(
  screen: Screen,
  place: Place,
  { kind, most }: { readonly kind: string | undefined; readonly most: number },
): Promise<void> {
  return using(place, false, async (journal, { kindOf, listIds }) => {
    const rows: ListedId[] = []
    let more = false
    for await (const id of listIds(journal, { kind })) {
      more = rows.length === most
      if (more) break
      rows.push(id)
    }
    if (place.json) return screen.write(rows.map(jsonLine).join(''))
    if (rows.length === 0 && kind !== undefined) return screen.write(`${await noKind(kind, listIds(journal), kindOf)}\n`)
    const cells = rows.map(({ id, seq, deleted, snapshots, revision }) => [
      clean(id),
      seq.toLocaleString('en'),
      deleted === 0 ? '' : deleted.toLocaleString('en'),
      snapshots.map((at) => at.toLocaleString('en')).join(' '),
      revision === undefined ? '' : revision.toLocaleString('en'),
    ])
    const style = new Style(screen.colours)
    const head = ['id', 'last event', 'deleted up to', 'snapshots at', 'revision']
    screen.write(`${table(head, cells, new Set([1, 2, 4]), style).join('\n')}\n`)
    if (more) screen.write(`${style.dim(`… and more; --most ${most * 10} shows them`)}\n`)
  })
}

export function showInJournal(screen: Screen, place: Place, id: string, options: { readonly after: number; readonly most: number }): Promise<void> {
  return using(place, false, async (journal, all) => {
    const shown = await all.showId(journal, id, options)
    const { seq, state, snapshot } = shown.head
    if (seq === 0 && state === undefined && snapshot === undefined) await noId(id, place, journal, all)
    say(screen, place, shown, () => pageOf(id, shown, new Style(screen.colours)))
  })
}

function pageOf(id: string, { head: { seq, deleted, snapshot, state }, events }: ShownId, style: Style): string {
  const lines = [`${style.bold(clean(id))}: last event ${seq}${deleted > 0 ? `, deleted up to ${deleted}` : ''}`]
  if (snapshot !== undefined)
    lines.push(`snapshot at ${snapshot.seq}, version ${snapshot.version}, ${timeOf(snapshot.time)}: ${dataOf(snapshot.data)}`)
  if (state !== undefined)
    lines.push(`state of revision ${state.revision}, version ${state.version}, ${timeOf(state.time)}: ${dataOf(state.data ?? 'cleared')}`)
  for (const { seq: number, type, version, time, tags, subject, data } of events)
    lines.push(
      [
        String(number),
        style.dim(timeOf(time)),
        style.cyan(`${clean(type)}@${version}`),
        dataOf(data),
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

/** What is sealed tells nobody anything but that it is there. */
function dataOf(data: string): string {
  return data.startsWith('{"$":"sealed"') ? `sealed, ${some(data.length, 'letter')}` : clean(data)
}

/** When something was persisted, as far as the writer's clock was a clock. */
function timeOf(time: number): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString()
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

// Commands that make, copy and change a journal. None takes it over: a system that uses it goes on.

import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { ExportedKeys, KindOrClass } from '@troupe/persistence'
import { Exit, exitCodes } from '../../exit.ts'
import { fileOf, loadModule } from '../../running/user-module.ts'
import { clean, type Screen } from '../../style.ts'
import { noId } from './near.ts'
import { isPostgres, loadPersistence, type Place, say, some, told, using } from './opening.ts'

export async function createJournal(
  screen: Screen,
  place: Place,
  { role, keeper }: { readonly role: string | undefined; readonly keeper: string | undefined },
): Promise<void> {
  if (!isPostgres(place.journal) && (role !== undefined || keeper !== undefined))
    throw new Exit(exitCodes.usage, 'Roles are for a journal in PostgreSQL; a file belongs to those who may write it.')
  if (isPostgres(place.journal)) {
    const { createPostgresSchema } = await loadPersistence()
    await told(() => createPostgresSchema({ connectionString: place.journal }, { schema: place.schema, role, keeper }))
  }
  await using(place, true, async ({ identity }) => say(screen, place, { identity }, () => `journal ${identity} is there`))
}

/** Takes a snapshot by what a module of the user says of the kind. */
export async function snapshotInJournal(
  screen: Screen,
  place: Place,
  id: string,
  { with: module, scope }: { readonly with: string; readonly scope: string },
): Promise<void> {
  const { kindOf, snapshotKey } = await loadPersistence()
  const exported = Object.values(await loadModule(fileOf(module)))
  const name = kindOf(id)
  const kind = exported.find((one) => {
    const { kind: own, persistence } = (typeof one === 'function' ? one : {}) as { kind?: unknown; persistence?: { kind?: unknown } }
    return (own ?? persistence?.kind) === name
  })
  if (kind === undefined) throw new Exit(exitCodes.found, `${module} exports no kind ${clean(name)}.`)
  await using(place, false, async (journal, all) => {
    const [head] = await journal.heads([id])
    if (head === undefined || (head.seq === 0 && head.state === undefined)) await noId(id, place, journal, all)
    const seq = await snapshotKey(journal, kind as KindOrClass, id.slice(name.length + 1), { scope })
    say(screen, place, { id, seq }, () => `a snapshot of ${clean(id)} stands for its events up to ${seq}`)
  })
}

export function eraseInJournal(screen: Screen, place: Place, subject: string): Promise<void> {
  return using(place, false, async (journal) => {
    const { is } = await journal.key(subject)
    if (is === 'none') throw new Exit(exitCodes.found, `The journal has no subject ${JSON.stringify(subject)}; nothing was erased.`)
    if (is === 'key') await journal.eraseKey(subject)
    say(screen, place, { subject, before: is === 'key' ? 'kept' : 'erased' }, () =>
      is === 'key' ? `${clean(subject)} is erased: what was kept of it can no longer be read` : `${clean(subject)} was erased before`,
    )
  })
}

/** Lists projections, or removes one, so that events which it has not handled may be deleted. */
export function projectionsInJournal(screen: Screen, place: Place, { remove }: { readonly remove: string | undefined }): Promise<void> {
  return using(place, false, async (journal, { listProjections, removeProjection }) => {
    if (remove !== undefined) {
      if (!(await removeProjection(journal, remove)))
        throw new Exit(exitCodes.found, `The journal has no projection ${JSON.stringify(remove)}; nothing was removed.`)
      return say(screen, place, { removed: remove }, () => `${clean(remove)} is removed: events that it has not handled may be deleted`)
    }
    const projections = await listProjections(journal)
    say(screen, place, projections, () =>
      projections.length === 0
        ? 'no projections'
        : projections
            .map(({ projection, kind, tag, offset }) => {
              const reads = [kind === undefined ? 'all entity types' : clean(kind), ...(tag === undefined ? [] : [`tag ${clean(tag)}`])].join(', ')
              return `${clean(projection)}  reads ${reads}  ${offset === undefined ? 'has handled nothing' : `has handled up to ${offset}`}`
            })
            .join('\n'),
    )
  })
}

export function exportFromJournal(
  screen: Screen,
  place: Place,
  { to, keys }: { readonly to: string | undefined; readonly keys: ExportedKeys },
): Promise<void> {
  return using(place, false, async (journal, { exportJournal }) => {
    if (to === undefined) {
      for await (const chunk of exportJournal(journal, { keys })) {
        screen.write(chunk)
        await screen.ready?.()
      }
      return
    }
    if (existsSync(to)) throw new Exit(exitCodes.found, `${to} is there already; name another file.`)
    await pipeline(exportJournal(journal, { keys }), createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true }))
    say(screen, place, { to }, () => `exported to ${to}`)
  })
}

export function importIntoJournal(screen: Screen, place: Place, from: string | undefined): Promise<void> {
  if (from !== undefined && !existsSync(from)) throw new Exit(exitCodes.found, `There is no file ${from}.`)
  return using(place, true, async (journal, { importJournal }) => {
    const imported = await importJournal(journal, from === undefined ? process.stdin : createReadStream(from))
    const { counts, time } = imported
    say(
      screen,
      place,
      imported,
      () =>
        `imported ${some(counts.id, 'id')}, ${some(counts.event, 'event')}, ${some(counts.key, 'key')} of journal ${imported.from}, exported ${time}`,
    )
  })
}

export async function backUpJournal(
  screen: Screen,
  place: Place,
  { to, keys }: { readonly to: string; readonly keys: 'with' | 'without' },
): Promise<void> {
  if (isPostgres(place.journal))
    throw new Exit(exitCodes.usage, 'PostgreSQL is backed up by its own means: pg_dump, or archiving. For a text: troupe journal export.')
  const { backupSqlite } = await loadPersistence()
  await told(() => backupSqlite(place.journal, to, { keys }))
  say(screen, place, { to }, () => `copied to ${to}`)
}

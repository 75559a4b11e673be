// Commands that look after a journal: what persistent actors keep, whether a system uses it meanwhile or not.

import { type Command, Option } from 'commander'
import type { ExportedKeys } from '@troupe/persistence'
import { whole, withJson } from '../arguments.ts'
import {
  backUpJournal,
  createJournal,
  eraseInJournal,
  exportFromJournal,
  importIntoJournal,
  projectionsInJournal,
  snapshotInJournal,
} from '../commands/journal/keeping.ts'
import type { Place } from '../commands/journal/opening.ts'
import { journalStats, listJournal, showInJournal, verifyJournal } from '../commands/journal/reading.ts'
import type { Group } from './group.ts'

/** Those of every command here. */
interface Flags {
  readonly json?: boolean
  readonly schema: string
}

export function addKeeping(group: Group): void {
  const { program } = group
  program.commandsGroup('Keep:')
  const journal = program
    .command('journal')
    .description('looks after a journal, also one that a system uses meanwhile: lists, shows, verifies, copies, erases')
    .addHelpText(
      'after',
      '\nA journal is a file of SQLite such as data/shop.db, or a database such as postgres://user@host/database.\nExit codes: 0 fine, 1 something is damaged, missing or refused, 2 called wrongly.',
    )
  addReading(group, journal)
  addCopying(group, journal)
  addChanging(group, journal)
}

/** A command whose first argument is the journal. */
function of(journal: Command, name: string, about: string): Command {
  return withJson(journal.command(name).description(about).argument('<journal>', 'the file, or the address of the database')).option(
    '--schema <name>',
    'the schema of a journal in PostgreSQL',
    'troupe',
  )
}
function placeOf(journal: string, { json, schema }: Flags): Place {
  return { journal, schema, json: json === true }
}

function addReading({ around: { screen }, end }: Group, journal: Command): void {
  of(journal, 'ls', 'the ids, each with its last event and its snapshots')
    .option('-k, --kind <kind>', 'only ids of this kind')
    .option('-m, --most <ids>', 'how many', whole(1), 100)
    .action((place: string, flags: Flags & { readonly kind?: string; readonly most: number }) =>
      listJournal(screen, placeOf(place, flags), { kind: flags.kind, most: flags.most }),
    )
  of(journal, 'show', 'one id: its state or snapshot, and its events as they are stored')
    .argument('<id>', 'such as cart/42')
    .option('-a, --after <number>', 'only events after this number', whole(0), 0)
    .option('-m, --most <events>', 'how many', whole(1), 100)
    .action((place: string, id: string, flags: Flags & { readonly after: number; readonly most: number }) =>
      showInJournal(screen, placeOf(place, flags), id, { after: flags.after, most: flags.most }),
    )
  of(journal, 'verify', 'reads everything and checks it; exit code 1 if something is damaged').action(async (place: string, flags: Flags) =>
    end(await verifyJournal(screen, placeOf(place, flags))),
  )
  of(journal, 'stats', 'sizes, by kind').action((place: string, flags: Flags) => journalStats(screen, placeOf(place, flags)))
}

function addCopying({ around: { screen } }: Group, journal: Command): void {
  const keys = (choices: readonly string[]): Option => new Option('--keys <which>', 'keys of subjects').choices(choices).default('with')
  of(journal, 'export', 'writes all of it as text')
    .option('--to <file>', 'where to; standard output if left out')
    .addOption(keys(['with', 'without', 'only']))
    .action((place: string, flags: Flags & { readonly to?: string; readonly keys: ExportedKeys }) =>
      exportFromJournal(screen, placeOf(place, flags), { to: flags.to, keys: flags.keys }),
    )
  of(journal, 'import', 'takes what was exported into a new journal')
    .option('--from <file>', 'where from; standard input if left out')
    .action(async (place: string, flags: Flags & { readonly from?: string }) => importIntoJournal(screen, placeOf(place, flags), flags.from))
  of(journal, 'backup', 'copies a file that may be in use')
    .requiredOption('--to <file>', 'where to')
    .addOption(keys(['with', 'without']))
    .action((place: string, flags: Flags & { readonly to: string; readonly keys: 'with' | 'without' }) =>
      backUpJournal(screen, placeOf(place, flags), { to: flags.to, keys: flags.keys }),
    )
}

function addChanging({ around: { screen } }: Group, journal: Command): void {
  of(journal, 'create', 'makes a new one: a file, or the tables of PostgreSQL')
    .option('--role <role>', 'an existing role of PostgreSQL that may read and write')
    .option('--keeper <role>', 'an existing role that may delete and erase besides')
    .action((place: string, flags: Flags & { readonly role?: string; readonly keeper?: string }) =>
      createJournal(screen, placeOf(place, flags), { role: flags.role, keeper: flags.keeper }),
    )
  of(journal, 'snapshot', 'takes a snapshot of one id, of what is stored')
    .argument('<id>', 'such as cart/42')
    .requiredOption('--with <module>', 'the module that exports the kind')
    .option('--scope <scope>', 'what of the journal the system owns', 'default')
    .action((place: string, id: string, flags: Flags & { readonly with: string; readonly scope: string }) =>
      snapshotInJournal(screen, placeOf(place, flags), id, { with: flags.with, scope: flags.scope }),
    )
  of(journal, 'projections', 'lists projections with what they read and how far they are; removes one that holds back the deletion of events')
    .option('--remove <name>', 'forgets this one; stop its actor before')
    .action((place: string, flags: Flags & { remove?: string }) => projectionsInJournal(screen, placeOf(place, flags), { remove: flags.remove }))
  of(journal, 'erase', 'deletes the key of a subject, for ever: what was kept of it can no longer be read')
    .argument('<subject>', 'whose data')
    .action((place: string, subject: string, flags: Flags) => eraseInJournal(screen, placeOf(place, flags), subject))
}

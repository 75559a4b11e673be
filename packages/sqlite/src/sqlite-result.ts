// Result codes of SQLite, as every driver reports them in its own way.

/** Primary result codes, as SQLite documents them. */
export const resultCode = {
  busy: 5,
  locked: 6,
  noMemory: 7,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  protocol: 15,
  schema: 17,
  notADatabase: 26,
} as const

/** A failure that a connection reports by itself, with a code of SQLite's. */
export class SqliteFailure extends Error {
  readonly errcode: number
  constructor(errcode: number, message: string) {
    super(message)
    this.errcode = errcode
  }
}

/** The extended result code of an error that SQLite threw; undefined if it was not SQLite. The primary code is the low byte. */
export function sqliteResult(cause: unknown): number | undefined {
  if (typeof cause !== 'object' || cause === null) return undefined
  // node:sqlite and @photostructure/sqlite say errcode, bun:sqlite says errno, beside a code that begins with SQLITE_.
  const { errcode, errno, code } = cause as { readonly errcode?: unknown; readonly errno?: unknown; readonly code?: unknown }
  if (typeof errcode === 'number') return errcode
  if (typeof errno === 'number' && typeof code === 'string' && code.startsWith('SQLITE_')) return errno
  // Deno reports some failures by their text alone.
  return texts.find(([text]) => cause instanceof Error && cause.message.includes(text))?.[1]
}

const texts: readonly (readonly [text: string, code: number])[] = [
  ['unable to open database file', resultCode.cannotOpen],
  ['file is not a database', resultCode.notADatabase],
  ['database disk image is malformed', resultCode.corrupt],
  ['database is locked', resultCode.busy],
  ['database or disk is full', resultCode.full],
  ['disk I/O error', resultCode.ioError],
]

// Text as PostgreSQL can keep it: it takes no NUL and nothing that UTF-8 has not. Both are escaped by U+0001, which is itself escaped,
// so that everything comes back as it was and ids keep their order.

import { isWellFormed } from '../../values/names.ts'

export function toText(text: string): string {
  if (isWellFormed(text) && !text.includes('\0') && !text.includes('\u0001')) return text
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\0\u0001]|\p{Surrogate}/gu, escaped)
}

function escaped(unit: string): string {
  return unit === '\0' ? '\u0001a' : unit === '\u0001' ? '\u0001b' : `\u0001c${unit.charCodeAt(0).toString(16)}`
}

/** Text as one line, for texts that are kept as lines. */
export function toLine(text: string): string {
  const kept = toText(text)
  return kept.includes('\n') ? kept.replaceAll('\n', '\u0001d') : kept
}

/** What `toText` or `toLine` was given. */
export function fromText(text: string): string {
  if (!text.includes('\u0001')) return text
  // oxlint-disable-next-line no-control-regex
  return text.replace(/\u0001(a|b|d|c([0-9a-f]{4}))/g, (_, kind: string, unit: string) =>
    kind === 'a' ? '\0' : kind === 'b' ? '\u0001' : kind === 'd' ? '\n' : String.fromCharCode(Number.parseInt(unit, 16)),
  )
}

/** A list as PostgreSQL writes one. */
export function toArray(list: readonly string[]): string {
  return `{${list.map((item) => `"${toText(item).replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
}
export function toNumbers(list: readonly number[]): string {
  return `{${list.join(',')}}`
}

/** The separator of joined texts, here and as PostgreSQL writes it. No stored text contains it: there, a letter follows U+0001. */
const joint = '\u0001,'
export const sqlJoint = `E'\\x01,'`

/**
 * Long texts as one that PostgreSQL takes apart (`split`), none of them empty: in a list every quote would be escaped here and unescaped there,
 * and JSON is full of them.
 */
export function toJoined(list: readonly string[]): string {
  return list.join(joint)
}
export function split(parameter: string): string {
  return `string_to_array(${parameter}::text, ${sqlJoint})`
}
/** Texts that PostgreSQL joined with `sqlJoint`. */
export function fromJoined(text: string): string[] {
  return text.split(joint)
}

/** A name as PostgreSQL quotes one. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A text as PostgreSQL quotes one. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

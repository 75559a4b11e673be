// Text as PostgreSQL can keep it: it takes no NUL and nothing that UTF-8 has not. Both are escaped by U+0001, which is itself escaped,
// so that everything comes back as it was and ids keep their order.

export function toText(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return /[\0\u0001]|\p{Surrogate}/u.test(text) ? text.replace(/[\0\u0001]|\p{Surrogate}/gu, escaped) : text
}

function escaped(unit: string): string {
  return unit === '\0' ? '\u0001a' : unit === '\u0001' ? '\u0001b' : `\u0001c${unit.charCodeAt(0).toString(16)}`
}

export function fromText(text: string): string {
  if (!text.includes('\u0001')) return text
  // oxlint-disable-next-line no-control-regex
  return text.replace(/\u0001(a|b|c([0-9a-f]{4}))/g, (_, kind: string, unit: string) =>
    kind === 'a' ? '\0' : kind === 'b' ? '\u0001' : String.fromCharCode(Number.parseInt(unit, 16)),
  )
}

/** A list as PostgreSQL writes one. */
export function toArray(list: readonly string[]): string {
  return `{${list.map((item) => `"${toText(item).replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
}

/** A name as PostgreSQL quotes one. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

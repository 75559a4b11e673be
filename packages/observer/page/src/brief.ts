// What comes from the system as it can be shown: a kind, a label, the type of a message or the text of an error may be of any length, and have letters in it that
// turn the order of others around. Paths are left as they are: actors are asked for by them.

const longest = 160
const paths = new Set(['path', 'actor', 'sender', 'recipient', 'askerPath', 'targetPath', 'id'])
/** Commands to a terminal, and letters that turn others around. */
const odd = /(?!\n)\p{Cc}|[\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu

/** The same value, changed where it has to be. Numbers in columns are passed over. */
export function madeBrief<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  const fields = value as Record<string, unknown>
  for (const name of Object.keys(fields)) {
    const field = fields[name]
    if (typeof field === 'object') madeBrief(field)
    else if (typeof field === 'string' && !paths.has(name)) fields[name] = brief(field, name)
  }
  return value
}

/** What a message holds was cut where it was read, and says more. */
function brief(text: string, name: string): string {
  const most = name === 'text' || name === 'sentence' ? 4 * longest : longest
  const cut = text.length > most ? `${text.slice(0, most - 1)}…` : text
  return cut.replaceAll(odd, '�')
}

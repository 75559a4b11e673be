// What one client may make the server keep for it, in bytes. Every number that a peer can choose meets one of these, or a
// bound of the parser; what is beyond is refused with an error, and the connection goes on.

export interface Limits {
  /** Commands that wait for EXEC. */
  readonly transaction: number
  /** Names of channels and patterns. */
  readonly subscriptions: number
  /** Commands received that wait for others before them; beyond, nothing is read. */
  readonly waiting: number
  /** The answer to one command, or to one transaction. */
  readonly reply: number
  /** The name that a client gives itself. */
  readonly name: number
}

const mebibyte = 1024 * 1024

/** The largest command that the parser takes fits into a transaction, with as many words as it may have, and its value into a reply. */
export const defaultLimits: Limits = {
  transaction: 97 * mebibyte,
  subscriptions: 16 * mebibyte,
  waiting: mebibyte,
  reply: 65 * mebibyte,
  name: 512,
}

/** What an array and a text take beside what is in them. */
const perCommand = 64
const perWord = 32

/** What a command costs to keep. */
export function costOf(words: readonly string[]): number {
  let cost = perCommand
  for (const word of words) cost += word.length + perWord
  return cost
}

/** What a subscription costs to keep, here and where it is published. */
export function costOfName(name: string): number {
  return name.length + 256
}

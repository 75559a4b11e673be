// RESP2 replies, as binary-safe text: one char per byte, written as latin1. One object collects the replies of a batch,
// so that a pipeline of sixteen commands is one write. A value may be asked for many times in one command or transaction:
// what is beyond `longest` is an error of the command that asked for it.

export class Replies {
  text = ''
  readonly #longest: number
  constructor(longest: number = Infinity) {
    this.#longest = longest
  }
  ok(): void {
    this.text += '+OK\r\n'
  }
  simple(word: string): void {
    this.text += `+${word}\r\n`
  }
  error(message: string): void {
    this.text += `-${message}\r\n`
  }
  integer(n: number | bigint): void {
    this.text += `:${n}\r\n`
  }
  bulk(value: string | undefined): void {
    if (value === undefined) this.text += '$-1\r\n'
    else if (this.text.length + value.length > this.#longest) throw new CommandError(replyTooLarge)
    else this.text += `$${value.length}\r\n${value}\r\n`
  }
  /** Refuses values of so many bytes before anything is done that could not be undone. */
  expect(bytes: number): void {
    if (this.text.length + bytes > this.#longest) throw new CommandError(replyTooLarge)
  }
  /** The head of an array; its elements follow. */
  array(length: number): void {
    this.text += `*${length}\r\n`
  }
  bulks(values: Iterable<string>, length: number): void {
    this.array(length)
    for (const value of values) this.bulk(value)
  }
  nothing(): void {
    this.text += '*-1\r\n'
  }
}

/** What a command may answer with instead of a result. */
export class CommandError extends Error {}

export const replyTooLarge: string = 'ERR the reply is too large'
export const wrongType: string = 'WRONGTYPE Operation against a key holding the wrong kind of value'
export const notAnInteger: string = 'ERR value is not an integer or out of range'
export const syntaxError: string = 'ERR syntax error'

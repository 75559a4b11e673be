// Where the code of an actor or of a task is found. It crosses the border by identity: whoever defined it posts it beside the
// bytes, once, and bytes only say which one is meant. So no bytes, and nothing that a user has written as data, make a thread
// load a module.

/** Where the code of an actor or of a task is found, as a value that crosses by identity. */
export class Definition {
  readonly #url: string
  readonly #name: string
  constructor(url: string, name: string) {
    this.#url = url
    this.#name = name
  }
  get url(): string {
    return this.#url
  }
  /** Under which the module exports it. */
  get name(): string {
    return this.#name
  }
  /** Whether it is one, and does not only look like one. */
  static is(value: unknown): value is Definition {
    return typeof value === 'object' && value !== null && #url in value
  }
}

/** So many are remembered by both sides of a way; the oldest makes room. */
const kept = 1024

/** Definitions that both sides of a way know by a number. */
export class Definitions {
  readonly #numbers = new Map<string, number>()
  readonly #known = new Map<number, Definition>()
  #next = 0

  /** The number of one that was posted; undefined if it was not, or so long ago that the other side has forgotten. */
  numberOf({ url, name }: Definition): number | undefined {
    return this.#numbers.get(`${url}\n${name}`)
  }
  /** A number for one that is about to be posted. */
  add({ url, name }: Definition): number {
    const number = this.#next++
    this.#numbers.set(`${url}\n${name}`, number)
    shorten(this.#numbers)
    return number
  }
  forget({ url, name }: Definition): void {
    this.#numbers.delete(`${url}\n${name}`)
  }

  /** One was posted by the other side. */
  came(number: number, url: string, name: string): void {
    this.#known.set(number, new Definition(url, name))
    shorten(this.#known)
  }
  get(number: number): Definition | undefined {
    return this.#known.get(number)
  }
}

function shorten(map: Map<unknown, unknown>): void {
  if (map.size > kept) map.delete(map.keys().next().value)
}

// The kinds of arguments that commands of this repository take: what each is written as, what it means, what holds without
// it, and what becomes of its text. A kind refuses by throwing `Refusal`; `command-line.ts` makes the line of it.

/** One argument of a command: an option, or a word in its place. */
export interface Argument<T> {
  /** What stands for its value in the help; undefined for a switch. */
  readonly takes: string | undefined
  readonly means: string
  readonly otherwise: T
  /** The default in words. */
  readonly shown: string | undefined
  /** The names it knows, where it knows them all. */
  readonly names?: readonly string[]
  readonly required?: boolean
  /** What its text stands for; throws `Refusal`, which says what is wrong with it. */
  readonly read: (text: string) => T
}

/** What was given is not what is taken; the message is one sentence, to which the argument's name may still be missing. */
export class Refusal extends Error {}

/** On or off. */
export function flag(means: string): Argument<boolean> {
  return { takes: undefined, means, otherwise: false, shown: 'off', read: () => true }
}

interface Range {
  readonly from?: number
  readonly to?: number
}

const within = (value: number, { from = -Infinity, to = Infinity }: Range): boolean => value >= from && value <= to

function rangeText({ from, to }: Range): string {
  if (from === undefined) return to === undefined ? '' : ` up to ${to}`
  return to === undefined ? ` from ${from} on` : ` from ${from} to ${to}`
}

/** A number in a range that is part of the help; `1e5` is one, nothing at all is none. */
function numeric<D extends number | undefined>(what: string, fits: (value: number) => boolean, means: string, otherwise: D, range: Range) {
  return {
    takes: 'number',
    means,
    otherwise,
    shown: otherwise === undefined ? undefined : String(otherwise),
    read(text: string): number {
      const value = text.trim() === '' ? Number.NaN : Number(text)
      if (!fits(value) || !within(value, range)) throw new Refusal(`takes ${what}${rangeText(range)}, not '${text}'`)
      return value
    },
  } as const
}

/** A whole number, 1 or more unless the range says otherwise. */
export function whole<D extends number | undefined>(means: string, otherwise: D, range: Range = { from: 1 }): Argument<number | D> {
  return numeric('a whole number', Number.isSafeInteger, means, otherwise, range)
}

/** Whole numbers from 1 on, with commas between them. */
export function wholes(means: string, otherwise: readonly number[]): Argument<readonly number[]> {
  const { read } = whole(means, undefined)
  return { takes: 'number,…', means, otherwise, shown: otherwise.join(','), read: (given) => given.split(',').map((part) => read(part)!) }
}

/** Any number of a range. */
export function amount<D extends number | undefined>(means: string, otherwise: D, range: Range): Argument<number | D> {
  return numeric('a number', Number.isFinite, means, otherwise, range)
}

/** Any text but none. */
export function anyText<D extends string | undefined>(takes: string, means: string, otherwise: D): Argument<string | D> {
  const read = (given: string): string => {
    if (given === '') throw new Refusal(`takes a ${takes}, not nothing`)
    return given
  }
  return { takes, means, otherwise, shown: otherwise === '' ? undefined : otherwise, read }
}

/** One of some names. */
export function oneOf<N extends string, D extends N | undefined>(what: string, names: readonly N[], means: string, otherwise: D): Argument<N | D> {
  return { takes: what, means, otherwise, shown: otherwise, names, read: (given) => known(what, names, given) }
}

/** Some of some names, with commas between them; a name may have commas of its own. */
export function someOf(what: string, names: readonly string[], means: string, shown: string): Argument<readonly string[] | undefined> {
  const read = (given: string): readonly string[] => {
    const parts = given.split(',')
    const found: string[] = []
    for (let at = 0; at < parts.length;) {
      const upTo = (end: number): string => parts.slice(at, end).join(',').trim()
      let end = parts.length
      while (end > at + 1 && !names.includes(upTo(end))) end--
      found.push(known(what, names, upTo(end)))
      at = end
    }
    return found
  }
  return { takes: `${what},…`, means, otherwise: undefined, shown, names, read }
}

/** The same, of a word without which the command has nothing to do. */
export function required<T>(argument: Argument<T | undefined>): Argument<T> {
  return { ...argument, required: true } as Argument<T>
}

/** Names as a sentence lists them. */
export function listed(names: readonly string[]): string {
  return names.map((name) => (name.includes(',') ? `'${name}'` : name)).join(', ')
}

function known<N extends string>(what: string, names: readonly N[], given: string): N {
  const name = names.find((n) => n === given)
  if (name === undefined) throw new Refusal(`knows no ${what} '${given}'; there are: ${listed(names)}`)
  return name
}

// The command line of this repository's own commands, read before anything runs. Misuse is one line on stderr that says what
// was given, what there is and how to learn more, and exit code 2; --help is the usage on stdout and exit code 0.
// Pure but for `commandLine` and `misuse`, which touch the host.

import { type Argument, listed, Refusal } from './command-arguments.ts'

type Arguments = Readonly<Record<string, Argument<unknown>>>

/** What a command takes. */
export interface Command<W extends Arguments, O extends Arguments> {
  /** How it is called: `npm run sim`. */
  readonly name: string
  /** What it does, in a sentence or two. */
  readonly about: string
  /** Arguments by their place, in order. */
  readonly words?: W
  /** Arguments by their name, without the dashes. */
  readonly options?: O
}

export type Given<A extends Arguments> = { readonly [K in keyof A]: A[K] extends Argument<infer T> ? T : never }

/** What came of reading: values, or a text to print and no more. */
export type Reading<T> =
  | { readonly type: 'given'; readonly given: T }
  | { readonly type: 'help'; readonly text: string }
  | { readonly type: 'misuse'; readonly text: string }

interface Host {
  readonly process: {
    readonly argv: readonly string[]
    readonly stdout: { write(text: string): void }
    readonly stderr: { write(text: string): void }
    exit(code: number): never
  }
}

/**
 * The arguments of this process. Guarantees values that were checked, defaults where there is none. Ends the process where
 * they are wrong (code 2) or ask for help (code 0); nothing has run by then.
 *
 * @example
 * const { rounds } = commandLine({ name: 'npm run bench:core', about: '…', words: { rounds: whole('rounds', 3) } })
 */
export function commandLine<W extends Arguments = {}, O extends Arguments = {}>(command: Command<W, O>): Given<W> & Given<O> {
  const { process } = globalThis as unknown as Host
  const reading = readArguments(command, process.argv.slice(2))
  if (reading.type === 'given') return reading.given
  const wrong = reading.type === 'misuse'
  process[wrong ? 'stderr' : 'stdout'].write(`${reading.text}\n`)
  return process.exit(wrong ? 2 : 0)
}

/** Ends the process as `commandLine` does, for what only the command itself can know to be wrong. */
export function misuse(command: { readonly name: string }, problem: string): never {
  const { process } = globalThis as unknown as Host
  process.stderr.write(`${lineOf(command.name, problem)}\n`)
  return process.exit(2)
}

const lineOf = (name: string, problem: string): string => `${problem.replaceAll(/\s+/g, ' ')}. For help: ${name} -- --help`

/** Reads arguments; where one is given twice, the last holds. */
export function readArguments<W extends Arguments = {}, O extends Arguments = {}>(
  command: Command<W, O>,
  argv: readonly string[],
): Reading<Given<W> & Given<O>> {
  const words = Object.entries(command.words ?? {})
  const options = new Map(Object.entries(command.options ?? {}))
  const end = argv.indexOf('--')
  if (argv.slice(0, end < 0 ? argv.length : end).some((a) => a === '--help' || a === '-h')) return { type: 'help', text: helpOf(command) }

  const given: Record<string, unknown> = {}
  for (const [name, { otherwise }] of [...words, ...options]) given[name] = otherwise
  let place = 0
  try {
    for (let i = 0; i < argv.length; i++) {
      const arg = argv[i]!
      if (arg === '--' && i === end) continue
      if (looksLikeOption(arg) && (end < 0 || i < end)) {
        const [, name, value] = /^--?([^=]*)(?:=(.*))?$/s.exec(arg)!
        const option = arg.startsWith('--') ? options.get(name!) : undefined
        if (option === undefined) throw new Refusal(`There is no option ${arg.split('=')[0]}; ${whatThereIs(command)}`)
        if (option.takes === undefined && value !== undefined) throw new Refusal(`--${name} takes no value, but was given '${value}'`)
        const next = argv[i + 1]
        const separate = option.takes !== undefined && value === undefined
        if (separate && (next === undefined || looksLikeOption(next))) throw new Refusal(`--${name} needs a value: ${option.means}`)
        given[name!] = valueOf(`--${name}`, option, (separate ? next : value) ?? '')
        if (separate) i++
      } else {
        const word = words[place++]
        if (word === undefined) throw new Refusal(`There is no place for '${arg}'; ${whatThereIs(command)}`)
        given[word[0]] = valueOf(`<${word[0]}>`, word[1], arg)
      }
    }
    for (const [name, { required, means }] of words.slice(place)) if (required === true) throw new Refusal(`<${name}> is missing: ${means}`)
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause
    return { type: 'misuse', text: lineOf(command.name, cause.message) }
  }
  return { type: 'given', given: given as Given<W> & Given<O> }
}

/** A negative number is a value; whoever does not take it says so better than "no such option". */
const looksLikeOption = (arg: string): boolean => /^-(?!$|[\d.])/.test(arg)

function valueOf(name: string, argument: Argument<unknown>, text: string): unknown {
  try {
    return argument.read(text)
  } catch (cause) {
    throw cause instanceof Refusal ? new Refusal(`${name} ${cause.message}`) : cause
  }
}

function whatThereIs({ words = {}, options = {} }: Command<Arguments, Arguments>): string {
  const all = [...Object.keys(words).map((word) => `<${word}>`), ...Object.keys(options).map((option) => `--${option}`), '--help']
  return all.length === 1 ? `there is only ${all[0]}` : `there are: ${all.join(', ')}`
}

function helpOf({ name, about, words = {}, options = {} }: Command<Arguments, Arguments>): string {
  const inOrder = Object.entries(words)
  const shape = inOrder.map(([word, { required }]) => (required === true ? `<${word}>` : `[${word}]`))
  const hasOptions = Object.keys(options).length > 0
  const rows = [
    ...inOrder.map(([word, argument]) => [word, argument] as const),
    ...Object.entries(options).map(
      ([option, argument]) => [argument.takes === undefined ? `--${option}` : `--${option} <${argument.takes}>`, argument] as const,
    ),
  ].map(([left, { means, shown }]) => [left, shown === undefined ? means : `${means} (default: ${shown})`] as const)
  rows.push(['-h, --help', 'prints this'])
  const width = Math.max(...rows.map(([left]) => left.length))
  const lists = [...inOrder, ...Object.entries(options)].flatMap(([argument, { names }]) =>
    names === undefined ? [] : [wrapped(`${argument}: ${listed(names)}`)],
  )
  return [
    `Usage: ${[name, ...(shape.length > 0 || hasOptions ? ['--', ...shape] : []), ...(hasOptions ? ['[options]'] : [])].join(' ')}`,
    wrapped(about),
    rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n'),
    ...lists,
  ].join('\n\n')
}

function wrapped(text: string): string {
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!
    if (last.length + word.length < 100) lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
    else lines.push(word)
  }
  return lines.join('\n')
}

import { expect, test } from 'vitest'
import { amount, anyText, flag, oneOf, required, someOf, whole, wholes } from './command-arguments.ts'
import { readArguments } from './command-line.ts'

const command = {
  name: 'npm run it',
  about: 'Does it.',
  words: { what: required(anyText('thing', 'what to do it to', undefined)), times: whole('how often', 2) },
  options: {
    size: amount('how large', 1.5, { from: 0 }),
    only: someOf('kind', ['a', 'b', 'a, b', 'c, d'], 'just these', 'all'),
    side: oneOf('side', ['left', 'right'], 'where', 'left'),
    steps: wholes('in steps of', [1, 2]),
    seed: whole('which seed', undefined, {}),
    quick: flag('at once'),
  },
}
const read = (...argv: string[]): unknown => {
  const reading = readArguments(command, argv)
  return reading.type === 'given' ? reading.given : reading.text
}
const defaults = { times: 2, size: 1.5, only: undefined, side: 'left', steps: [1, 2], seed: undefined, quick: false }

test('what is not given has its default', () => {
  expect(read('x')).toEqual({ what: 'x', ...defaults })
})

test('words are taken by their place, options anywhere among them, as two words or one; the last of two holds', () => {
  expect(read('--quick', 'x', '--size', '2', '7', '--size=3', '--side', 'right', '--steps', '4,5')).toEqual({
    ...defaults,
    what: 'x',
    times: 7,
    quick: true,
    size: 3,
    side: 'right',
    steps: [4, 5],
  })
})

test('a negative number is a value; what follows -- is a word, whatever it looks like', () => {
  expect(read('x', '--seed', '-3')).toMatchObject({ seed: -3 })
  expect(read('--quick', '--', '--help')).toMatchObject({ what: '--help', quick: true })
})

test.each([
  ['a', ['a']],
  ['a,c, d', ['a', 'c, d']],
  ['c, d,b', ['c, d', 'b']],
  ['a, b', ['a, b']],
  ['b , a', ['b', 'a']],
])('names are told apart even where they have commas: %j', (given, only) => {
  expect(read('x', '--only', given)).toMatchObject({ only })
})

test.each([
  [[], '<what> is missing: what to do it to'],
  [[''], '<what> takes a thing, not nothing'],
  [['x', 'y'], "<times> takes a whole number from 1 on, not 'y'"],
  [['x', '1', 'z'], "There is no place for 'z'; there are: <what>, <times>, --size, --only, --side, --steps, --seed, --quick, --help"],
  [['x', '-q'], 'There is no option -q; there are: <what>, <times>, --size, --only, --side, --steps, --seed, --quick, --help'],
  [['x', '--sizes=3'], 'There is no option --sizes; there are: <what>, <times>, --size, --only, --side, --steps, --seed, --quick, --help'],
  [['x', '--constructor'], 'There is no option --constructor; there are: <what>, <times>, --size, --only, --side, --steps, --seed, --quick, --help'],
  [['x', '--size'], '--size needs a value: how large'],
  [['x', '--size', '--quick'], '--size needs a value: how large'],
  [['x', '--size='], "--size takes a number from 0 on, not ''"],
  [['x', '--size', 'NaN'], "--size takes a number from 0 on, not 'NaN'"],
  [['x', '--size', 'Infinity'], "--size takes a number from 0 on, not 'Infinity'"],
  [['x', '--seed', '1.5'], "--seed takes a whole number, not '1.5'"],
  [['x', '--steps', '1,'], "--steps takes a whole number from 1 on, not ''"],
  [['x', '--only', 'a,e'], "--only knows no kind 'e'; there are: a, b, 'a, b', 'c, d'"],
  [['x', '--side', 'up'], "--side knows no side 'up'; there are: left, right"],
  [['x', '--quick=no'], "--quick takes no value, but was given 'no'"],
  [['x', '--side', 'two\nlines'], "--side knows no side 'two lines'; there are: left, right"],
])('%j is refused in one line', (argv, problem) => {
  expect(read(...argv)).toBe(`${problem}. For help: npm run it -- --help`)
})

test('--help comes before anything that is wrong, and shows every argument with its default', () => {
  expect(read('--frob', '-h')).toBe(read('--help'))
  expect(read('--help')).toBe(`Usage: npm run it -- <what> [times] [options]

Does it.

  what                what to do it to
  times               how often (default: 2)
  --size <number>     how large (default: 1.5)
  --only <kind,…>     just these (default: all)
  --side <side>       where (default: left)
  --steps <number,…>  in steps of (default: 1,2)
  --seed <number>     which seed
  --quick             at once (default: off)
  -h, --help          prints this

only: a, b, 'a, b', 'c, d'

side: left, right`)
})

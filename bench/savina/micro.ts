// The micro benchmarks of Savina: ping-pong, counting, fork-join throughput and creation, thread ring, chameneos, big,
// and the spawn tree known as skynet. Almost no work inside a handler: what is measured is the actor system.

import { type Address, type Benchmark, Dice, expectEqual, type Stage } from './stage.ts'

type Ball = { type: 'ball'; left: number }

function ring(name: string, size: number, hops: number): Benchmark {
  return {
    name,
    unit: 'hops',
    operations: hops,
    kind: 'messages',
    run: (stage, finish) => {
      const members: Address<Ball>[] = []
      let seen = 0
      for (let i = 0; i < size; i++)
        members.push(
          stage.spawn<Ball>((m) => {
            seen++
            if (m.left > 0) members[i + 1 === size ? 0 : i + 1]!.tell({ type: 'ball', left: m.left - 1 })
            else finish(seen)
          }),
        )
      members[0]!.tell({ type: 'ball', left: hops })
    },
    check: (result) => expectEqual(result, hops + 1, name),
  }
}

export const pingPong: Benchmark = ring('ping-pong', 2, 2_000_000)
export const threadRing: Benchmark = ring('thread ring', 100, 2_000_000)

type Count = { type: 'add'; by: number } | { type: 'read' }
const countingMessages = 1_000_000

export const counting: Benchmark = {
  name: 'counting',
  unit: 'messages',
  operations: countingMessages,
  kind: 'messages',
  run: (stage, finish) => {
    let sum = 0
    const counter = stage.spawn<Count>((m) => {
      if (m.type === 'add') sum += m.by
      else finish(sum)
    })
    const producer = stage.spawn<{ type: 'go' }>(() => {
      for (let i = 0; i < countingMessages; i++) counter.tell({ type: 'add', by: 1 })
      counter.tell({ type: 'read' })
    })
    producer.tell({ type: 'go' })
  },
  check: (result) => expectEqual(result, countingMessages, 'counting'),
}

const throughputActors = 60
const throughputMessages = 10_000

export const forkJoinThroughput: Benchmark = {
  name: 'fork-join throughput',
  unit: 'messages',
  operations: throughputActors * throughputMessages,
  kind: 'messages',
  run: (stage, finish) => {
    let done = 0
    let total = 0
    const workers = Array.from({ length: throughputActors }, () => {
      let seen = 0
      return stage.spawn<{ type: 'work'; n: number }>((m) => {
        total += Math.sin(m.n) > 2 ? 0 : 1
        if (++seen < throughputMessages) return false
        if (++done === throughputActors) finish(total)
        return true
      })
    })
    for (let n = 0; n < throughputMessages; n++) for (const worker of workers) worker.tell({ type: 'work', n })
  },
  check: (result) => expectEqual(result, throughputActors * throughputMessages, 'fork-join throughput'),
}

const createActors = 200_000

export const forkJoinCreate: Benchmark = {
  name: 'fork-join create',
  unit: 'actors',
  operations: createActors,
  kind: 'messages',
  run: (stage, finish) => {
    let done = 0
    for (let i = 0; i < createActors; i++)
      stage
        .spawn<{ type: 'work'; n: number }>((m) => {
          if (Math.sin(m.n) < 2 && ++done === createActors) finish(done)
          return true
        })
        .tell({ type: 'work', n: i })
  },
  check: (result) => expectEqual(result, createActors, 'fork-join create'),
}

type Colour = 'yellow' | 'blue' | 'red'
type Chameneo = { type: 'met'; colour: Colour; from: Address<Chameneo> } | { type: 'changed'; colour: Colour } | { type: 'exit' }
type Mall = { type: 'meet'; colour: Colour; from: Address<Chameneo> } | { type: 'count'; meetings: number }
const chameneosActors = 100
const meetings = 200_000

function blend(a: Colour, b: Colour): Colour {
  if (a === b) return a
  for (const c of ['yellow', 'blue', 'red'] as const) if (c !== a && c !== b) return c
  return a
}

export const chameneos: Benchmark = {
  name: 'chameneos',
  unit: 'meetings',
  operations: meetings,
  kind: 'messages',
  run: (stage, finish) => {
    let waiting: { colour: Colour; from: Address<Chameneo> } | undefined
    let left = meetings
    let faded = 0
    let sum = 0
    const mall = stage.spawn<Mall>((m) => {
      if (m.type === 'count') {
        sum += m.meetings
        if (++faded === chameneosActors) finish(sum)
      } else if (left === 0) m.from.tell({ type: 'exit' })
      else if (waiting === undefined) waiting = { colour: m.colour, from: m.from }
      else {
        left--
        const other = waiting
        waiting = undefined
        other.from.tell({ type: 'met', colour: m.colour, from: m.from })
        if (left === 0) return
      }
    })
    const colours: readonly Colour[] = ['yellow', 'blue', 'red']
    for (let i = 0; i < chameneosActors; i++) {
      let colour = colours[i % 3]!
      let met = 0
      const self: Address<Chameneo> = stage.spawn<Chameneo>((m) => {
        if (m.type === 'exit') {
          mall.tell({ type: 'count', meetings: met })
          return true
        }
        met++
        colour = blend(colour, m.colour)
        if (m.type === 'met') m.from.tell({ type: 'changed', colour })
        mall.tell({ type: 'meet', colour, from: self })
        return false
      })
      mall.tell({ type: 'meet', colour, from: self })
    }
  },
  check: (result) => expectEqual(result, meetings * 2, 'chameneos'),
}

type Big = { type: 'ping'; from: number } | { type: 'pong' }
const bigActors = 120
const bigPings = 5_000

export const big: Benchmark = {
  name: 'big',
  unit: 'messages',
  operations: bigActors * bigPings * 2,
  kind: 'messages',
  run: (stage, finish) => {
    const members: Address<Big>[] = []
    let done = 0
    let pongs = 0
    for (let i = 0; i < bigActors; i++) {
      const dice = new Dice(i + 1)
      let left = bigPings
      const ping = (): void => {
        left--
        members[dice.roll(bigActors)]!.tell({ type: 'ping', from: i })
      }
      members.push(
        stage.spawn<Big>((m) => {
          if (m.type === 'ping') return members[m.from]!.tell({ type: 'pong' })
          pongs++
          if (left > 0) ping()
          else if (++done === bigActors) finish(pongs)
        }),
      )
      // The first pong comes from outside and starts the member.
    }
    for (const member of members) member.tell({ type: 'pong' })
  },
  check: (result) => expectEqual(result, bigActors * (bigPings + 1), 'big'),
}

export const skynet: Benchmark = {
  name: 'skynet',
  unit: 'actors',
  operations: 1_111_111,
  kind: 'messages',
  run: (stage, finish) => grow(stage, 0, 1_000_000, { tell: (m) => finish(m.sum) }),
  check: (result) => expectEqual(result, (1_000_000 * 999_999) / 2, 'skynet'),
}

type Sum = { type: 'sum'; sum: number }

/** A node of the tree: a leaf answers its number, an inner one the sum of its ten children. */
function grow(stage: Stage, from: number, size: number, parent: Address<Sum>): void {
  let sum = 0
  let left = 10
  const node = stage.spawn<Sum | { type: 'go' }>((m, self) => {
    if (m.type === 'sum') {
      sum += m.sum
      if (--left > 0) return false
      parent.tell({ type: 'sum', sum })
      return true
    }
    if (size === 1) {
      parent.tell({ type: 'sum', sum: from })
      return true
    }
    for (let i = 0; i < 10; i++) grow(stage, from + (i * size) / 10, size / 10, self)
    return false
  })
  node.tell({ type: 'go' })
}

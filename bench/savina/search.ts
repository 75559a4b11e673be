// Savina's irregular benchmarks: quicksort, N-queens, A*, unbalanced cobwebbed tree, online facility location, and the
// grid of successive over-relaxation.

import { type Address, type Benchmark, Dice, expectClose, expectEqual, type Stage } from './stage.ts'

type Sorted = { type: 'sorted'; values: number[]; place: 'left' | 'right' | 'whole' }
type Sort = Sorted | { type: 'sort'; values: number[] }
const sortValues = 100_000
const sortThreshold = 2_000

export const quicksort: Benchmark = {
  name: 'quicksort',
  unit: 'values',
  operations: sortValues,
  kind: 'compute',
  run: (stage, finish) => {
    const dice = new Dice(17)
    const values = Array.from({ length: sortValues }, () => dice.roll(1 << 30))
    sorter(stage, { tell: (m) => finish(m.type === 'sorted' ? m.values : []) }, 'whole').tell({ type: 'sort', values })
  },
  check: (result) => {
    const values = result as number[]
    expectEqual(values.length, sortValues, 'quicksort')
    expectEqual(
      values.every((v, i) => i === 0 || values[i - 1]! <= v),
      true,
      'quicksort order',
    )
  },
}

function sorter(stage: Stage, parent: Address<Sort>, place: 'left' | 'right' | 'whole'): Address<Sort> {
  let left: number[] | undefined
  let right: number[] | undefined
  let middle: number[] = []
  return stage.spawn<Sort>((m, self) => {
    if (m.type === 'sort') {
      if (m.values.length < sortThreshold) {
        parent.tell({ type: 'sorted', values: m.values.toSorted((a, b) => a - b), place })
        return true
      }
      const pivot = m.values[m.values.length >> 1]!
      middle = m.values.filter((v) => v === pivot)
      sorter(stage, self, 'left').tell({ type: 'sort', values: m.values.filter((v) => v < pivot) })
      sorter(stage, self, 'right').tell({ type: 'sort', values: m.values.filter((v) => v > pivot) })
      return false
    }
    if (m.place === 'left') left = m.values
    else right = m.values
    if (left === undefined || right === undefined) return false
    parent.tell({ type: 'sorted', values: left.concat(middle, right), place })
    return true
  })
}

type Queens = { type: 'work'; rows: readonly number[] } | { type: 'result'; solutions: number; spawned: number }
const board = 12
const queensThreshold = 4

export const nQueens: Benchmark = {
  name: 'N-queens',
  unit: 'solutions',
  operations: 14_200,
  kind: 'compute',
  run: (stage, finish) => {
    const workers: Address<Queens>[] = []
    let outstanding = 1
    let solutions = 0
    let turn = 0
    const master = stage.spawn<Queens>((m) => {
      if (m.type === 'work') workers[turn++ % workers.length]!.tell({ type: 'work', rows: m.rows })
      else {
        solutions += m.solutions
        outstanding += m.spawned - 1
        if (outstanding === 0) finish(solutions)
      }
    })
    for (let w = 0; w < 20; w++)
      workers.push(
        stage.spawn<Queens>((m) => {
          if (m.type !== 'work') return
          if (m.rows.length >= queensThreshold) return master.tell({ type: 'result', solutions: solve(m.rows), spawned: 0 })
          let spawned = 0
          for (let column = 0; column < board; column++)
            if (safe(m.rows, column)) {
              spawned++
              master.tell({ type: 'work', rows: [...m.rows, column] })
            }
          master.tell({ type: 'result', solutions: 0, spawned })
        }),
      )
    master.tell({ type: 'work', rows: [] })
  },
  check: (result) => expectEqual(result, 14_200, 'N-queens'),
}

function safe(rows: readonly number[], column: number): boolean {
  const row = rows.length
  return rows.every((c, r) => c !== column && Math.abs(c - column) !== row - r)
}

function solve(rows: readonly number[]): number {
  if (rows.length === board) return 1
  let solutions = 0
  for (let column = 0; column < board; column++) if (safe(rows, column)) solutions += solve([...rows, column])
  return solutions
}

type Star = { type: 'visit'; node: number; cost: number } | { type: 'done' }
const side = 30

/** Neighbours in a cube of `side`³ nodes, with a cost that depends on the place. */
function neighbours(node: number): [number, number][] {
  const x = node % side
  const y = Math.floor(node / side) % side
  const z = Math.floor(node / (side * side))
  const out: [number, number][] = []
  const step = (dx: number, dy: number, dz: number): void => {
    if (x + dx < side && y + dy < side && z + dz < side)
      out.push([node + dx + dy * side + dz * side * side, 1 + ((x * 7 + y * 5 + z * 3 + dx + 2 * dy) % 4)])
  }
  step(1, 0, 0)
  step(0, 1, 0)
  step(0, 0, 1)
  return out
}

export const aStar: Benchmark = {
  name: 'A*',
  unit: 'nodes',
  operations: side ** 3,
  kind: 'compute',
  run: (stage, finish) => {
    const best = new Float64Array(side ** 3).fill(Infinity)
    const workers: Address<Star>[] = []
    let outstanding = 1
    let turn = 0
    const master = stage.spawn<Star>((m) => {
      if (m.type === 'visit') {
        outstanding++
        workers[turn++ % workers.length]!.tell({ type: 'visit', node: m.node, cost: m.cost })
      } else if (--outstanding === 0) finish(best[side ** 3 - 1])
    })
    for (let w = 0; w < 20; w++)
      workers.push(
        stage.spawn<Star>((m) => {
          if (m.type !== 'visit') return
          // A worker goes on for a while by itself, as the guided search does, and hands the rest to others.
          const stack: [number, number][] = [[m.node, m.cost]]
          let budget = 1_024
          for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
            const [node, cost] = at
            if (cost >= best[node]!) continue
            best[node] = cost
            for (const [next, weight] of neighbours(node)) {
              if (cost + weight >= best[next]!) continue
              if (--budget > 0) stack.unshift([next, cost + weight])
              else master.tell({ type: 'visit', node: next, cost: cost + weight })
            }
          }
          master.tell({ type: 'done' })
        }),
      )
    workers[0]!.tell({ type: 'visit', node: 0, cost: 0 })
  },
  check: (result) => expectEqual(result, shortest(), 'A*'),
}

function shortest(): number {
  const best = new Float64Array(side ** 3).fill(Infinity)
  best[0] = 0
  for (let node = 0; node < side ** 3; node++) for (const [next, weight] of neighbours(node)) best[next] = Math.min(best[next]!, best[node]! + weight)
  return best[side ** 3 - 1]!
}

type Tree = { type: 'grow'; height: number; budget: number } | { type: 'count'; nodes: number }
const cobwebNodes = 100_000

export const cobwebbedTree: Benchmark = {
  name: 'unbalanced cobwebbed tree',
  unit: 'nodes',
  operations: cobwebNodes,
  kind: 'messages',
  run: (stage, finish) =>
    cobweb(stage, { tell: (m) => finish(m.type === 'count' ? m.nodes : 0) }, 1).tell({ type: 'grow', height: 0, budget: cobwebNodes }),
  check: (result) => expectEqual(result, cobwebNodes, 'unbalanced cobwebbed tree'),
}

/** Grows unevenly by its seed, does a little work in each node, and counts itself from the leaves up. */
function cobweb(stage: Stage, parent: Address<Tree>, seed: number): Address<Tree> {
  const dice = new Dice(seed)
  let pending = 0
  let nodes = 1
  return stage.spawn<Tree>((m, self) => {
    if (m.type === 'count') {
      nodes += m.nodes
      pending--
    } else {
      let rest = m.budget - 1
      const wanted = 2 + dice.roll(8)
      for (let c = 0; c < wanted && rest > 0; c++) {
        const share = c === wanted - 1 ? rest : Math.min(rest, 1 + dice.roll(Math.max(1, Math.ceil(rest / 2))))
        rest -= share
        pending++
        cobweb(stage, self, dice.roll(1 << 30)).tell({ type: 'grow', height: m.height + 1, budget: share })
      }
    }
    if (pending > 0) return false
    parent.tell({ type: 'count', nodes })
    return true
  })
}

type Point = { readonly x: number; readonly y: number }
type Facility = { type: 'customer'; at: Point }
type Producer = { type: 'next' }
const customersInTown = 100_000
const opening = 0.05

export const facilityLocation: Benchmark = {
  name: 'online facility location',
  unit: 'customers',
  operations: customersInTown,
  kind: 'messages',
  run: (stage, finish) => {
    const dice = new Dice(23)
    let served = 0
    let sent = 0
    let cost = 0
    const producer: Address<Producer> = stage.spawn<Producer>(() => {
      if (sent++ < customersInTown) root.tell({ type: 'customer', at: { x: dice.next(), y: dice.next() } })
      else finish(cost > 0 ? served : -1)
    })
    // A quadrant that has cost as much as a new facility opens one and splits into four; who serves asks for the next.
    const quadrant = (centre: Point, half: number, depth: number): Address<Facility> => {
      let spent = 0
      let children: Address<Facility>[] | undefined
      return stage.spawn<Facility>((m) => {
        if (children !== undefined) {
          const child = children[(m.at.x > centre.x ? 1 : 0) + (m.at.y > centre.y ? 2 : 0)]!
          return child.tell({ type: 'customer', at: m.at })
        }
        served++
        const distance = Math.hypot(m.at.x - centre.x, m.at.y - centre.y)
        spent += distance * opening
        cost += distance
        if (spent > half && depth < 8)
          children = [0, 1, 2, 3].map((q) =>
            quadrant({ x: centre.x + (q & 1 ? half : -half) / 2, y: centre.y + (q & 2 ? half : -half) / 2 }, half / 2, depth + 1),
          )
        producer.tell({ type: 'next' })
      })
    }
    const root = quadrant({ x: 0.5, y: 0.5 }, 0.5, 0)
    producer.tell({ type: 'next' })
  },
  check: (result) => expectEqual(result, customersInTown, 'online facility location'),
}

type Cell = { type: 'value'; round: number; value: number } | { type: 'start' }
const grid = 40
const relaxations = 40
const omega = 1.25

function neighbourhood(i: number): number[] {
  const x = i % grid
  const y = Math.floor(i / grid)
  return [x > 0 ? i - 1 : -1, x < grid - 1 ? i + 1 : -1, y > 0 ? i - grid : -1, y < grid - 1 ? i + grid : -1].filter((n) => n >= 0)
}
const isRed = (i: number): boolean => ((i % grid) + Math.floor(i / grid)) % 2 === 0

export const overRelaxation: Benchmark = {
  name: 'successive over-relaxation',
  unit: 'updates',
  operations: grid * grid * relaxations,
  kind: 'messages',
  run: (stage, finish) => {
    const members: Address<Cell>[] = []
    let done = 0
    let sum = 0
    for (let i = 0; i < grid * grid; i++) {
      const around = neighbourhood(i)
      const red = isRed(i)
      let value = i % 10
      let round = 0
      let arrived = 0
      let total = 0
      const share = (): void => {
        for (const n of around) members[n]!.tell({ type: 'value', round, value })
      }
      // Red goes first: it needs what black had before the round; black needs what red has after it.
      members.push(
        stage.spawn<Cell>((m) => {
          if (m.type === 'start') {
            if (!red) share()
            return false
          }
          if (m.round !== round) throw new Error(`a value of round ${m.round} in round ${round}`)
          total += m.value
          if (++arrived < around.length) return false
          value += omega * (total / around.length - value)
          arrived = 0
          total = 0
          if (red) share()
          round++
          if (round < relaxations) {
            if (!red) share()
            return false
          }
          sum += value
          if (++done === grid * grid) finish(sum)
          return true
        }),
      )
    }
    for (const member of members) member.tell({ type: 'start' })
  },
  check: (result) => expectClose(result, relaxed(), 1e-6, 'successive over-relaxation'),
}

function relaxed(): number {
  const values = Float64Array.from({ length: grid * grid }, (_, i) => i % 10)
  for (let r = 0; r < relaxations; r++)
    for (const colour of [true, false])
      for (let i = 0; i < values.length; i++) {
        if (isRed(i) !== colour) continue
        const around = neighbourhood(i)
        values[i]! += omega * (around.reduce((a, n) => a + values[n]!, 0) / around.length - values[i]!)
      }
  return values.reduce((a, b) => a + b, 0)
}

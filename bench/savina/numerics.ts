// Savina's numeric benchmarks, one master and its workers each: trapezoid, pi to many digits, matrix multiplication,
// all-pairs shortest path.

import { type Address, type Benchmark, Dice, expectClose, expectEqual } from './stage.ts'

const pieces = 1_000_000
const trapezoidWorkers = 100

function curve(x: number): number {
  const a = Math.sin(x ** 3 - 1) / (x + 1)
  return a * Math.sqrt(1 + Math.exp(Math.sqrt(2 * x)))
}

function area(from: number, count: number, width: number): number {
  let sum = 0
  for (let i = 0; i < count; i++) {
    const x = from + i * width
    sum += ((curve(x) + curve(x + width)) / 2) * width
  }
  return sum
}

export const trapezoid: Benchmark = {
  name: 'trapezoid',
  unit: 'pieces',
  operations: pieces,
  kind: 'compute',
  run: (stage, finish) => {
    const width = 4 / pieces
    const each = pieces / trapezoidWorkers
    let sum = 0
    let left = trapezoidWorkers
    const master = stage.spawn<{ type: 'part'; area: number }>((m) => {
      sum += m.area
      if (--left === 0) finish(sum)
    })
    for (let w = 0; w < trapezoidWorkers; w++)
      stage
        .spawn<{ type: 'work'; from: number }>((m) => {
          master.tell({ type: 'part', area: area(m.from, each, width) })
          return true
        })
        .tell({ type: 'work', from: 1 + w * each * width })
  },
  check: (result) => expectClose(result, area(1, pieces, 4 / pieces), 1e-9, 'trapezoid'),
}

const digits = 3_000
const scale = 10n ** BigInt(digits + 10)

/** Term k of the Bailey–Borwein–Plouffe series, as a scaled integer. */
function piTerm(k: number): bigint {
  const n = 8n * BigInt(k)
  return ((4n * scale) / (n + 1n) - (2n * scale) / (n + 4n) - scale / (n + 5n) - scale / (n + 6n)) / 16n ** BigInt(k)
}
const piTerms = Math.ceil(digits / 1.2) + 10

export const piPrecision: Benchmark = {
  name: 'pi precision',
  unit: 'terms',
  operations: piTerms,
  kind: 'compute',
  run: (stage, finish) => {
    let sum = 0n
    let next = 0
    let done = 0
    const master: Address<{ type: 'term'; value: bigint; from: Address<{ type: 'work'; k: number }> }> = stage.spawn((m) => {
      sum += m.value
      if (next < piTerms) m.from.tell({ type: 'work', k: next++ })
      if (++done === piTerms) finish(sum)
    })
    for (let w = 0; w < 20; w++) {
      const worker: Address<{ type: 'work'; k: number }> = stage.spawn((m) => master.tell({ type: 'term', value: piTerm(m.k), from: worker }))
      worker.tell({ type: 'work', k: next++ })
    }
  },
  check: (result) => expectEqual(String(result).slice(0, 50), '31415926535897932384626433832795028841971693993751', 'pi precision'),
}

const order = 256
const block = 16

type Multiply = { type: 'multiply'; row: number; column: number; size: number }

export const matrixMultiplication: Benchmark = {
  name: 'matrix multiplication',
  unit: 'multiplications',
  operations: order ** 3,
  kind: 'compute',
  run: (stage, finish) => {
    const a = Float64Array.from({ length: order * order }, (_, i) => i % 7)
    const b = Float64Array.from({ length: order * order }, (_, i) => i % 5)
    const c = new Float64Array(order * order)
    let blocks = (order / block) ** 2
    const done = stage.spawn<{ type: 'done' }>(() => {
      if (--blocks === 0) finish(checksum(c))
    })
    // Divides its square into four, by new actors, until it is small enough to do.
    const divide = (m: Multiply): void => {
      const worker = stage.spawn<Multiply>(({ row, column, size }) => {
        if (size > block) {
          const half = size / 2
          for (let q = 0; q < 4; q++) divide({ type: 'multiply', row: row + (q >> 1) * half, column: column + (q & 1) * half, size: half })
        } else {
          multiplyBlock(a, b, c, row, column, size)
          done.tell({ type: 'done' })
        }
        return true
      })
      worker.tell(m)
    }
    divide({ type: 'multiply', row: 0, column: 0, size: order })
  },
  check: (result) => {
    const a = Float64Array.from({ length: order * order }, (_, i) => i % 7)
    const b = Float64Array.from({ length: order * order }, (_, i) => i % 5)
    const c = new Float64Array(order * order)
    multiplyBlock(a, b, c, 0, 0, order)
    expectEqual(result, checksum(c), 'matrix multiplication')
  },
}

function multiplyBlock(a: Float64Array, b: Float64Array, c: Float64Array, row: number, column: number, size: number): void {
  for (let i = row; i < row + size; i++)
    for (let j = column; j < column + size; j++) {
      let sum = 0
      for (let k = 0; k < order; k++) sum += a[i * order + k]! * b[k * order + j]!
      c[i * order + j] = sum
    }
}

function checksum(values: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum = (sum * 31 + values[i]!) % 1_000_003
  return sum
}

const nodes = 192
const tile = 48
const tiles = nodes / tile

function graph(): Float64Array {
  const dice = new Dice(5)
  const g = Float64Array.from({ length: nodes * nodes }, () => 1 + dice.roll(100))
  for (let i = 0; i < nodes; i++) g[i * nodes + i] = 0
  return g
}

type Tile = { type: 'start' } | { type: 'tile'; k: number; row: number; column: number; data: Float64Array }

export const allPairsShortestPath: Benchmark = {
  name: 'all-pairs shortest path',
  unit: 'relaxations',
  operations: nodes ** 3,
  kind: 'compute',
  run: (stage, finish) => {
    const input = graph()
    const members: Address<Tile>[] = []
    let done = 0
    let sum = 0
    // Each actor owns a tile; in round k it needs the tiles of its row and column that hold row and column k.
    for (let r = 0; r < tiles; r++)
      for (let c = 0; c < tiles; c++) {
        let own = new Float64Array(tile * tile)
        for (let i = 0; i < tile; i++) for (let j = 0; j < tile; j++) own[i * tile + j] = input[(r * tile + i) * nodes + c * tile + j]!
        const arrived = new Map<number, Map<number, Float64Array>>()
        let k = 0
        const share = (): void => {
          for (let o = 0; o < tiles; o++) {
            if (o !== c) members[r * tiles + o]!.tell({ type: 'tile', k, row: r, column: c, data: own })
            if (o !== r) members[o * tiles + c]!.tell({ type: 'tile', k, row: r, column: c, data: own })
          }
        }
        const advance = (): boolean => {
          while (k < nodes && (arrived.get(k)?.size ?? 0) === 2 * (tiles - 1)) {
            const holder = Math.floor(k / tile)
            const inRow = holder === c ? own : arrived.get(k)!.get(r * tiles + holder)!
            const inColumn = holder === r ? own : arrived.get(k)!.get(holder * tiles + c)!
            own = relax(own, inRow, inColumn, k % tile)
            arrived.delete(k)
            if (++k < nodes) share()
          }
          if (k < nodes) return false
          sum += own.reduce((a, b) => a + b, 0)
          if (++done === tiles * tiles) finish(sum)
          return true
        }
        members.push(
          stage.spawn<Tile>((m) => {
            if (m.type === 'start') share()
            else {
              let round = arrived.get(m.k)
              if (round === undefined) arrived.set(m.k, (round = new Map()))
              round.set(m.row * tiles + m.column, m.data)
            }
            return advance()
          }),
        )
      }
    for (const member of members) member.tell({ type: 'start' })
  },
  check: (result) => {
    const g = graph()
    for (let k = 0; k < nodes; k++)
      for (let i = 0; i < nodes; i++)
        for (let j = 0; j < nodes; j++) g[i * nodes + j] = Math.min(g[i * nodes + j]!, g[i * nodes + k]! + g[k * nodes + j]!)
    expectEqual(
      result,
      g.reduce((a, b) => a + b, 0),
      'all-pairs shortest path',
    )
  },
}

function relax(own: Float64Array, inRow: Float64Array, inColumn: Float64Array, k: number): Float64Array<ArrayBuffer> {
  const next = new Float64Array(tile * tile)
  for (let i = 0; i < tile; i++)
    for (let j = 0; j < tile; j++) next[i * tile + j] = Math.min(own[i * tile + j]!, inRow[i * tile + k]! + inColumn[k * tile + j]!)
  return next
}

// Savina's benchmarks of shared state behind an actor: dictionary, sorted list, bounded buffer, bank transaction,
// logistic map.

import { type Address, type Benchmark, Dice, expectEqual } from './stage.ts'

type DictionaryReply = { type: 'value'; value: number }
type Dictionary =
  | { type: 'put'; key: number; value: number; from: Address<DictionaryReply> }
  | { type: 'get'; key: number; from: Address<DictionaryReply> }
const dictionaryWorkers = 20
const dictionaryRequests = 50_000

export const concurrentDictionary: Benchmark = {
  name: 'concurrent dictionary',
  unit: 'requests',
  operations: dictionaryWorkers * dictionaryRequests,
  kind: 'messages',
  run: (stage, finish) => {
    const table = new Map<number, number>()
    let requests = 0
    let done = 0
    const dictionary = stage.spawn<Dictionary>((m) => {
      requests++
      if (m.type === 'put') table.set(m.key, m.value)
      m.from.tell({ type: 'value', value: table.get(m.key) ?? 0 })
    })
    for (let w = 0; w < dictionaryWorkers; w++) {
      const dice = new Dice(w + 1)
      let left = dictionaryRequests
      const worker: Address<DictionaryReply> = stage.spawn<DictionaryReply>(() => {
        if (left-- === 0) {
          if (++done === dictionaryWorkers) finish(requests)
          return true
        }
        const key = dice.roll(512)
        if (dice.roll(100) < 10) dictionary.tell({ type: 'put', key, value: left, from: worker })
        else dictionary.tell({ type: 'get', key, from: worker })
        return false
      })
      worker.tell({ type: 'value', value: 0 })
    }
  },
  check: (result) => expectEqual(result, dictionaryWorkers * dictionaryRequests, 'concurrent dictionary'),
}

type ListReply = { type: 'result'; value: number }
type List = { type: 'write' | 'contains' | 'size'; value: number; from: Address<ListReply> }
const listWorkers = 20
const listRequests = 2_000

interface Link {
  value: number
  next: Link | undefined
}

export const concurrentSortedList: Benchmark = {
  name: 'concurrent sorted list',
  unit: 'requests',
  operations: listWorkers * listRequests,
  kind: 'compute',
  run: (stage, finish) => {
    let head: Link | undefined
    let size = 0
    const insert = (value: number): void => {
      size++
      if (head === undefined || value <= head.value) {
        head = { value, next: head }
        return
      }
      let at = head
      while (at.next !== undefined && at.next.value < value) at = at.next
      at.next = { value, next: at.next }
    }
    const contains = (value: number): boolean => {
      let at = head
      while (at !== undefined && at.value < value) at = at.next
      return at?.value === value
    }
    const list = stage.spawn<List>((m) => {
      if (m.type === 'write') insert(m.value)
      m.from.tell({ type: 'result', value: m.type === 'contains' ? Number(contains(m.value)) : size })
    })
    let done = 0
    let writes = 0
    for (let w = 0; w < listWorkers; w++) {
      const dice = new Dice(w + 1)
      let left = listRequests
      const worker: Address<ListReply> = stage.spawn<ListReply>(() => {
        if (left-- === 0) {
          if (++done === listWorkers) finish(ordered(head) === size && size === writes)
          return true
        }
        const kind = dice.roll(100)
        const type = kind < 10 ? 'write' : kind < 11 ? 'size' : 'contains'
        if (type === 'write') writes++
        list.tell({ type, value: dice.roll(10_000), from: worker })
        return false
      })
      worker.tell({ type: 'result', value: 0 })
    }
  },
  check: (result) => expectEqual(result, true, 'concurrent sorted list'),
}

/** The length of a list that is in order, or −1. */
function ordered(head: Link | undefined): number {
  let length = 0
  for (let at = head; at !== undefined; at = at.next) {
    length++
    if (at.next !== undefined && at.next.value < at.value) return -1
  }
  return length
}

type Buffer = { type: 'item'; item: number; from: Address<Producer> } | { type: 'ready'; consumer: Address<Consumer> } | { type: 'finished' }
type Producer = { type: 'produce' }
type Consumer = { type: 'consume'; item: number } | { type: 'exit' }
const bufferSize = 50
const producers = 40
const consumers = 40
const itemsEach = 2_000
const itemCost = 25

/** A little arithmetic that nobody can leave out, standing in for making or using an item. */
function churn(seed: number, rounds: number): number {
  let x = seed
  for (let i = 0; i < rounds; i++) x = Math.sqrt(x + i) * 1.0001
  return x
}

export const boundedBuffer: Benchmark = {
  name: 'bounded buffer',
  unit: 'items',
  operations: producers * itemsEach,
  kind: 'compute',
  run: (stage, finish) => {
    const buffered: number[] = []
    const idleConsumers: Address<Consumer>[] = []
    const waitingProducers: Address<Producer>[] = []
    let active = producers
    let consumed = 0
    let ended = false
    const endIfDone = (): void => {
      if (active > 0 || buffered.length > 0 || idleConsumers.length < consumers || ended) return
      ended = true
      for (const consumer of idleConsumers) consumer.tell({ type: 'exit' })
      finish(consumed)
    }
    const manager = stage.spawn<Buffer>((m) => {
      if (m.type === 'finished') active--
      else if (m.type === 'ready') {
        const item = buffered.shift()
        if (item === undefined) idleConsumers.push(m.consumer)
        else {
          m.consumer.tell({ type: 'consume', item })
          waitingProducers.shift()?.tell({ type: 'produce' })
        }
      } else {
        const consumer = idleConsumers.pop()
        if (consumer === undefined) buffered.push(m.item)
        else consumer.tell({ type: 'consume', item: m.item })
        if (buffered.length >= bufferSize) waitingProducers.push(m.from)
        else m.from.tell({ type: 'produce' })
      }
      endIfDone()
    })
    for (let p = 0; p < producers; p++) {
      let left = itemsEach
      const producer: Address<Producer> = stage.spawn<Producer>(() => {
        if (left-- === 0) {
          manager.tell({ type: 'finished' })
          return true
        }
        manager.tell({ type: 'item', item: churn(left, itemCost), from: producer })
        return false
      })
      producer.tell({ type: 'produce' })
    }
    for (let c = 0; c < consumers; c++) {
      const consumer: Address<Consumer> = stage.spawn<Consumer>((m) => {
        if (m.type === 'exit') return true
        if (churn(m.item, itemCost) > 0) consumed++
        manager.tell({ type: 'ready', consumer })
        return false
      })
      manager.tell({ type: 'ready', consumer })
    }
  },
  check: (result) => expectEqual(result, producers * itemsEach, 'bounded buffer'),
}

type Teller = { type: 'done' }
type Account =
  | { type: 'transfer'; amount: number; to: Address<Account>; teller: Address<Teller> }
  | { type: 'credit'; amount: number; from: Address<Account> }
  | { type: 'credited' }
const accounts = 1_000
const transactions = 50_000

export const bankTransaction: Benchmark = {
  name: 'bank transaction',
  unit: 'transactions',
  operations: transactions,
  kind: 'messages',
  run: (stage, finish) => {
    const balances = new Float64Array(accounts).fill(1_000)
    const members: Address<Account>[] = []
    for (let i = 0; i < accounts; i++) {
      // While a debit waits for its credit, further transfers of this account wait too; credits go on.
      const queue: Extract<Account, { type: 'transfer' }>[] = []
      let current: Extract<Account, { type: 'transfer' }> | undefined
      const begin = (m: Extract<Account, { type: 'transfer' }>): void => {
        current = m
        balances[i]! -= m.amount
        m.to.tell({ type: 'credit', amount: m.amount, from: members[i]! })
      }
      members.push(
        stage.spawn<Account>((m) => {
          if (m.type === 'credit') {
            balances[i]! += m.amount
            m.from.tell({ type: 'credited' })
          } else if (m.type === 'credited') {
            current!.teller.tell({ type: 'done' })
            current = undefined
            const next = queue.shift()
            if (next !== undefined) begin(next)
          } else if (current === undefined) begin(m)
          else queue.push(m)
        }),
      )
    }
    let left = transactions
    const teller: Address<Teller> = stage.spawn<Teller>(() => {
      if (--left === 0) finish(balances.reduce((a, b) => a + b, 0))
    })
    const dice = new Dice(7)
    for (let t = 0; t < transactions; t++) {
      const from = dice.roll(accounts - 1)
      const to = from + 1 + dice.roll(accounts - from - 1)
      members[from]!.tell({ type: 'transfer', amount: dice.roll(100), to: members[to]!, teller })
    }
  },
  check: (result) => expectEqual(result, accounts * 1_000, 'bank transaction'),
}

type Series = { type: 'next' } | { type: 'term'; term: number } | { type: 'total' }
type Compute = { type: 'compute'; term: number; from: Address<Series> }
const seriesCount = 10
const terms = 100_000

export const logisticMap: Benchmark = {
  name: 'logistic map',
  unit: 'terms',
  operations: seriesCount * terms,
  kind: 'messages',
  run: (stage, finish) => {
    let sum = 0
    let done = 0
    for (let s = 0; s < seriesCount; s++) {
      const rate = 3.46 + s * 0.0025
      let term = s * 0.0025
      let left = terms
      const computer = stage.spawn<Compute>((m) => m.from.tell({ type: 'term', term: rate * m.term * (1 - m.term) }))
      const series: Address<Series> = stage.spawn<Series>((m) => {
        if (m.type === 'term') {
          term = m.term
          left--
        }
        if (left > 0) {
          computer.tell({ type: 'compute', term, from: series })
          return false
        }
        sum += term
        if (++done === seriesCount) finish(sum)
        return true
      })
      series.tell({ type: 'next' })
    }
  },
  check: (result) => expectEqual(result, expectedLogistic(), 'logistic map'),
}

function expectedLogistic(): number {
  let sum = 0
  for (let s = 0; s < seriesCount; s++) {
    const rate = 3.46 + s * 0.0025
    let term = s * 0.0025
    for (let i = 0; i < terms; i++) term = rate * term * (1 - term)
    sum += term
  }
  return sum
}

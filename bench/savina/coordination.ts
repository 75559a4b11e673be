// Savina's coordination puzzles: dining philosophers, sleeping barber, cigarette smokers.

import { type Address, type Benchmark, Dice, expectEqual } from './stage.ts'

type Philosopher = { type: 'denied' } | { type: 'eat' } | { type: 'start' }
type Arbitrator = { type: 'hungry'; id: number; from: Address<Philosopher> } | { type: 'done'; id: number } | { type: 'exit' }
const philosophers = 20
const meals = 20_000

export const diningPhilosophers: Benchmark = {
  name: 'dining philosophers',
  unit: 'meals',
  operations: philosophers * meals,
  kind: 'messages',
  run: (stage, finish) => {
    const forks = new Array<boolean>(philosophers).fill(false)
    let eaten = 0
    let left = philosophers
    const arbitrator = stage.spawn<Arbitrator>((m) => {
      if (m.type === 'exit') {
        if (--left === 0) finish(eaten)
        return
      }
      const right = (m.id + 1) % philosophers
      if (m.type === 'done') forks[m.id] = forks[right] = false
      else if (forks[m.id] || forks[right]) m.from.tell({ type: 'denied' })
      else {
        forks[m.id] = forks[right] = true
        m.from.tell({ type: 'eat' })
      }
    })
    for (let id = 0; id < philosophers; id++) {
      let hungry = meals
      const self: Address<Philosopher> = stage.spawn<Philosopher>((m) => {
        if (m.type === 'eat') {
          eaten++
          arbitrator.tell({ type: 'done', id })
          if (--hungry === 0) {
            arbitrator.tell({ type: 'exit' })
            return true
          }
        }
        arbitrator.tell({ type: 'hungry', id, from: self })
        return false
      })
      self.tell({ type: 'start' })
    }
  },
  check: (result) => expectEqual(result, philosophers * meals, 'dining philosophers'),
}

type Customer = { type: 'full' } | { type: 'wait' } | { type: 'start' } | { type: 'done' } | { type: 'enter' }
type Room = { type: 'enter'; customer: Address<Customer> } | { type: 'next' }
type Barber = { type: 'cut'; customer: Address<Customer> } | { type: 'sleep' }
const customers = 2_000
const chairs = 100
const haircut = 50

export const sleepingBarber: Benchmark = {
  name: 'sleeping barber',
  unit: 'haircuts',
  operations: customers,
  kind: 'messages',
  run: (stage, finish) => {
    const waiting: Address<Customer>[] = []
    let asleep = true
    let cuts = 0
    let hair = 1
    let left = customers
    const room: Address<Room> = stage.spawn<Room>((m) => {
      if (m.type === 'enter') {
        if (waiting.length === chairs) return m.customer.tell({ type: 'full' })
        waiting.push(m.customer)
        m.customer.tell({ type: 'wait' })
        if (!asleep) return
        asleep = false
      }
      const next = waiting.shift()
      if (next === undefined) {
        asleep = true
        barber.tell({ type: 'sleep' })
      } else barber.tell({ type: 'cut', customer: next })
    })
    const barber: Address<Barber> = stage.spawn<Barber>((m) => {
      if (m.type === 'sleep') return
      m.customer.tell({ type: 'start' })
      for (let i = 0; i < haircut; i++) hair = Math.sqrt(hair + i)
      cuts++
      m.customer.tell({ type: 'done' })
      room.tell({ type: 'next' })
    })
    for (let c = 0; c < customers; c++) {
      const self: Address<Customer> = stage.spawn<Customer>((m) => {
        if (m.type === 'full' || m.type === 'enter') room.tell({ type: 'enter', customer: self })
        else if (m.type === 'done') {
          if (--left === 0) finish(cuts)
          return true
        }
        return false
      })
      self.tell({ type: 'enter' })
    }
  },
  check: (result) => expectEqual(result, customers, 'sleeping barber'),
}

type Smoker = { type: 'smoke'; busy: number } | { type: 'exit' }
type Arbiter = { type: 'started' } | { type: 'start' }
const smokers = 200
const rounds = 200_000

export const cigaretteSmokers: Benchmark = {
  name: 'cigarette smokers',
  unit: 'rounds',
  operations: rounds,
  kind: 'messages',
  run: (stage, finish) => {
    const dice = new Dice(3)
    const members: Address<Smoker>[] = []
    let smoked = 0
    let exited = 0
    let left = rounds
    const arbiter = stage.spawn<Arbiter>(() => {
      if (left-- > 0) members[dice.roll(smokers)]!.tell({ type: 'smoke', busy: dice.roll(100) })
      else for (const smoker of members) smoker.tell({ type: 'exit' })
    })
    for (let i = 0; i < smokers; i++)
      members.push(
        stage.spawn<Smoker>((m) => {
          if (m.type === 'exit') {
            if (++exited === smokers) finish(smoked)
            return true
          }
          arbiter.tell({ type: 'started' })
          let x = 1
          for (let k = 0; k < m.busy; k++) x += Math.sqrt(k)
          if (x > 0) smoked++
          return false
        }),
      )
    arbiter.tell({ type: 'start' })
  },
  check: (result) => expectEqual(result, rounds, 'cigarette smokers'),
}

// Every deadline of a system in one 4-ary heap, with one host timer armed for the earliest: a host timer each would
// cost more than an ask. Cancelling only marks; the dead are swept when they outnumber the living, so that a million
// asks that were answered in time leave nothing behind. Equal deadlines fire in the order they were set.

import type { ExecutionRuntime } from '../values/runtime.ts'

/** Something that happens at a time. One that was cancelled is not armed again: make a new one. */
export interface Deadline {
  at: number
  /** Order among equals; above zero while armed, 0 when not. Cancelling lowers it, which keeps the heap in order. */
  order: number
  /** Called once when the time has come, unless cancelled before. */
  fire(now: number): void
}

const sweepFrom = 1024

/** More than the timers that one simulated run arms: what a choice adds to the order of one that is to come later. */
const lateBy = 2 ** 32

export class TimerQueue {
  readonly #runtime: ExecutionRuntime
  readonly #due: () => void
  readonly #failed: (cause: unknown) => void
  #heap: Deadline[] = []
  #order = 0
  #dead = 0
  /** What was armed while firing; joins the heap afterwards, so that a zero delay cannot loop. */
  #fresh: Deadline[] | undefined
  #armedFor = Infinity
  #disarm: (() => void) | undefined
  #closed = false

  /** `due` is called when the host timer fires; it leads to `fireDue`. `failed` hears of a deadline that throws. */
  constructor(runtime: ExecutionRuntime, due: () => void, failed: (cause: unknown) => void = () => {}) {
    this.#runtime = runtime
    this.#due = due
    this.#failed = failed
  }

  /** How many deadlines are armed. */
  get size(): number {
    return this.#heap.length - this.#dead
  }

  /** The earliest time at which something may be due; Infinity when nothing is armed. */
  get next(): number {
    return this.#heap.length === 0 ? Infinity : this.#heap[0]!.at
  }

  /** Whether what is due is being fired: what is sent now, nobody's handler sends. */
  get firing(): boolean {
    return this.#fresh !== undefined
  }

  /** The time that deadlines are in. */
  now(): number {
    return this.#runtime.now()
  }

  /** Arms a deadline at an absolute time of the runtime's clock. */
  set(deadline: Deadline, at: number): void {
    if (this.#closed) return
    deadline.at = at
    const { choices } = this.#runtime
    deadline.order = choices === undefined ? ++this.#order : ++this.#order + choices.tie() * lateBy
    if (this.#fresh !== undefined) this.#fresh.push(deadline)
    else {
      this.#insert(deadline)
      if (at < this.#armedFor) this.#arm(at)
    }
  }

  /** Arms one that does nothing but call `fire`, so many ms from now. */
  after(ms: number, fire: (now: number) => void): Deadline {
    const deadline: Deadline = { at: 0, order: 0, fire }
    this.set(deadline, this.now() + ms)
    return deadline
  }

  cancel(deadline: Deadline): void {
    if (deadline.order === 0) return
    deadline.order = 0
    if (this.#closed) return
    if (++this.#dead > sweepFrom && this.#dead * 2 > this.#heap.length && this.#fresh === undefined) this.#sweep()
  }

  /** Fires what is due, and returns whether anything was. What is armed meanwhile waits for the next call. */
  fireDue(now: number): boolean {
    let fired = false
    this.#fresh = []
    while (this.#heap.length > 0 && this.#heap[0]!.at <= now) {
      const deadline = this.#pop()
      if (deadline.order === 0) {
        this.#dead--
        continue
      }
      deadline.order = 0
      fired = true
      try {
        deadline.fire(now)
      } catch (cause) {
        // A ref that is not ours may throw when told; the others must still fire.
        this.#failed(cause)
      }
    }
    const fresh = this.#fresh
    this.#fresh = undefined
    for (const deadline of fresh) this.#insert(deadline)
    this.#armedFor = Infinity
    if (this.#heap.length > 0) this.#arm(this.next)
    return fired
  }

  /** Forgets everything; nothing fires or is armed any more. */
  close(): void {
    this.#closed = true
    this.#heap = []
    this.#dead = 0
    this.#disarm?.()
    this.#disarm = undefined
  }

  #arm(at: number): void {
    this.#disarm?.()
    this.#armedFor = at
    this.#disarm = this.#runtime.timer(Math.max(0, at - this.#runtime.now()), this.#due)
  }

  #sweep(): void {
    const living = this.#heap.filter((d) => d.order !== 0)
    living.sort((a, b) => a.at - b.at || a.order - b.order)
    this.#heap = living
    this.#dead = 0
  }

  #insert(entry: Deadline): void {
    const heap = this.#heap
    let i = heap.length
    while (i > 0) {
      const up = (i - 1) >> 2
      const parent = heap[up]!
      if (parent.at < entry.at || (parent.at === entry.at && parent.order < entry.order)) break
      heap[i] = parent
      i = up
    }
    heap[i] = entry
  }

  #pop(): Deadline {
    const heap = this.#heap
    const top = heap[0]!
    const last = heap.pop()!
    const length = heap.length
    if (length === 0) return top
    let i = 0
    for (;;) {
      const first = i * 4 + 1
      if (first >= length) break
      let least = first
      const end = Math.min(first + 4, length)
      for (let c = first + 1; c < end; c++) {
        const a = heap[c]!
        const b = heap[least]!
        if (a.at < b.at || (a.at === b.at && a.order < b.order)) least = c
      }
      const child = heap[least]!
      if (last.at < child.at || (last.at === child.at && last.order < child.order)) break
      heap[i] = child
      i = least
    }
    heap[i] = last
    return top
  }
}

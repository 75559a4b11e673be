// The durable timers of one actor: what is set, and what of that its next record changes in the index of the journal, by which a timer
// finds its actor again though that sleeps. Setting, moving, removing and firing are events of the actor, so that a timer is gone in the
// record of what it led to, and is there again where that record was not stored.

import { InvalidOption } from '@troupe/core'
import { checkFinite, checkText, Keyed } from '@troupe/core/internal'
import { decode } from '../values/codec.ts'
import { isName } from '../values/names.ts'
import type { TimerChange } from '../values/stored.ts'

/** Under which the index says that an actor has something to send again. */
export const mailKey = '$mail'

/** Timers of a persistent actor that outlive it: kept with what a command persists, and fired though the actor sleeps or the process was away. */
export interface DurableTimers<in M> {
  /** Sends the message to this actor after so many milliseconds; one of the same key is replaced. The message is plain data. */
  once(key: string, ms: number, message: M): void
  /** Sends the message at a time, in milliseconds since 1970; at once where that has passed. */
  at(key: string, time: number, message: M): void
  /** Sends the message every so many milliseconds, the first time after as many; those that were missed count as one. */
  every(key: string, ms: number, message: M): void
  cancel(key: string): void
  cancelAll(): void
  has(key: string): boolean
}

/** The time of a timer has come. Says which one is meant: one that was moved or removed meanwhile does nothing. */
export class Fired extends Keyed {
  readonly timer: string
  readonly due: number
  constructor(key: string, timer: string, due: number) {
    super(key)
    this.timer = timer
    this.due = due
  }
}

interface SetTimer {
  readonly due: number
  readonly every: number | undefined
  /** The event that set it, as it is kept: it has the message. */
  readonly data: string
}

/** A timer before a command changed it. */
interface Changed {
  readonly key: string
  readonly timer: SetTimer | undefined
  /** Whether the index was to be told something of it, and what. */
  readonly noted: boolean
  readonly due: number | undefined
}

export class Alarms {
  readonly #set = new Map<string, SetTimer>()
  /** What the index is to be told, by key. */
  readonly #changes = new Map<string, number | undefined>()
  /** What the present command changed, as it was before, in order: a command costs what it changes, and not what there is. */
  readonly #undo: Changed[] = []

  get size(): number {
    return this.#set.size
  }
  has(key: string): boolean {
    return this.#set.has(key)
  }
  keys(): readonly string[] {
    return [...this.#set.keys()]
  }
  /** The timer of that key, if it is the one that was set for that time. */
  dueAt(key: string, due: number): { readonly next: ((now: number) => number) | undefined; readonly message: unknown } | undefined {
    const alarm = this.#set.get(key)
    if (alarm === undefined || alarm.due !== due) return undefined
    const { every, data } = alarm
    const next = every === undefined ? undefined : (now: number): number => due + every * (Math.floor((now - due) / every) + 1)
    return { next, message: (decode(data) as { message: unknown }).message }
  }
  /** Those whose time has come, or is further away than it can be. */
  *overdue(now: number): Iterable<{ readonly key: string; readonly due: number }> {
    for (const [key, { due, every }] of this.#set) if (due <= now || isTooFar(due, every, now)) yield { key, due }
  }
  /** When a timer is due that repeats, and is further away than its interval: the clock was ahead when it last fired. */
  corrected(key: string, due: number, now: number): number | undefined {
    const alarm = this.#set.get(key)
    return alarm !== undefined && alarm.due === due && isTooFar(due, alarm.every, now) ? now + alarm.every! : undefined
  }

  set(key: string, due: number, every: number | undefined, data: string): void {
    this.#keep(key)
    this.#set.set(key, { due, every, data })
    this.#changes.set(key, due)
  }
  move(key: string, due: number): void {
    const { every, data } = this.#set.get(key)!
    this.set(key, due, every, data)
  }
  remove(key: string): void {
    this.#keep(key)
    this.#set.delete(key)
    this.#changes.set(key, undefined)
  }
  /** Tells the index something that is no timer of a command. */
  note(key: string, due: number | undefined): void {
    this.#changes.set(key, due)
  }

  #keep(key: string): void {
    this.#undo.push({ key, timer: this.#set.get(key), noted: this.#changes.has(key), due: this.#changes.get(key) })
  }
  /** The command is done. */
  settle(): void {
    this.#undo.length = 0
  }
  /** The command threw. */
  rollBack(): void {
    for (let last = this.#undo.pop(); last !== undefined; last = this.#undo.pop()) {
      const { key, timer, noted, due } = last
      if (timer === undefined) this.#set.delete(key)
      else this.#set.set(key, timer)
      if (noted) this.#changes.set(key, due)
      else this.#changes.delete(key)
    }
  }
  /** What the record that is written now changes. */
  take(): readonly TimerChange[] {
    const changes = [...this.#changes].map(([key, due]) => ({ key, due }))
    this.#changes.clear()
    return changes
  }
  /** What was read is what the index has. */
  known(): void {
    this.#changes.clear()
    this.settle()
  }

  toData(): unknown {
    if (this.#set.size === 0) return undefined
    // By key: what a command that threw took back is no longer in the order in which it was set.
    return [...this.#set]
      .map(([key, { due, every, data }]) => [key, due, every ?? null, data] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1))
  }
  restore(data: unknown): void {
    for (const [key, due, every, text] of data as [string, number, number | null, string][])
      this.#set.set(key, { due, every: every ?? undefined, data: text })
  }
}

/** No interval has so much left of it: its next time was counted from a clock that was ahead. */
function isTooFar(due: number, every: number | undefined, now: number): boolean {
  return every !== undefined && due - now > every
}

export function checkTimer(id: string, key: unknown): string {
  const name = checkText('key', key)
  if (name.startsWith('$') || !isName(name, 200))
    throw new InvalidOption('key', key, `a timer of ${id} has a key of up to 200 characters, well-formed, that does not begin with $`)
  return name
}
export function checkDelay(ms: unknown, from: 'from' | 'above'): number {
  return checkFinite('ms', ms, from)
}
export function checkTime(time: unknown): number {
  if (typeof time !== 'number' || !Number.isFinite(time)) throw new InvalidOption('time', time, 'use milliseconds since 1970')
  return time
}

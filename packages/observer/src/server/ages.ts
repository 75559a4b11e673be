// How long the oldest message of a mailbox has waited. Nobody notes when a message comes; but of each mailbox it is known how many had come at
// each look, and how many were handled by now: the oldest that waits came when that many had come. Pure.

import type { SeenActor } from '../survey/picture.ts'

type Mailbox = Pick<SeenActor, 'uid' | 'queued' | 'processed'>

/** Mailboxes that are followed, and looks that are kept of each. */
const mailboxesMost = 5000
const looksMost = 600

interface Looks {
  readonly at: number[]
  /** Messages that had come by then, handled or not. */
  readonly come: number[]
}

/** `atLeast`: it was there before anybody looked. */
export interface Age {
  readonly ms: number
  readonly atLeast: boolean
}

export class Ages {
  readonly #looks = new Map<number, Looks>()
  /** Of whom the first look is kept still. */
  readonly #whole = new Set<number>()

  /** A look at one actor. */
  take({ uid, queued, processed }: Mailbox, at: number, born: boolean): void {
    if (queued === 0) return this.forget(uid)
    let looks = this.#looks.get(uid)
    if (looks === undefined) {
      if (this.#looks.size >= mailboxesMost) return
      this.#looks.set(uid, (looks = { at: [], come: [] }))
      if (born) this.#whole.add(uid)
    }
    const come = processed + queued
    // What came before the one that is taken next tells nothing any more; the last of those is kept, as the beginning.
    while (looks.come.length > 1 && looks.come[1]! <= processed) {
      looks.at.shift()
      looks.come.shift()
    }
    if (looks.come.at(-1) === come && looks.come.length > 1) return
    if (looks.come.length >= looksMost) {
      // Every second is enough to tell minutes.
      for (const list of [looks.at, looks.come]) list.splice(0, list.length, ...list.filter((_one, i) => i % 2 === 0))
    }
    looks.at.push(at)
    looks.come.push(come)
  }
  forget(uid: number): void {
    this.#looks.delete(uid)
    this.#whole.delete(uid)
  }
  clear(): void {
    this.#looks.clear()
    this.#whole.clear()
  }

  /** Of the message that is taken next, in a mailbox that hands out the oldest first; undefined where none waits. */
  oldest({ uid, processed }: SeenActor, now: number): Age | undefined {
    const looks = this.#looks.get(uid)
    if (looks === undefined) return undefined
    const index = looks.come.findIndex((come) => come > processed)
    if (index < 0) return undefined
    return { ms: Math.max(0, now - looks.at[index]!), atLeast: index === 0 && !this.#whole.has(uid) }
  }
}

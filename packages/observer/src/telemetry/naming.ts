// What is the same for all who collect: whom they are given, and what kinds and outcomes are called.

import { InvalidOption } from '@troupe/core'
import type { Observer } from '../attach/observe.ts'

export function checkObserver(observer: unknown): asserts observer is Observer {
  try {
    if (typeof (observer as Partial<Observer>).source?.subscribe === 'function') return
  } catch {}
  throw new InvalidOption('observer', observer, 'use what observe(system) gave you')
}

/** Kinds that are told apart; actors of more are told together. */
const mostKinds = 200

/** The kinds of one system that are told apart, those that came first. */
export class Kinds {
  readonly #known = new Set<string>()

  /** What a kind is called where many are. */
  name(kind: string): string {
    if (this.#known.has(kind)) return kind
    if (this.#known.size >= mostKinds) return 'other'
    this.#known.add(kind)
    return kind
  }
  get all(): readonly string[] {
    return [...this.#known, 'other']
  }
}

/** As a label: `deadLettered` is `dead_lettered`. */
export function outcomeName(outcome: string): string {
  return outcome.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

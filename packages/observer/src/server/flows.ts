// Who talks to whom, by kind: samples of single sends put together into at most forty kinds, and smoothed over some rounds, because a
// sample of one second jumps about.

import type { FlowEdge, FlowNews } from '../feed/news.ts'
import type { Flow } from '../sampling/span.ts'
import type { Kindred } from './census.ts'

const kindsShown = 40
/** Rounds that are put together. */
const rounds = 5

interface Tally {
  readonly from: string
  readonly to: string
  readonly types: Map<string, number>
  messages: number
}

export class Flows {
  #rounds: { readonly seconds: number; readonly tallies: readonly Tally[] }[] = []

  take(flow: readonly Flow[], seconds: number): void {
    const tallies = new Map<string, Tally>()
    for (const { fromKind, toKind, type, messages } of flow) {
      const key = JSON.stringify([fromKind, toKind])
      let tally = tallies.get(key)
      if (tally === undefined) tallies.set(key, (tally = { from: fromKind, to: toKind, types: new Map(), messages: 0 }))
      tally.messages += messages
      tally.types.set(type, (tally.types.get(type) ?? 0) + messages)
    }
    this.#rounds = [...this.#rounds.slice(1 - rounds), { seconds, tallies: [...tallies.values()] }]
  }

  clear(): void {
    this.#rounds = []
  }

  /** Kinds with most traffic, and what goes between them. */
  news(census: ReadonlyMap<string, Readonly<Kindred>>): FlowNews {
    const seconds = this.#rounds.reduce((sum, round) => sum + round.seconds, 0)
    const edges = this.#edges(Math.max(0.001, seconds))
    const traffic = new Map<string, number>()
    for (const { from, to, rate } of edges) for (const kind of [from, to]) traffic.set(kind, (traffic.get(kind) ?? 0) + rate)
    const order = [...traffic.keys()].sort((a, b) => traffic.get(b)! - traffic.get(a)! || (a < b ? -1 : 1))
    const shown = new Set(order.slice(0, kindsShown))
    return {
      nodes: [...shown].map((kind) => ({ kind, actors: census.get(kind)?.actors ?? 0, queued: census.get(kind)?.queued ?? 0 })),
      edges: edges.filter(({ from, to }) => shown.has(from) && shown.has(to)),
      leftOut: order.length - shown.size,
    }
  }

  #edges(seconds: number): FlowEdge[] {
    const sums = new Map<string, Tally>()
    for (const { tallies } of this.#rounds)
      for (const { from, to, types, messages } of tallies) {
        const key = JSON.stringify([from, to])
        let sum = sums.get(key)
        if (sum === undefined) sums.set(key, (sum = { from, to, types: new Map(), messages: 0 }))
        sum.messages += messages
        for (const [type, count] of types) sum.types.set(type, (sum.types.get(type) ?? 0) + count)
      }
    return [...sums.values()].map(({ from, to, types, messages }) => {
      const [top = ['', 0]] = [...types].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
      return { from, to, type: top[0], otherTypes: Math.max(0, types.size - 1), rate: messages / seconds }
    })
  }
}

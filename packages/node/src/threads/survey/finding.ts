// Finds an actor by its path on whatever thread it lives: those whose actors stand under one of another thread are in no tree
// of this one, so each thread is asked to look below the actors it hosts.

import type { AnyRef } from '@troupe/core'
import type { Cell } from '@troupe/core/internal'
import type { Exchange } from '@troupe/border'
import type { Thread } from '../pool/thread.ts'

interface Search {
  readonly awaited: Set<number>
  resolve(ref: AnyRef | undefined): void
}

export class Finding {
  readonly #exchange: Exchange
  readonly #open = new Map<number, Search>()
  #next = 0
  constructor(exchange: Exchange) {
    this.#exchange = exchange
    exchange.on('found', ({ id, ref }, channel) => this.#answered(id, channel.peer, ref))
  }

  /** The actor of that path below one that runs on another thread; undefined if no thread has it. */
  find(path: string, threads: Iterable<Thread>): Promise<AnyRef | undefined> {
    const awaited = new Set(Array.from(threads, (t) => t.epoch))
    if (awaited.size === 0) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const id = ++this.#next
      this.#open.set(id, { awaited, resolve })
      for (const epoch of awaited) this.#exchange.tell(epoch, { op: 'find', id, path })
    })
  }
  gone(epoch: number): void {
    for (const id of this.#open.keys()) this.#answered(id, epoch, undefined)
  }
  #answered(id: number, epoch: number, ref: AnyRef | undefined): void {
    const search = this.#open.get(id)
    if (search === undefined || !search.awaited.delete(epoch) || (ref === undefined && search.awaited.size > 0)) return
    this.#open.delete(id)
    search.resolve(ref)
  }
}

/** Looks below the actors of this thread when another asks. */
export function answerFinding(exchange: Exchange): void {
  exchange.on('find', ({ id, path }, channel) => channel.control({ op: 'found', id, ref: lookFor(exchange, path) }))
}

function lookFor(exchange: Exchange, path: string): AnyRef | undefined {
  for (const top of exchange.residents.allHosted) {
    const above = `${top.ref.path}/`
    if (!path.startsWith(above)) continue
    let cell: Cell | undefined = top
    for (const segment of path.slice(above.length).split('/')) {
      const children: Cell['children'] = cell?.children
      cell = segment.startsWith('$') ? children?.list().find((c) => `$${c.ref.uid}` === segment) : children?.names?.get(segment)
    }
    if (cell !== undefined) return cell.ref
  }
  return undefined
}

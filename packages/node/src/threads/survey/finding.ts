// Finds an actor by its path on whatever thread it lives: those whose actors stand under one of another thread are in no tree
// of this one, so each thread is asked to look below the actors it hosts.

import type { AnyRef } from '@troupe/core'
import type { Cell } from '@troupe/core/internal'
import type { Exchange } from '@troupe/border'
import type { Thread } from '../pool/thread.ts'
import { Poll } from './poll.ts'

export class Finding {
  readonly #exchange: Exchange
  readonly #poll = new Poll<AnyRef | undefined>()
  constructor(exchange: Exchange) {
    this.#exchange = exchange
    exchange.on('found', ({ id, ref }, crossing) => {
      this.#poll.answered(id, crossing.peer, ref)
      if (ref !== undefined) this.#poll.enough(id)
    })
  }

  /** The actor of that path below one that runs on another thread; undefined if no thread has it. */
  find(path: string, threads: Iterable<Thread>): Promise<AnyRef | undefined> {
    const epochs = Array.from(threads, (t) => t.epoch)
    return new Promise((resolve) => {
      const id = this.#poll.begin(epochs, (answers) => resolve([...(answers?.values() ?? [])].find((ref) => ref !== undefined)))
      for (const epoch of epochs) this.#exchange.tell(epoch, { op: 'find', id, path })
    })
  }
  gone(epoch: number): void {
    this.#poll.gone(epoch)
  }
}

/** Looks below the actors of this thread when another asks. */
export function answerFinding(exchange: Exchange): void {
  exchange.on('find', ({ id, path }, crossing) => crossing.control({ op: 'found', id, ref: lookFor(exchange, path) }))
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

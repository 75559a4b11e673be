// What nodes ask each other besides messages: where an actor is, and how their tree looks. Each question ends: with the answer, with the end of
// the session, or after a while.

import type { ActorSnapshot, AnyRef } from '@troupe/core'
import { type Cell, snapshotOf, type SystemCore } from '@troupe/core/internal'
import type { NodeBorder } from '../refs/node-border.ts'
import { sameSession, type Session } from '../values/session.ts'

const patience = 5_000

interface Question {
  readonly to: Session
  settle(answer: unknown): void
}

export class Asking {
  readonly #border: NodeBorder
  readonly #core: SystemCore
  readonly #questions = new Map<number, Question>()
  #next = 1

  constructor(border: NodeBorder, core: SystemCore) {
    this.#border = border
    this.#core = core
    const { exchange } = border
    exchange.on('find', ({ id, path }, crossing) => crossing.control({ op: 'found', id, ref: findIn(core, path) }))
    exchange.on('found', ({ id, ref }) => this.#questions.get(id)?.settle(ref))
    exchange.on('inspect', ({ id }, crossing) => crossing.control({ op: 'inspected', id, hosted: [snapshotOf(core.guardian)] }))
    exchange.on('inspected', ({ id, hosted }) => this.#questions.get(id)?.settle(hosted[0]))
  }

  find(to: Session, path: string): Promise<AnyRef | undefined> {
    return this.#ask(to, (id) => ({ op: 'find', id, path })) as Promise<AnyRef | undefined>
  }

  /** Undefined where the node did not answer. */
  inspect(to: Session): Promise<ActorSnapshot | undefined> {
    return this.#ask(to, (id) => ({ op: 'inspect', id })) as Promise<ActorSnapshot | undefined>
  }

  ended(session: Session): void {
    for (const question of this.#questions.values()) if (sameSession(question.to, session)) question.settle(undefined)
  }

  close(): void {
    for (const question of this.#questions.values()) question.settle(undefined)
  }

  #ask(to: Session, make: (id: number) => Parameters<NodeBorder['exchange']['reach']>[1]): Promise<unknown> {
    const id = this.#next++
    return new Promise((resolve) => {
      const settle = (answer: unknown): void => {
        if (!this.#questions.delete(id)) return
        cancel()
        resolve(answer)
      }
      const cancel = this.#core.runtime.timer(patience, () => settle(undefined))
      this.#questions.set(id, { to, settle })
      this.#border.exchange.reach(this.#border.met(to), make(id))
    })
  }
}

function findIn({ guardian }: SystemCore, path: string): AnyRef | undefined {
  const [top, ...segments] = path.split('/').slice(1)
  if (top !== 'user') return undefined
  let cell: Cell | undefined = guardian
  for (const segment of segments) {
    const children: Cell['children'] = cell?.children
    cell = children?.find(segment)
  }
  return cell === guardian ? undefined : cell?.ref
}

// What a contract suite needs of an engine under test: connections of several nodes to one cluster, and a way to let time pass.

import type { Connection } from '../../src/ports/engine.ts'

export interface EngineStage {
  connect(node: string): Promise<Connection>
  /** Lets time pass until the condition holds; fails after a generous while. */
  until(what: string, condition: () => boolean | Promise<boolean>): Promise<void>
  /** Milliseconds, of the clock that `until` moves. */
  now(): number
  end(): Promise<void>
}

export const session = (node: string, number = 1): { readonly node: string; readonly number: number } => ({ node, number })

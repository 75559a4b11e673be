// The requests to a supervisor as calls: typed, and rejecting where the supervisor refuses.

import { askTable } from '../../cell/ask/ask.ts'
import { checkCan, readOptions } from '../../values/checks.ts'
import type { ActorRef, AnyRef, AskOptions } from '../../values/ref.ts'
import type { ChildSpec } from './child-spec.ts'
import { ChildRefused } from './errors.ts'
import type { ChildCount, ChildInfo, ChildKey, ChildReply, SupervisorMessage } from './protocol.ts'

/** Requests to one supervisor. Each rejects with `ChildRefused` where it is refused, and otherwise as `ask` does. */
export interface SupervisorClient {
  /** Starts a child and resolves with its ref once it runs. A child whose start fails is not kept. */
  startChild<R>(child: ChildSpec<never, R>): Promise<R>
  /** Stops a child, also one that waits for its restart, and resolves when it is gone; it stays on file unless temporary. */
  stopChild(child: ChildKey): Promise<void>
  /** Starts a stopped child again, as a new actor of the same name. */
  restartChild<R>(child: ChildSpec<never, R>): Promise<R>
  restartChild(child: ChildKey): Promise<AnyRef>
  /** Takes a stopped child off the books. */
  deleteChild(child: ChildKey): Promise<void>
  /** The ref of the living child with this spec. */
  refOf<R>(child: ChildSpec<never, R>): Promise<R>
  /** The children, in start order. */
  children(): Promise<readonly ChildInfo[]>
  count(): Promise<ChildCount>
}

/**
 * A client of a supervisor. `options` hold for each of its asks: stopping a child may take as long as its `shutdown`.
 *
 * @example
 * const storage = supervisorClient(system.spawn(supervisor({ children: [db] })))
 * await storage.stopChild('db')
 * const ref = await storage.restartChild(db)
 */
export function supervisorClient(ref: ActorRef<SupervisorMessage>, options?: AskOptions): SupervisorClient {
  checkCan('ref', ref, ['the ref of a supervisor', 'tell', 'ask'])
  const read = options === undefined ? undefined : readOptions('supervisorClient', options, askTable)
  const request = async <T>(question: {
    readonly type: 'start-child' | 'stop-child' | 'restart-child' | 'delete-child' | 'find-child'
    readonly child: unknown
  }): Promise<T> => {
    const reply = await ref.ask<ChildReply>((replyTo) => ({ ...question, replyTo }) as SupervisorMessage, read)
    if (reply.ok) return reply.ref as T
    throw new ChildRefused(reply.reason, reply.message, reply.cause)
  }
  return {
    startChild: (child) => request({ type: 'start-child', child }),
    stopChild: async (child) => void (await request({ type: 'stop-child', child })),
    restartChild: (child: ChildKey) => request<never>({ type: 'restart-child', child }),
    deleteChild: async (child) => void (await request({ type: 'delete-child', child })),
    refOf: (child) => request({ type: 'find-child', child }),
    children: () => ref.ask({ type: 'children' }, read),
    count: () => ref.ask({ type: 'count' }, read),
  }
}

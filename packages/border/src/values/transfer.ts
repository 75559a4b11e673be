// Buffers and ports that a message takes along instead of copying. The message stays what it is, so that it may be
// told to an actor of any thread; the list is looked up when it leaves this one.

import { checkList, checkObject } from '@troupe/core/internal'

const lists = new WeakMap<object, readonly unknown[]>()
let waiting = 0

/**
 * Marks what moves with a message when it goes to another thread: ArrayBuffers, MessagePorts. Returns the message.
 *
 * Guarantees: told to an actor of another thread, the buffers are moved, not copied, and are empty here afterwards; told
 * to one of this thread, nothing happens to them. Fails: what cannot be transferred makes the message a dead letter.
 *
 * @example
 * resizer.tell(transfer({ type: 'resize', pixels }, [pixels.buffer]))
 */
export function transfer<M extends object>(message: M, list: readonly unknown[]): M {
  checkObject('message', message)
  const moved = checkList('list', list, () => true, 'what moves along')
  if (!lists.has(message)) waiting++
  lists.set(message, moved)
  return message
}

/** Whether any message was marked and not sent yet: spares the others the look-up. */
export function hasTransfers(): boolean {
  return waiting > 0
}

export function takeTransfer(message: unknown): readonly unknown[] | undefined {
  if (waiting === 0 || typeof message !== 'object' || message === null) return undefined
  const list = lists.get(message)
  if (list === undefined) return undefined
  lists.delete(message)
  waiting--
  return list
}

/** What was marked is another object from now on. */
export function passTransfer(list: readonly unknown[] | undefined, message: unknown): void {
  if (list !== undefined && typeof message === 'object' && message !== null) transfer(message, list)
}

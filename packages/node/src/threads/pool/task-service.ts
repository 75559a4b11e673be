// Runs tasks on this thread: one function of a module, called with arguments, its result or failure told back.

import { Cancelled } from '@troupe/core'
import { type ControlOf, type Exchange, loadExport, NotOnThread } from '@troupe/border'

type TaskOrder = ControlOf<'task'>

export function serveTasks(exchange: Exchange): void {
  const running = new Map<number, AbortController>()
  exchange.on('task', (order, channel) => {
    const control = new AbortController()
    running.set(order.id, control)
    const done = (ok: boolean, value: unknown): void => {
      const { id, definition } = order
      running.delete(id)
      try {
        channel.order({ op: 'task.done', id, ok, value }, `The ${ok ? 'result' : 'failure'} of task ${definition.name}`)
      } catch (cause) {
        channel.control({ op: 'task.done', id, ok: false, value: cause })
      }
    }
    perform(order, control.signal).then(
      (value) => done(true, value),
      (cause: unknown) => done(false, cause),
    )
  })
  exchange.on('task.abort', ({ id }) => running.get(id)?.abort(new Cancelled('The task')))
}

async function perform({ definition, args }: TaskOrder, signal: AbortSignal): Promise<unknown> {
  const task = await loadExport(definition)
  if (typeof task !== 'function') throw new NotOnThread(`Export ${definition.name} of ${definition.url} is no function, and cannot be run as a task.`)
  return (task as (...args: readonly unknown[]) => unknown)(...args, { signal })
}

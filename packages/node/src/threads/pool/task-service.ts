// Runs tasks on this thread: one function of a module, called with arguments, its result or failure told back.

import { Cancelled } from '@troupe/core'
import { type ControlOf, type Exchange, type Load, NotOnThread } from '@troupe/border'

type TaskOrder = ControlOf<'task'>

export function serveTasks(exchange: Exchange, load: Load): void {
  const running = new Map<number, AbortController>()
  exchange.on('task', (order, crossing) => {
    const control = new AbortController()
    running.set(order.id, control)
    const done = (ok: boolean, value: unknown): void => {
      const { id, definition } = order
      running.delete(id)
      try {
        crossing.order({ op: 'task.done', id, ok, value }, `The ${ok ? 'result' : 'failure'} of task ${definition.name}`)
      } catch (cause) {
        crossing.control({ op: 'task.done', id, ok: false, value: cause })
      }
    }
    perform(order, control.signal, load).then(
      (value) => done(true, value),
      (cause: unknown) => done(false, cause),
    )
  })
  exchange.on('task.abort', ({ id }) => running.get(id)?.abort(new Cancelled('The task')))
}

async function perform({ definition, args }: TaskOrder, signal: AbortSignal, load: Load): Promise<unknown> {
  const task = await load(definition)
  if (typeof task !== 'function')
    throw new NotOnThread(`Export ${definition.name} of ${definition.url} is not a function, and cannot be run as a task.`)
  return (task as (...args: readonly unknown[]) => unknown)(...args, { signal })
}

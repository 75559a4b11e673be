// Commands without an actor, a journal or time: a past in, a command, and what came of it out. Everything is synchronous, and a command or
// an event handler that changes a state in place, instead of making another, is refused here.

import { InvalidOption, NotAllowed } from '@troupe/core'
import { checkFinite, checkList, checkObject, checkText, isThenable, readOptions, type Table } from '@troupe/core/internal'
import type { Kind } from './gate/context.ts'
import { type AnyEvent, applied, eventRead, storedEvent } from './gate/definition.ts'
import { stateDefinitions } from './gate/durable-state.ts'
import { definitions } from './gate/event-sourced.ts'
import { checkUnchanged, textOf } from './gate/immutable-check.ts'
import { fitting } from './gate/schema-check.ts'
import { checkDelay, checkTime, checkTimer } from './gate/timers.ts'
import { decode, encode } from './values/codec.ts'

/** Something that a command would have let out, or kept beside its state, once all is durable. */
export type Output =
  | { readonly is: 'tell'; readonly to: unknown; readonly message: unknown }
  | { readonly is: 'ask'; readonly to: unknown; readonly question: unknown; readonly toMessage: (result: never) => unknown }
  | { readonly is: 'deliver'; readonly kind: string; readonly key: string; readonly message: unknown }
  | { readonly is: 'timer'; readonly key: string; readonly due: number; readonly every: number | undefined; readonly message: unknown }
  | { readonly is: 'cancel-timer'; readonly key: string }
  | { readonly is: 'after'; readonly effect: (ctx: never) => void }
  | { readonly is: 'stash' | 'unstash-all' | 'stop' | 'unhandled' }

/** What came of a command. */
export interface Ran {
  /** What it persisted; nothing where it threw. */
  readonly events: readonly AnyEvent[]
  /** What would leave, in order; nothing where it threw. */
  readonly outputs: readonly Output[]
  readonly state: unknown
  /** What it threw. */
  readonly error: unknown
}

/** What came of a command of a durable-state kind. */
export interface StateRan {
  /** What would leave, in order; nothing where it threw. */
  readonly outputs: readonly Output[]
  readonly state: unknown
  /** How often it replaced or cleared the state. */
  readonly changes: number
  /** What it threw. */
  readonly error: unknown
}

/** How `run` and `runState` see the world. */
export interface RunOptions {
  /** The key of the actor; `test` if left out. */
  readonly key?: string | undefined
  /** What `ctx.now` is; 0 if left out. */
  readonly now?: number | undefined
  /** Keys of timers that are set before the command. */
  readonly timers?: readonly string[] | undefined
}

const table: Table<RunOptions> = {
  key: checkText,
  now: [checkFinite, 'from'],
  timers: (option, value) => checkList<string>(option, value, (one) => typeof one === 'string', 'keys'),
}

/**
 * Runs one command of an event-sourced kind after these events, without an actor or a journal.
 *
 * Guarantees: the same as a live actor would do: events go through the codec and back, several are atomic, a throw discards. Fails with
 * `InvalidOption` on what is no kind, and with what applying the events fails with. A command or an event handler that changes the state in
 * place is refused with `NotAllowed`.
 *
 * @example
 * const { events, outputs } = run(cart, [{ type: 'added', sku: 'book', n: 1 }], { type: 'order', replyTo })
 */
export function run<M>(kind: Kind<M>, events: readonly AnyEvent[], command: M, options: RunOptions = {}): Ran {
  const known = definitions.get(kind)
  if (known === undefined) throw new InvalidOption('kind', kind, 'use what eventSourced(…) returned; for a durable state there is runState')
  const { definition, commands } = known
  const { key = 'test', now = 0, timers = [] } = readOptions('run', options, table)
  const given = checkList<AnyEvent>('events', events, (one) => typeof one === 'object' && one !== null, 'events')
  const id = `${definition.kind}/${key}`
  let state = definition.initial(key)
  let seq = 0
  // As recovery has it: written, read, and applied.
  const apply = (event: AnyEvent): void => {
    const [before, text] = [state, textOf(state)]
    const stored = storedEvent(definition, id, event, now)
    eventRead(definition, id, event, stored)
    state = applied(definition, id, ++seq, before, stored)
    checkUnchanged(before, text, `The handler of the event ${event.type}`, id)
  }
  for (const event of given) apply(event)
  const before = state
  const persisted: AnyEvent[] = []
  const world = leaving(id, key, now, timers)
  const context = Object.defineProperties(world.context, {
    state: { get: () => state },
    seq: { get: () => seq },
    persist: {
      value(...happened: readonly AnyEvent[]) {
        for (const event of happened) {
          if (!definition.knows(event.type)) throw new NotAllowed(`${id} cannot persist ${JSON.stringify(event.type)}: it has no event of that type.`)
          apply(event)
          persisted.push(event)
        }
      },
    },
  })
  const error = perform(id, commands, context, command, before)
  return error === undefined
    ? { events: persisted, outputs: world.outputs, state, error: undefined }
    : { events: [], outputs: [], state: before, error: error.thrown }
}

/**
 * Runs one command of a durable-state kind on a state, or on the initial one where that is undefined, without an actor or a journal.
 *
 * Guarantees: the same as a live actor would do: states go through the codec and back, a throw discards. Fails with `InvalidOption` on
 * what is no such kind, and with `NotStorable`. A command that changes the state in place is refused with `NotAllowed`.
 *
 * @example
 * const { state } = runState(settings, { theme: 'light' }, { type: 'choose', theme: 'dark' })
 */
export function runState<M>(kind: Kind<M>, state: unknown, command: M, options: RunOptions = {}): StateRan {
  const known = stateDefinitions.get(kind)
  if (known === undefined) throw new InvalidOption('kind', kind, 'use what durableState(…) returned; for events there is run')
  const { kept, commands } = known
  const { key = 'test', now = 0, timers = [] } = readOptions('runState', options, table)
  const id = `${kind.kind}/${key}`
  const whole = (value: unknown): unknown => decode(encode(value, 'state', id))
  const before = state === undefined ? kept.initial(key) : whole(state)
  let present = before
  let changes = 0
  const set = (next: unknown): void => {
    const text = encode(next, 'state', id)
    present = kept.schema === undefined ? decode(text) : fitting(kept.schema, text, 'state', id)
    changes++
  }
  const world = leaving(id, key, now, timers)
  const context = Object.defineProperties(world.context, {
    state: { get: () => present },
    seq: { get: () => changes },
    set: { value: set },
    update: { value: (change: (value: unknown) => unknown) => set(change(present)) },
    clear: {
      value() {
        present = kept.initial(key)
        changes++
      },
    },
  })
  const error = perform(id, commands, context, command, before)
  return error === undefined
    ? { outputs: world.outputs, state: present, changes, error: undefined }
    : { outputs: [], state: before, changes: 0, error: error.thrown }
}

/** What a command may do whatever it keeps, noted. */
function leaving(id: string, key: string, now: number, set: readonly string[]): { readonly context: object; readonly outputs: Output[] } {
  const outputs: Output[] = []
  const there = new Set(set)
  const put = (output: Output): void => void outputs.push(output)
  const timer = (name: string, due: number, every: number | undefined, message: unknown): void => {
    const checked = checkTimer(id, name)
    there.add(checked)
    put({ is: 'timer', key: checked, due, every, message: decode(encode(message, 'timer', id, checked)) })
  }
  const cancel = (name: string): void => {
    if (there.delete(name)) put({ is: 'cancel-timer', key: name })
  }
  const context = {
    key,
    now,
    tell: (to: unknown, message: unknown) => put({ is: 'tell', to, message }),
    ask: (to: unknown, question: unknown, toMessage: (result: never) => unknown) => put({ is: 'ask', to, question, toMessage }),
    deliver: (to: Kind<never>, receiver: string, message: unknown) =>
      put({ is: 'deliver', kind: to.kind, key: receiver, message: decode(encode(message, 'delivery', id)) }),
    timers: {
      once: (name: string, ms: number, message: unknown) => timer(name, now + checkDelay(ms, 'from'), undefined, message),
      at: (name: string, time: number, message: unknown) => timer(name, checkTime(time), undefined, message),
      every: (name: string, ms: number, message: unknown) => timer(name, now + checkDelay(ms, 'above'), ms, message),
      cancel,
      cancelAll: () => [...there].forEach(cancel),
      has: (name: string) => there.has(name),
    },
    after: (effect: (ctx: never) => void) => put({ is: 'after', effect }),
    stash: () => put({ is: 'stash' }),
    unstashAll: () => put({ is: 'unstash-all' }),
    stop: () => put({ is: 'stop' }),
    unhandled: () => put({ is: 'unhandled' }),
  }
  return { context, outputs }
}

/** Runs the command; what it threw, if it did. */
function perform(
  id: string,
  commands: Readonly<Record<string, (ctx: never, message: never) => unknown>>,
  context: object,
  command: unknown,
  state: unknown,
): { readonly thrown: unknown } | undefined {
  checkObject('command', command)
  try {
    const { type } = command as { readonly type: string }
    const text = textOf(state)
    if (!Object.hasOwn(commands, type)) (context as { unhandled(): void }).unhandled()
    else if (isThenable(commands[type]!(context as never, command as never)))
      throw new NotAllowed(`The command ${type} of ${id} returned a promise. Commands are synchronous.`)
    checkUnchanged(state, text, `The command ${type}`, id)
    return undefined
  } catch (thrown) {
    return { thrown }
  }
}

// An actor as a machine of named states, each with data of its own type. One place for what happens on entering and
// leaving, and a timeout per state that cannot fire into another one.

import { type Behavior, receive, same, setup, stopped, unhandled } from '../values/behavior.ts'
import { checkFinite, checkFunction, checkObject, checkOneOf, checkPart, readOptions, type Table } from '../values/checks.ts'
import { InvalidOption, NotAllowed } from '../values/errors.ts'
import type { ActorContext } from '../values/context.ts'
import { isThenable } from '../values/thenable.ts'

/** What a state decides: to be made by `at.to`, `at.stay`, `at.stop` or `at.unhandled`. */
export class Decision<out S> {
  declare readonly of?: () => S
  readonly kind: 'to' | 'stay' | 'stop' | 'unhandled'
  readonly state: PropertyKey | undefined
  readonly data: unknown
  constructor(kind: 'to' | 'stay' | 'stop' | 'unhandled', state?: PropertyKey, data?: unknown) {
    checkOneOf('kind', kind, ['to', 'stay', 'stop', 'unhandled'])
    this.kind = kind
    this.state = state
    this.data = data
  }
}

/** Where a machine is: its data, its context, and the decisions it can make. */
export interface At<S, K extends keyof S, M> {
  readonly ctx: ActorContext<M>
  readonly state: K
  readonly data: S[K]
  /** Leaves this state for another, or for itself anew: `exit`, then `enter`, and the timeout begins again. */
  to<T extends keyof S>(state: T, data: S[T]): Decision<S>
  /** Stays, with other data if given; the timeout goes on. */
  stay(data?: S[K]): Decision<S>
  /** Stops the actor. */
  stop(): Decision<S>
  /** The message is not for this state. */
  unhandled(): Decision<S>
}

/** What is decided; nothing means to stay. */
export type Decided<S> = Decision<S> | void

/** One state of a machine. */
export interface State<S, K extends keyof S, M> {
  on(at: At<S, K, M>, message: M): Decided<S> | Promise<Decided<S>>
  enter?(at: At<S, K, M>): void | Promise<void>
  exit?(at: At<S, K, M>): void | Promise<void>
  /** After so many milliseconds in this state, decide this. */
  readonly timeout?: { readonly after: number; decide(at: At<S, K, M>): Decided<S> | Promise<Decided<S>> } | undefined
}

/** A machine: where it begins, and its states. */
export interface Machine<S, M> {
  readonly initial: { readonly [K in keyof S]: readonly [state: K, data: S[K]] }[keyof S]
  readonly states: { readonly [K in keyof S]: State<S, K, M> }
}

const timeoutTable: Table<State<unknown, never, unknown>['timeout'] & object> = {
  after: [checkFinite, 'above', true],
  decide: [checkFunction, 0, true],
}
const stateTable: Table<State<unknown, never, unknown>> = {
  on: [checkFunction, 0, true],
  enter: checkFunction,
  exit: checkFunction,
  timeout: [checkPart, timeoutTable],
}
const machineTable: Table<Machine<unknown, unknown>> = {
  initial: [checkInitial, 0, true],
  states: [checkStates, 0, true],
}

function checkInitial(option: string, value: unknown): unknown {
  if (Array.isArray(value) && isKey(value[0])) return value
  throw new InvalidOption(option, value, 'use [state, data]')
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'symbol'
}

/** Looked into, but kept as they are: a state may use what else it has. */
function checkStates(option: string, value: unknown): unknown {
  checkObject(option, value)
  for (const [name, state] of Object.entries(value as object)) checkPart(`${option}.${name}`, state, stateTable)
  return value
}

const timeoutKey = '$fsm'
const timedOut: unique symbol = Symbol('state timeout')

/**
 * A behavior from states with typed data. A restart begins again in the initial state.
 *
 * Guarantees: `exit` of the old state, then `enter` of the new one, async or not, before the next message; a timeout fires only in the
 * state, and the stay in it, that set it. Fails: a throw in any of them goes to supervision; an unknown initial state is
 * an `InvalidOption`.
 *
 * @example
 * type Door = { closed: null; open: { since: number } }
 * const door = fsm<Door, 'push'>({
 *   initial: ['closed', null],
 *   states: {
 *     closed: { on: (at) => at.to('open', { since: 0 }) },
 *     open: { on: (at) => at.stay(), timeout: { after: 5_000, decide: (at) => at.to('closed', null) } },
 *   },
 * })
 */
export function fsm<S, M>(machine: Machine<S, M>): Behavior<M> {
  const { states, initial } = readOptions('fsm', machine, machineTable as Table<Machine<S, M>>)
  if (!Object.hasOwn(states, initial[0]))
    throw new InvalidOption('initial', initial[0], `there is no such state; there are ${Object.keys(states).join(', ')}`)
  return setup<M>((ctx) => {
    const run = new Run<S, M>(ctx, states)
    const running = receive<M>((_ctx, message) => {
      const decided = (message as unknown) === timedOut ? run.spec.timeout?.decide(run) : run.spec.on(run, message)
      return after(decided, (d) => run.follow(d as Decided<S>))
    })
    return after(run.enter(initial[0], initial[1]), () => running)
  })
}

/** Goes on with what was returned, at once unless it is still to come. */
function after<T>(returned: unknown, then: (value: unknown) => T | Promise<T>): T | Promise<T> {
  return isThenable(returned) ? Promise.resolve(returned).then(then) : then(returned)
}

class Run<S, M> implements At<S, keyof S, M> {
  readonly ctx: ActorContext<M>
  readonly #states: Machine<S, M>['states']
  state!: keyof S
  data!: S[keyof S]
  constructor(ctx: ActorContext<M>, states: Machine<S, M>['states']) {
    this.ctx = ctx
    this.#states = states
  }
  get spec(): State<S, keyof S, M> {
    return this.#states[this.state]
  }
  enter(state: keyof S, data: S[keyof S]): unknown {
    this.state = state
    this.data = data
    const { spec } = this
    if (spec.timeout === undefined) this.ctx.timers.cancel(timeoutKey)
    else this.ctx.timers.once(timeoutKey, spec.timeout.after, timedOut as M)
    return spec.enter?.(this)
  }
  follow(decided: Decided<S>): Behavior<M> | Promise<Behavior<M>> {
    if (decided === undefined) return same
    if (!(decided instanceof Decision))
      throw new NotAllowed(`State ${String(this.state)} of ${this.ctx.path} returned no decision. Use at.to, at.stay, at.stop or at.unhandled.`)
    switch (decided.kind) {
      case 'stop':
        return stopped
      case 'unhandled':
        return unhandled
      case 'stay':
        if (decided.data !== undefined) this.data = decided.data as S[keyof S]
        return same
      case 'to':
        if (!Object.hasOwn(this.#states, decided.state!))
          throw new NotAllowed(`${this.ctx.path} cannot go to ${String(decided.state)}: there is no such state.`)
        return after(this.spec.exit?.(this), () => after(this.enter(decided.state as keyof S, decided.data as S[keyof S]), () => same))
    }
  }
  to<T extends keyof S>(state: T, data: S[T]): Decision<S> {
    return new Decision('to', state, data)
  }
  stay(data?: S[keyof S]): Decision<S> {
    return new Decision('stay', undefined, data)
  }
  stop(): Decision<S> {
    return new Decision('stop')
  }
  unhandled(): Decision<S> {
    return new Decision('unhandled')
  }
}

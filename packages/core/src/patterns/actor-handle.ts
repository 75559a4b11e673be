// The ref of a class actor. It is a ref like any other, so that cells, watches and maps need not know of it; on top,
// `tell` and `ask` are functions that also carry the methods of the class. Methods are found once per class and bound
// once per handle, on first use; nothing is a Proxy, so that awaiting, logging or comparing a handle sends nothing.

import { askTable } from '../cell/ask/ask.ts'
import { LocalRef } from '../cell/ref/local-ref.ts'
import { readOptions } from '../values/checks.ts'
import type { AskOptions } from '../values/ref.ts'

const target: unique symbol = Symbol('target')
const options: unique symbol = Symbol('options')

interface Facade {
  readonly [target]: HandleRef
  readonly [options]: AskOptions | undefined
}

type Send = (ref: HandleRef, name: string, args: unknown[], options: AskOptions | undefined) => unknown

const tellMethod: Send = (ref, name, args) => ref.cell.send({ type: name, args }, undefined)
const askMethod: Send = (ref, name, args, given) => LocalRef.prototype.ask.call(ref, (replyTo: unknown) => ({ type: name, args, replyTo }), given)

/** The methods of one class, ready to be put on the handles of its actors. */
export class Protocol {
  readonly className: string
  readonly names: readonly string[]
  readonly tell: object
  readonly ask: object
  /** Which properties that every function has of its own must make room for methods of that name. */
  readonly hides: readonly string[]
  constructor(names: Iterable<string>, className = '') {
    const all = [...names]
    this.className = className
    carryMethods()
    this.names = all
    this.tell = facadePrototype(all, tellMethod)
    this.ask = facadePrototype(all, askMethod)
    this.hides = all.filter((n) => n === 'name' || n === 'length')
  }
}

/** An object whose methods bind themselves to the facade on which they are first looked up. */
function facadePrototype(names: readonly string[], send: Send): object {
  // Without what every object has: only methods of the class answer. Still a function to those who call, apply or print
  // it, unless the class has methods of these names.
  const prototype = Object.create(null) as object
  for (const name of ['call', 'apply', 'bind', 'toString'] as const)
    Object.defineProperty(prototype, name, { configurable: true, value: Function.prototype[name] })
  for (const name of names) {
    Object.defineProperty(prototype, name, {
      configurable: true,
      enumerable: true,
      get(this: Facade) {
        const ref = this[target]
        if (ref === undefined) return undefined
        const given = this[options]
        const bound = (...args: unknown[]): unknown => send(ref, name, args, given)
        Object.defineProperty(this, name, { value: bound, enumerable: true })
        return bound
      },
    })
  }
  return prototype
}

function facade(ref: HandleRef, call: object, prototype: object, given: AskOptions | undefined): object {
  for (const own of ref.protocol.hides) delete (call as Record<string, unknown>)[own]
  Object.setPrototypeOf(call, prototype)
  Object.defineProperty(call, target, { value: ref })
  Object.defineProperty(call, options, { value: given })
  return call
}

export class HandleRef extends LocalRef {
  readonly protocol: Protocol
  constructor(parent: LocalRef | undefined, name: string | undefined, uid: number, protocol: Protocol) {
    super(parent, name, uid)
    this.protocol = protocol
  }
  override get className(): string | undefined {
    return this.protocol.className
  }
  with(given: AskOptions): object {
    const { protocol } = this
    const read = readOptions('with', given, askTable)
    return {
      tell: facade(this, () => undefined, protocol.tell, undefined),
      ask: facade(this, () => undefined, protocol.ask, read),
      with: (more: AskOptions) => this.with({ ...read, ...readOptions('with', more, askTable) }),
    }
  }
}

/**
 * Properties, not methods as a ref has them: the class cannot say so, its prototype can. The first look-up replaces
 * them by the handle's own. Done before the first handle is made, and not where this is loaded: that would keep the class in every bundle.
 */
function carryMethods(): void {
  if (Object.hasOwn(HandleRef.prototype, 'tell')) return
  for (const verb of ['tell', 'ask'] as const) {
    const plain = LocalRef.prototype[verb] as (this: HandleRef, ...args: unknown[]) => unknown
    Object.defineProperty(HandleRef.prototype, verb, {
      configurable: true,
      get(this: HandleRef) {
        const made = facade(this, (...args: unknown[]) => plain.apply(this, args), this.protocol[verb], undefined)
        Object.defineProperty(this, verb, { value: made })
        return made
      },
    })
  }
}

// What the compiler says about the mistakes that people make is part of the API: signatures are written so that it
// speaks of the mistake, at the mistake, and of nothing else. Each mistake is compiled by the last compiler of the old
// line, which explains every overload, and by the new one, which explains only the last.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPackages, type Compiler, Project } from './compilers.ts'

interface Mistake {
  readonly what: string
  /** A statement; the error is to be reported where the ▸ stands. */
  readonly code: string
  /** Texts that must be in the message, in this order. */
  readonly says: readonly string[]
}

const shop = `
import { Actor, type ActorRef, ActorSystem, type Behavior, receive, same } from '@troupe/core'
export type Counter = { type: 'add'; by: number } | { type: 'get'; replyTo: ActorRef<number> }
export const counter = (n = 0): Behavior<Counter> =>
  receive((_ctx, m) => {
    if (m.type === 'add') return counter(n + m.by)
    m.replyTo.tell(n)
    return same
  })
export class Cart extends Actor {
  readonly currency: string
  constructor(currency: string) {
    super()
    this.currency = currency
    this.secret()
  }
  add(item: string): void {
    void item
  }
  count(): number {
    return 1
  }
  private secret(): void {}
}
export type Door = { type: 'open' } | { type: 'close' }
export const system = ActorSystem.create('shop')
export const ref = system.spawn(counter())
export const cart = system.spawn(Cart, { args: ['eur'] })
`
const imports = `
import { type ActorContext, type ActorRef, type Behavior, bounded, child, match, receive, same, supervisor } from '@troupe/core'
import { eventSourced } from '@troupe/persistence'
import { Cart, cart, type Counter, counter, type Door, ref, system } from './shop.js'
void [cart, Cart, child, counter, eventSourced, ref, same, system, bounded, match, receive, supervisor]
export type Used = [ActorRef<1>, Behavior<1>, Counter, Door]
export const made = async (ctx: ActorContext<Door>): Promise<unknown> =>
`

/** In characters. What two overloads have to say about a question is the longest of all. */
const longest = 700

const mistakes: readonly Mistake[] = [
  {
    what: 'an event-sourced kind has no type',
    code: `eventSourced('till', { initial: () => 0, events: { paid: (n: number) => n + 1 }, commands: { pay: (c, m) => c.tell(m.▸replyTo, 1) } })`,
    says: [`Property 'replyTo' does not exist on type 'Unannotated<"const counter: Kind<Counter> = …">'.`],
  },
  {
    what: 'an option of spawn is misspelt',
    code: `system.spawn(counter(), { ▸nam: 'x' })`,
    says: [`'nam' does not exist in type 'SpawnOptions'. Did you mean to write 'name'?`],
  },
  {
    what: 'an option of spawn has a value that is none',
    code: `system.spawn(counter(), { ▸supervision: 'restrat' })`,
    says: [`Type '"restrat"' is not assignable to type 'Supervision | undefined'. Did you mean '"restart"'?`],
  },
  {
    what: 'an option is misspelt when a child is spawned',
    code: `ctx.spawn(counter(), { ▸mailbx: bounded(1, 'drop-newest') })`,
    says: [`'mailbx' does not exist in type 'SpawnOptions'. Did you mean to write 'mailbox'?`],
  },
  {
    what: 'the arguments of a constructor are forgotten',
    code: `system.spawn(▸Cart)`,
    says: [`Type 'typeof Cart' is not assignable to type 'ClassThatNeedsNoArgs<Cart>'.`, 'Expected 1 or more, but got 0.'],
  },
  {
    what: 'the arguments of a constructor are forgotten among other options',
    code: `system.spawn(Cart, ▸{ name: 'x' })`,
    says: [`Property 'args' is missing in type '{ name: string; }' but required in type 'NeedsArgs<[currency: string]>'.`],
  },
  {
    what: 'an argument of a constructor is of another type',
    code: `system.spawn(Cart, { args: [▸1] })`,
    says: [`Type 'number' is not assignable to type 'string'.`],
  },
  {
    what: 'the function that makes a behavior is not called',
    code: `system.spawn(▸counter)`,
    says: [`Argument of type '(n?: number) => Behavior<Counter>' is not assignable to parameter of type`],
  },
  {
    what: 'a class is not an actor',
    code: `system.spawn(class ▸Plain {})`,
    says: [`Type 'Plain' is missing the following properties from type 'ActorHooks': onStart`],
  },
  {
    what: 'a private method is asked',
    code: `cart.ask.▸secret()`,
    says: [`Property 'secret' does not exist on type 'Ask<CallOf<Cart>> & AskMethods<Cart>'.`],
  },
  {
    what: 'a method is misspelt',
    code: `cart.ask.▸coun()`,
    says: [`Property 'coun' does not exist on type 'Ask<CallOf<Cart>> & AskMethods<Cart>'. Did you mean 'count'?`],
  },
  {
    what: 'a method of a handle is called as if it were the object',
    code: `cart.▸add('book')`,
    says: [`Property 'add' does not exist on type 'ActorHandle<Cart>'.`],
  },
  {
    what: 'the type of a message is misspelt',
    code: `ref.tell({ ▸type: 'ad', by: 1 })`,
    says: [`Type '"ad"' is not assignable to type '"add" | "get"'.`],
  },
  {
    what: 'a field of a message is missing',
    code: `ref.tell(▸{ type: 'add' })`,
    says: [`Property 'by' is missing in type '{ type: "add"; }' but required in type '{ type: "add"; by: number; }'.`],
  },
  {
    what: 'a message that has no answer is asked',
    code: `ref.ask({ ▸type: 'add', by: 1 })`,
    says: [`Type '"add"' is not assignable to type '"get"'.`],
  },
  {
    what: 'an answer is taken for something else',
    code: `((text: string) => text)(▸await ref.ask({ type: 'get' }))`,
    says: [`Argument of type 'number' is not assignable to parameter of type 'string'.`],
  },
  {
    what: 'a reply is of another type',
    code: `receive<Counter>((_ctx, m) => m.type === 'get' ? m.replyTo.tell(▸'one') : same)`,
    says: [`Argument of type 'string' is not assignable to parameter of type 'number'.`],
  },
  {
    what: 'a handler returns the next state instead of the next behavior',
    code: `receive<number>((_ctx, n) => ▸n + 1)`,
    says: [`Type 'number' is not assignable to type 'Next<number>'.`],
  },
  {
    what: 'the next behavior is of another protocol',
    code: `receive<string>((_ctx, _m) => ▸counter())`,
    says: [`Type 'Behavior<Counter>' is not assignable to type 'Next<string>'.`, `Type 'string' is not assignable to type 'Counter'.`],
  },
  {
    what: 'a message type has no handler in match',
    code: `match<Door>(▸{ open: () => same })`,
    says: [`Property 'close' is missing in type '{ open: () => Behavior<unknown>; }' but required in type 'MatchHandlers<Door>'.`],
  },
  {
    what: 'a ref of another protocol is passed on',
    code: `((door: ActorRef<Door>) => door)(▸ref)`,
    says: [`Argument of type 'ActorRef<Counter>' is not assignable to parameter of type 'ActorRef<Door>'.`],
  },
  {
    what: 'a timer sends what the actor does not understand',
    code: `ctx.timers.once('close', 10, { ▸type: 'clos' })`,
    says: [`Type '"clos"' is not assignable to type`, `Did you mean '"close"'?`],
  },
  {
    what: 'an option of a supervised child has a wrong value',
    code: `child('counter', counter(), { ▸restart: 'always' })`,
    says: [`'"always"' is not assignable to type 'RestartType`],
  },
  {
    what: 'an option of a supervised child is misspelt',
    code: `child('counter', () => counter(), { ▸restat: 'permanent' })`,
    says: [`'restat' does not exist in type 'ChildOptions'. Did you mean to write 'restart'?`],
  },
  {
    what: 'an option of a supervisor is misspelt',
    code: `supervisor({ children: [], ▸strateg: 'one-for-all' })`,
    says: [`'strateg' does not exist in type 'SupervisorOptions'. Did you mean to write 'strategy'?`],
  },
  {
    what: 'an option of a child is misspelt',
    code: `child('counter', counter(), { ▸restrat: 'transient' })`,
    says: [`'restrat' does not exist in type 'ChildOptions'. Did you mean to write 'restart'?`],
  },
  {
    what: 'an option of a child has a value that is none',
    code: `child('counter', counter(), { ▸restart: 'transiet' })`,
    says: [`Type '"transiet"' is not assignable to type 'RestartType | undefined'. Did you mean '"transient"'?`],
  },
  {
    what: 'the arguments of the constructor of a child are forgotten',
    code: `child('cart', ▸Cart)`,
    says: [`Type 'typeof Cart' is not assignable to type 'ClassThatNeedsNoArgs<Cart>'.`],
  },
  {
    what: 'the arguments of the constructor of a child are forgotten among other options',
    code: `child('cart', Cart, ▸{ restart: 'transient' })`,
    says: [`Property 'args' is missing in type '{ restart: "transient"; }' but required in type 'NeedsArgs<`],
  },
  {
    what: 'an argument of the constructor of a child is of another type',
    code: `child('cart', Cart, { args: [▸1] })`,
    says: [`Type 'number' is not assignable to type 'string'.`],
  },
]

const project = new Project({
  'shop.ts': shop,
  ...Object.fromEntries(mistakes.map(({ code }, i) => [`mistake-${i}.ts`, `${imports}${code.replace('▸', '')}\n`])),
})
const options = { target: 'ES2022', module: 'NodeNext', lib: ['ES2022'], types: [], strict: true, noEmit: true, skipLibCheck: true }
beforeAll(buildPackages)
afterAll(() => project[Symbol.dispose]())

interface Complaint {
  readonly line: number
  readonly column: number
  readonly text: string
}

/** The complaints about each file, each with all its lines. */
function complaintsIn(output: string): Map<string, Complaint[]> {
  const found = new Map<string, Complaint[]>()
  for (const whole of output.split(/\n(?=\S)/)) {
    const [, file, line, column, text] = /([\w-]+\.ts)\((\d+),(\d+)\): error TS\d+: ([^]*)/.exec(whole) ?? []
    if (file === undefined) throw new Error(`The compiler said something else: ${whole}`)
    found.set(file, [...(found.get(file) ?? []), { line: Number(line), column: Number(column), text: text! }])
  }
  return found
}

describe.each<Compiler>(['5.9', '7'])('TypeScript %s', (compiler) => {
  let complaints: Map<string, Complaint[]>
  beforeAll(async () => void (complaints = complaintsIn(await project.compile(compiler, compiler, options))), 180_000)

  test('understands the program around the mistakes', () => {
    expect(complaints.get('shop.ts')).toBe(undefined)
  })
  for (const [i, { what, code, says }] of mistakes.entries())
    test(`${what}: says so, there, and briefly`, () => {
      const said = complaints.get(`mistake-${i}.ts`) ?? []
      expect(said).toHaveLength(1)
      const { line, column, text } = said[0]!
      expect({ line, column }).toEqual({ line: imports.split('\n').length, column: code.indexOf('▸') + 1 })
      let from = 0
      for (const part of says) {
        expect(text.slice(from)).toContain(part)
        from = text.indexOf(part, from) + part.length
      }
      expect(text.length).toBeLessThan(longest)
    })
})

// What Troupe's types cost whoever compiles a large program with them, counted in instantiations, which are the same on every
// machine. A protocol may be as long as it likes: each of its messages costs what the others cost.

import { beforeAll, describe, expect, test } from 'vitest'
import { buildPackages, type Compiler, Project } from './compilers.ts'

const imports = `import { Actor, type ActorContext, type ActorRef, type ActorSystem, type Behavior, match, receive, same } from '@troupe/core'\n`
const lines = (n: number, line: (i: number) => string): string => Array.from({ length: n }, (_, i) => line(i)).join('\n')
const asked = (i: number): boolean => i % 2 === 0

/** A protocol of `n` messages, every second a question, and a behavior for it by `match` or by `switch`. */
function protocol(n: number, style: 'match' | 'receive'): string {
  const reply = (i: number): string => `m.replyTo.tell({ answer: m.text${i}.length })`
  const handled = (i: number): string => (asked(i) ? reply(i) : `void m.by${i}`)
  return `
    ${lines(n, (i) => (asked(i) ? `export interface Reply${i} { answer: number }` : ''))}
    export type Protocol =
      ${lines(n, (i) => `| { type: 'm${i}'; ${asked(i) ? `text${i}: string; replyTo: ActorRef<Reply${i}>` : `by${i}: number`} }`)}
    export const behavior: Behavior<Protocol> = ${
      style === 'match'
        ? `match({ ${lines(n, (i) => `m${i}: (_ctx, m) => { ${handled(i)}; return same },`)} })`
        : `receive((_ctx, m) => { switch (m.type) { ${lines(n, (i) => `case 'm${i}': ${handled(i)}; return same`)} } })`
    }`
}

/** Uses each message of it: tells, asks of a ref and of a context, both forms of a question. */
const uses = (n: number): string => `
  export async function run(system: ActorSystem, ctx: ActorContext<never>): Promise<void> {
    const ref = system.spawn(behavior)
    let answer: number
    ${lines(n, (i) => {
      if (!asked(i)) return `ref.tell({ type: 'm${i}', by${i}: 1 })`
      if (i % 4 === 0) return `answer = (await ref.ask({ type: 'm${i}', text${i}: '' })).answer`
      if (i % 8 === 2) return `answer = (await ctx.ask(ref, { type: 'm${i}', text${i}: '' })).answer`
      return `answer = (await ref.ask((replyTo) => ({ type: 'm${i}', text${i}: '', replyTo }))).answer`
    })}
    void answer!
  }`

/** An actor of `n` methods, each of which is told or asked. */
const classActor = (n: number): string => `
  export class Cart extends Actor {
    ${lines(n, (i) => (asked(i) ? `m${i}(text: string): number { return text.length }` : `m${i}(by: number): void { void by }`))}
  }
  export async function run(system: ActorSystem): Promise<void> {
    const cart = system.spawn(Cart)
    let answer: number
    ${lines(n, (i) => (asked(i) ? `answer = await cart.ask.m${i}('')` : `cart.tell.m${i}(1)`))}
    void answer!
  }`

const files = (actors: number, text: (i: number) => string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: actors }, (_, i) => [`actor-${i}.ts`, imports + text(i)]))

const programs = {
  functions: files(200, (i) => protocol(10, i % 2 === 0 ? 'match' : 'receive') + uses(10)),
  classes: files(200, () => classActor(10)),
}
const longProtocols = {
  match: (n: number) => protocol(n, 'match') + uses(n),
  receive: (n: number) => protocol(n, 'receive') + uses(n),
  'a class': classActor,
}

const options = { target: 'ES2022', module: 'NodeNext', lib: ['ES2022'], types: [], strict: true, noEmit: true, skipLibCheck: true }

async function instantiations(compiler: Compiler, program: Record<string, string>): Promise<number> {
  using project = new Project(program)
  const said = await project.compile(compiler, 'cost', { ...options, extendedDiagnostics: true })
  expect(said).not.toContain('error TS')
  const [, count] = /^Instantiations:\s+(\d+)$/m.exec(said) ?? []
  return Number(count)
}
beforeAll(buildPackages)

// A compiler of the old line takes a while where other work is going on.
const patient = { timeout: 300_000 }

/** Just above what TypeScript 5.4 counts; the later ones count a tenth less. */
const budgets = { functions: 225_000, classes: 110_000 }

// TypeScript 5.9 counts what 7 counts.
describe.each<Compiler>(['5.4', '7'])('with TypeScript %s', patient, (compiler) => {
  test.each(['functions', 'classes'] as const)('200 actors with 2,000 messages, as %s, stay within their budget', async (style) => {
    const count = await instantiations(compiler, programs[style])
    expect(count).toBeGreaterThan(0)
    expect(count).toBeLessThan(budgets[style])
  })
})

describe.each([
  // The old line takes seconds for what takes the new one a moment, and three lengths show growth as well.
  ['5.4', ['match'], [50, 100, 200]],
  ['7', ['match', 'receive', 'a class'], [100, 200, 400, 800]],
] as const)('with TypeScript %s', patient, (compiler, styles, lengths) => {
  test.each(styles)('the cost of a protocol grows as it does, not as its square: %s', async (style) => {
    const counts: number[] = []
    for (const n of lengths) counts.push(await instantiations(compiler, { 'index.ts': imports + longProtocols[style](n) }))
    const perMessage = counts.slice(1).map((count, i) => (count - counts[i]!) / (lengths[i + 1]! - lengths[i]!))
    expect(Math.min(...perMessage)).toBeGreaterThan(0)
    expect(Math.max(...perMessage) / Math.min(...perMessage)).toBeLessThan(1.1)
  })
})

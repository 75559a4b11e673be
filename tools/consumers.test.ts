// Whoever uses Troupe compiles its declarations along with their own program, with a compiler and settings of their own
// choice. Nothing of ours may be an error there, also where libraries are checked.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPackages, type Compiler, Project } from './compilers.ts'

const everything = new Project({
  'index.ts': `
    import * as core from '@troupe/core'
    import * as testkit from '@troupe/testkit'
    export const all: readonly unknown[] = [core, testkit]`,
  // Needs the declarations of \`using\`, which the settings of the first test do not have.
  'using.ts': `
    import { ActorSystem, CancellationToken, TaskGroup } from '@troupe/core'
    import { createTestKit } from '@troupe/testkit'
    export async function run(): Promise<void> {
      await using system = ActorSystem.create('shop')
      await using kit = createTestKit()
      await using group = new TaskGroup()
      using token = new CancellationToken()
      void [system, kit, group, token]
    }`,
  // What is inferred must be the same for every compiler.
  'inferred.ts': `
    import { Actor, type ActorHandle, type ActorRef, ActorSystem, type Behavior, match, receive, same } from '@troupe/core'
    type Same<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false
    const is = <A>() => <B>(_value: B, _same: Same<A, B>): void => {}
    type Counter = { type: 'add'; by: number } | { type: 'get'; replyTo: ActorRef<number> }
    class Cart extends Actor {
      constructor(readonly currency: string) { super() }
      count(): number { return 1 }
    }
    class Plain extends Actor {}
    export async function run(system: ActorSystem, counter: Behavior<Counter>): Promise<void> {
      const ref = system.spawn(counter, { name: 'x' })
      is<ActorRef<Counter>>()(ref, true)
      is<ActorRef<Counter>>()(system.spawn(counter), true)
      is<ActorHandle<Cart>>()(system.spawn(Cart, { args: ['eur'] }), true)
      is<ActorHandle<Plain>>()(system.spawn(Plain), true)
      const expected: ActorRef<Counter> = system.spawn(match({ add: () => same, get: (_ctx, m) => m.replyTo.tell(1) }))
      const narrower: ActorRef<{ type: 'count'; args: [] }> = system.spawn(Cart, { args: ['eur'] })
      is<ActorRef<Counter>>()(system.spawn<Counter>(receive((_ctx, m) => void m.type)), true)
      is<number>()(await ref.ask({ type: 'get' }), true)
      is<number>()(await expected.ask((replyTo) => ({ type: 'get', replyTo })), true)
      is<number>()(await system.spawn(Cart, { args: ['eur'] }).ask.count(), true)
      void narrower
    }`,
})
const withNode = new Project({
  'index.ts': `
    import * as core from '@troupe/core'
    import * as testkit from '@troupe/testkit'
    import * as node from '@troupe/node'
    import * as threads from '@troupe/node/threads'
    export const all: readonly unknown[] = [core, testkit, node, threads]`,
})
beforeAll(buildPackages)
afterAll(() => [everything, withNode].forEach((project) => project[Symbol.dispose]()))

const strict = { target: 'ES2022', strict: true, noEmit: true, skipLibCheck: false }
const bare = { ...strict, module: 'NodeNext', moduleResolution: 'NodeNext', lib: ['ES2022'], types: [] }
const strictest = {
  ...bare,
  lib: ['ES2023', 'ESNext.Disposable'],
  types: ['node'],
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  verbatimModuleSyntax: true,
}
const browser = { ...strict, module: 'ESNext', moduleResolution: 'Bundler', lib: ['ES2022', 'DOM'], types: [] }

// Checking every library takes a compiler of the old line half a minute where other work is going on.
const patient = { timeout: 180_000 }

describe.each<Compiler>(['5.4', '5.9', '7'])('with TypeScript %s', patient, (compiler) => {
  test('core and testkit need neither @types/node nor ESNext.Disposable', async () => {
    expect(await everything.compile(compiler, `${compiler}.bare`, bare)).toBe('')
  })
  test('all packages agree with @types/node and ESNext.Disposable, under the strictest settings', async () => {
    expect(await withNode.compile(compiler, `${compiler}.strictest`, strictest)).toBe('')
  })
})

test('core and testkit compile for a bundler with the library of browsers', patient, async () => {
  expect(await everything.compile('7', 'browser', browser)).toBe('')
})

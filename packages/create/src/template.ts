// What a new project is made of. Texts in code, so that nothing is left out or renamed when the package is packed.

/** What it is developed with, besides Troupe; the ranges are those that were tried. */
const tools = { '@types/node': '^20.19.0', typescript: '^5.9.0 || ^7.0.0', vitest: '^4.1.0' }

/** Text by path. */
export function filesOf(name: string, version: string): Readonly<Record<string, string>> {
  const range = `^${version}`
  return {
    'package.json': `${JSON.stringify(
      {
        name,
        version: '0.1.0',
        private: true,
        type: 'module',
        engines: { node: '>=20.19' },
        scripts: {
          build: 'tsc -p tsconfig.build.json',
          start: 'npm run build && troupe run dist/main.js --observe',
          test: 'vitest run',
          typecheck: 'tsc --noEmit',
        },
        dependencies: { '@troupe/core': range },
        devDependencies: { '@troupe/cli': range, '@troupe/testkit': range, ...tools },
      },
      undefined,
      2,
    )}\n`,
    'tsconfig.json': `${JSON.stringify(
      {
        compilerOptions: {
          target: 'ES2022',
          lib: ['ES2023', 'ESNext.Disposable'],
          module: 'NodeNext',
          types: ['node'],
          strict: true,
          noUncheckedIndexedAccess: true,
          skipLibCheck: true,
          noEmit: true,
        },
        include: ['src', 'test'],
      },
      undefined,
      2,
    )}\n`,
    'tsconfig.build.json': `${JSON.stringify(
      { extends: './tsconfig.json', compilerOptions: { noEmit: false, rootDir: 'src', outDir: 'dist', sourceMap: true }, include: ['src'] },
      undefined,
      2,
    )}\n`,
    '.gitignore': 'node_modules\ndist\n',
    'README.md': readme(name),
    'src/main.ts': main,
    'src/desk.ts': desk,
    'src/visitor.ts': visitor,
    'test/desk.test.ts': deskTest,
  }
}

const readme = (name: string): string => `# ${name}

An application of [Troupe](https://github.com/troupe-actors/troupe) actors.

\`\`\`
npm install
npm start                # builds and runs it, and says where its page is; Ctrl-C stops it in order
npm test                 # virtual time: a minute passes at once
\`\`\`

While it runs, in another terminal:

\`\`\`
npx troupe top           # who is busy, who is behind
npx troupe doctor        # what needs attention, in sentences
npx troupe tree
\`\`\`

- \`src/main.ts\` exports the root of the tree: a supervisor, which starts the others and starts them again when they fail.
- \`src/desk.ts\` is an actor: what it is told, and what it does then.
- \`src/visitor.ts\` is another one, which has a timer, and asks.
`

const main = `// The application: what is exported by default is the root, which \`troupe run\` runs. Its end is the end of all.

import { child, supervisor } from '@troupe/core'
import { desk } from './desk.js'
import { visitor } from './visitor.js'

const front = child('desk', desk())

// A child that fails is started again, and with it whoever needs it: the visitor holds the ref of the desk.
export default supervisor({
  strategy: 'dependents',
  children: [front, child('visitor', ({ refOf }) => visitor(refOf(front)), { needs: [front] })],
})
`

const desk = `// The desk greets everybody by name, and knows how often somebody has come.

import { type ActorRef, type Behavior, match, setup } from '@troupe/core'

export type Desk =
  | { type: 'greet'; name: string; replyTo: ActorRef<string> }
  | { type: 'count'; replyTo: ActorRef<number> }

export const desk = (): Behavior<Desk> =>
  setup(() => {
    const visits = new Map<string, number>()
    return match<Desk>({
      greet: (ctx, { name, replyTo }) => {
        const times = (visits.get(name) ?? 0) + 1
        visits.set(name, times)
        // For those who look: troupe tree, inspect, the page.
        ctx.label(\`\${visits.size} known\`)
        replyTo.tell(times === 1 ? \`Welcome, \${name}.\` : \`Welcome back, \${name}: visit \${times}.\`)
      },
      count: (_ctx, { replyTo }) => replyTo.tell(visits.size),
    })
  })
`

const visitor = `// A visitor comes to the desk every second, and says what it is told.

import { type ActorRef, type Behavior, receive, setup } from '@troupe/core'
import type { Desk } from './desk.js'

export const visitor = (desk: ActorRef<Desk>, every = 1_000): Behavior<'come'> =>
  setup((ctx) => {
    ctx.timers.every('come', every, 'come')
    return receive(async (at) => {
      // The answer is typed by the question. While it waits, this actor handles nothing else.
      const greeting = await at.ask(desk, { type: 'greet', name: 'Ada' })
      console.log(greeting)
    })
  })
`

const deskTest = `import { createTestKit } from '@troupe/testkit'
import { expect, test } from 'vitest'
import { desk } from '../src/desk.js'
import { visitor } from '../src/visitor.js'

test('the desk knows who has come before', async () => {
  await using kit = createTestKit()
  const ref = kit.system.spawn(desk())
  const first = ref.ask({ type: 'greet', name: 'Ada' })
  const second = ref.ask({ type: 'greet', name: 'Ada' })
  await kit.settle()
  expect(await first).toBe('Welcome, Ada.')
  expect(await second).toBe('Welcome back, Ada: visit 2.')
})

test('a visitor comes once a second', async () => {
  await using kit = createTestKit()
  const ref = kit.system.spawn(desk())
  kit.system.spawn(visitor(ref))
  // Time stands still until it is moved.
  await kit.advance(60_000)
  const greeting = ref.ask({ type: 'greet', name: 'Ada' })
  await kit.settle()
  expect(await greeting).toBe('Welcome back, Ada: visit 61.')
})
`

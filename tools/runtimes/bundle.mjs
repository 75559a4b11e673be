// The tests as JavaScript that any runtime loads: each file an entry, what they share in chunks, so that there is one core. As under vitest
// the packages are their sources and worker threads load what is built; `import.meta.url` stays that of the file it stands in.
// For a browser, modules of the host become stand-ins, by which a test that needs one is skipped.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, transform } from 'esbuild'
import { root } from './suites.mjs'

const inside = join(root, 'tools/runtimes/inside')
/** Parts of vitest are found from where vitest is: they are no dependencies of this repository. */
const fromVitest = dirname(createRequire(import.meta.url).resolve('vitest/package.json'))

/** The names under which vitest.config.ts has the packages' sources: one list for both. */
async function aliases() {
  const { loadConfigFromFile } = await import(pathToFileURL(createRequire(join(fromVitest, 'package.json')).resolve('vite')).href)
  const { config } = await loadConfigFromFile({ command: 'serve', mode: 'test' }, join(root, 'vitest.config.ts'))
  return config.resolve.alias
}

function plugin(names, browser) {
  return {
    name: 'troupe',
    setup(builder) {
      builder.onResolve({ filter: /^vitest$/ }, () => ({ path: join(inside, 'testing.mjs') }))
      builder.onResolve({ filter: /^(@vitest\/|expect-type$)/ }, ({ path, pluginData, importer }) =>
        pluginData === 'found' || !importer.startsWith(inside)
          ? undefined
          : builder.resolve(path, { resolveDir: fromVitest, kind: 'import-statement', pluginData: 'found' }),
      )
      builder.onResolve({ filter: /^@troupe\// }, ({ path }) => {
        const found = names.find(({ find }) => find.test(path))
        return found === undefined ? undefined : { path: found.replacement }
      })
      if (browser) {
        builder.onResolve({ filter: /^(node:|async_hooks$|fs$|util$|crypto$)/ }, ({ path }) => ({ path, namespace: 'stand-in' }))
        builder.onLoad({ filter: /.*/, namespace: 'stand-in' }, async ({ path }) => {
          const exported = Object.keys(await import(path)).filter((name) => name !== 'default' && name !== 'module.exports')
          return {
            contents: [
              `import { lacking } from ${JSON.stringify(join(inside, 'browser-host.mjs'))}`,
              `export default lacking(${JSON.stringify(path)})`,
              ...exported.map((name) => `export const ${name} = lacking(${JSON.stringify(path)})`),
            ].join('\n'),
            resolveDir: root,
          }
        })
      }
      builder.onLoad({ filter: /\.[jt]s$/ }, async ({ path }) => {
        if (!path.startsWith(join(root, 'packages')) || path.includes('node_modules')) return undefined
        const here = JSON.stringify(pathToFileURL(path).href)
        // By the parser, not by text: messages speak of import.meta.url, too.
        const loader = path.endsWith('.ts') ? 'ts' : 'js'
        let { code: contents } = await transform(await readFile(path, 'utf8'), {
          loader,
          target: 'es2022',
          define: { 'import.meta.url': here },
          tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
        })
        // A place in this process loads the module of an actor by its URL: that is the one in the bundle, not a second copy of it.
        if (/[/\\]test[/\\]actors[/\\]/.test(path))
          contents += `\nimport * as troupeSelf from './${basename(path)}'\n;(globalThis.troupeModules ??= {})[${here}] = troupeSelf`
        contents = contents.replaceAll('await import(url)', '(globalThis.troupeModules?.[url] ?? await import(url))')
        // Only tests may think that there is a process; packages must find out for themselves.
        if (browser && (path.endsWith('.test.ts') || /[/\\]test[/\\]/.test(path)))
          contents += `\nimport { process, setImmediate } from ${JSON.stringify(join(inside, 'browser-host.mjs'))}`
        return { contents, loader: 'js' }
      })
    },
  }
}

/**
 * Bundles files into a folder; returns where each went, by its name, and the entry that runs them.
 * @param target `process` for Node, Bun and Deno, `browser` for the other
 */
export async function bundle(files, target, outdir) {
  const browser = target === 'browser'
  const main = join(inside, `${target}-main.mjs`)
  await build({
    // Stack traces name the file, so its whole name stays.
    entryPoints: [...files, relative(root, main)].map((path) => ({ in: join(root, path), out: path })),
    absWorkingDir: root,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: browser ? 'browser' : 'node',
    target: 'es2022',
    // Names of classes are seen in messages, and bundling changes some.
    keepNames: true,
    logLevel: 'error',
    // Drivers of journals that are not tested elsewhere.
    external: ['pg'],
    plugins: [plugin(await aliases(), browser)],
    // A package that is not ES modules asks for the host's modules by require.
    ...(browser ? {} : { banner: { js: `import { createRequire as _cr } from 'node:module'; const require = _cr(import.meta.url);` } }),
  })
  const out = (path) => join(outdir, `${path}.mjs`)
  return { main: out(relative(root, main)), files: new Map(files.map((file) => [file, out(file)])) }
}

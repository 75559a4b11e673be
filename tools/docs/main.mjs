// `npm run docs`: the site, built into tools/docs/dist, its links followed; `-- --serve` shows it on this machine. VitePress and what it
// needs are a hundred packages that nothing else uses, so they are installed here, by this command, when they are not there.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine, flag, whole } from '@troupe/testkit/internal'
import { brokenLinks } from './links.mjs'
import { contents, sitePages } from './site.mjs'
import { stage } from './stage.mjs'

const { serve, port } = commandLine({
  name: 'npm run docs',
  about: 'Builds the docs site into tools/docs/dist and follows its links. The first time it installs VitePress into tools/docs.',
  options: { serve: flag('shows it on 127.0.0.1 afterwards, until Ctrl-C'), port: whole('where --serve listens', 4173, { from: 1, to: 65_535 }) },
})

const here = fileURLToPath(new URL('.', import.meta.url))
const vitepress = join(here, 'node_modules', 'vitepress', 'bin', 'vitepress.js')

function installed() {
  const { dependencies } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'))
  const manifest = join(here, 'node_modules', 'vitepress', 'package.json')
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === dependencies.vitepress
}

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: here, stdio: 'inherit', shell: process.platform === 'win32' && command === 'npm' })
  if (status !== 0) process.exit(status ?? 1)
}

function end(problems, words) {
  if (problems.length === 0) return
  console.error(`${problems.map((problem) => `  ${problem}`).join('\n')}\n${problems.length} ${words}`)
  process.exit(1)
}

const pages = sitePages()
const listed = new Set(contents().flatMap(({ items }) => items.map(({ path }) => path)))
end(
  [...listed].filter((path) => !pages.has(path) && path !== 'README.md'),
  'in docs/README.md are not pages of the site: tools/docs/site.mjs says which are.',
)
end(stage(join(here, '.site'), here), 'broken links. Nothing was built.')
if (!installed()) {
  console.log('Installing VitePress into tools/docs; once.')
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'])
}
run(process.execPath, [vitepress, 'build', here])
end(brokenLinks(join(here, 'dist')), 'broken links in tools/docs/dist.')
console.log(`${pages.size + 1} pages, no broken link: tools/docs/dist`)
if (serve) run(process.execPath, [vitepress, 'preview', here, '--host', '127.0.0.1', '--port', String(port)])

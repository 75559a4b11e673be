// Builds the page of the observer into `dist/page`: one script, one style sheet, one file of HTML. What it is made of is bundled, so that
// whoever installs the package installs nothing for the page, and a browser asks nobody else.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

/** The files, by their names below `dist`. */
export async function pageFiles(folder) {
  const page = join(folder, 'page')
  const build = await rolldown({
    cwd: page,
    input: { page: join(page, 'src', 'main.tsx') },
    platform: 'browser',
    tsconfig: join(page, 'tsconfig.json'),
    transform: { target: 'es2022' },
    onLog(level, log) {
      if (level !== 'debug' && level !== 'info') throw new Error(`page: ${log.message}`)
    },
  })
  const { output } = await build.generate({ format: 'es', minify: true, entryFileNames: 'page.js', codeSplitting: false, comments: { legal: true } })
  await build.close()
  const [script] = output
  return new Map([
    ['page/page.js', script.code],
    ['page/page.css', readFileSync(join(page, 'page.css'), 'utf8')],
    ['page/index.html', readFileSync(join(page, 'index.html'), 'utf8')],
  ])
}

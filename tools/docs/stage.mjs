// Writes the pages as the site wants them into a folder of their own: links changed to where they lead on the site, the words of the
// doc tests taken off the code blocks, an index put before an API listing. The sources stay as they are, for GitHub to show.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repository, resolveLink, root, sitePages } from './site.mjs'

const fence = /^\s*(`{3,}|~{3,})\s*(.*)$/
const link = /(!?\[(?:[^\]\\]|\\.)*\]\()(<?)([^)\s>]+)(>?(?:\s+"[^"]*")?\))/g

/** Writes all pages below `folder`; returns what is wrong, one line each. */
export function stage(folder, here) {
  rmSync(folder, { recursive: true, force: true })
  const pages = sitePages()
  const problems = []
  const images = new Set()
  for (const [path, page] of pages) {
    const text = readFileSync(join(root, path), 'utf8')
    const staged = outsideCode(text, (prose) =>
      prose.replaceAll(link, (_all, open, less, target, close) => {
        const { to, broken, copy } = resolveLink(path, target, pages, open.startsWith('!'))
        if (broken !== undefined) problems.push(broken)
        if (copy !== undefined) images.add(copy)
        return open + less + (to ?? target) + close
      }),
    )
    write(folder, page, frontmatterOf(path) + (page.startsWith('api/') ? withIndex(staged) : staged))
  }
  for (const path of images) {
    mkdirSync(dirname(join(folder, 'images', path)), { recursive: true })
    cpSync(join(root, path), join(folder, 'images', path))
  }
  write(folder, 'index.md', home(here))
  mkdirSync(join(folder, 'public'), { recursive: true })
  cpSync(join(root, 'docs/airlift.png'), join(folder, 'public', 'airlift.png'))
  return problems
}

function write(folder, page, text) {
  mkdirSync(dirname(join(folder, page)), { recursive: true })
  writeFileSync(join(folder, page), text)
}

/** Changes the text between blocks of code, where a link may go over the end of a line; a block says its language and no more. */
function outsideCode(text, change) {
  const parts = []
  let prose = []
  let open
  const flush = () => {
    if (prose.length > 0) parts.push(change(prose.join('\n')))
    prose = []
  }
  for (const line of text.split('\n')) {
    const found = fence.exec(line)
    if (open === undefined && found === null) {
      prose.push(line)
      continue
    }
    flush()
    if (open === undefined) {
      open = found[1]
      parts.push(line.replace(/^(\s*[`~]{3,}\w*).*$/, '$1'))
      continue
    }
    if (found !== null && found[2] === '' && found[1].startsWith(open)) open = undefined
    parts.push(line)
  }
  flush()
  return parts.join('\n')
}

/** Where it is edited, and how deep the outline goes. */
function frontmatterOf(path) {
  const deep = path.endsWith('/api.md')
  return `---\nedit: ${repository}/edit/main/${path}\noutline: ${deep ? 2 : '[2, 3]'}\n${path.endsWith('/troubleshooting.md') ? 'pageClass: troubles\n' : ''}---\n\n`
}

/** Before the listing of each entry of a package, its names as links: it is read by looking up. */
function withIndex(text) {
  const seen = new Map()
  const anchor = (name) => {
    const slug = name
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-')
    const n = seen.get(slug) ?? 0
    seen.set(slug, n + 1)
    return n === 0 ? slug : `${slug}-${n}`
  }
  const sections = text.split(/^(?=## )/m)
  return sections
    .map((section) => {
      let first = true
      const names = []
      for (const [, marks, title] of section.matchAll(/^(#{1,3}) (.+)$/gm)) {
        const id = anchor(title)
        if (marks === '###') names.push(`[${title}](#${id})`)
      }
      if (names.length < 8) return section
      return section.replace(/^## .+$/m, (heading) => {
        if (!first) return heading
        first = false
        return `${heading}\n\n<div class="names">\n\n${names.join(' ')}\n\n</div>`
      })
    })
    .join('')
}

/** The first page: our own words, and the README's example, which is tested there. */
function home(here) {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const example = /```ts\n[\s\S]*?```/.exec(readme)?.[0]
  if (example === undefined) throw new Error('README.md has no example for the first page.')
  const text = readFileSync(join(here, 'home.md'), 'utf8')
  return text.replace('<!-- the example of the README -->', () => example).replaceAll('{repository}', repository)
}

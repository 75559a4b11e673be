// What the site is made of: which Markdown of the repository becomes which page, and the order of the side bar, which is the order of
// docs/README.md. Nothing is written here that GitHub would not show as well.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))
export const repository = 'https://github.com/troupe-actors/troupe'

const markdownIn = (folder) =>
  (existsSync(join(root, folder)) ? readdirSync(join(root, folder)) : []).filter((name) => name.endsWith('.md')).map((name) => `${folder}/${name}`)
const foldersIn = (folder, file) =>
  readdirSync(join(root, folder))
    .map((name) => `${folder}/${name}/${file}`)
    .filter((path) => existsSync(join(root, path)))

/** Each page of the site by its path in the repository. */
export function sitePages() {
  const pages = new Map([['docs/README.md', 'guide/index.md']])
  for (const name of ['SEMANTICS', 'ARCHITECTURE', 'CONTRIBUTING', 'CHANGELOG', 'SECURITY']) pages.set(`${name}.md`, `${name.toLowerCase()}.md`)
  for (const folder of ['guide', 'recipes', 'coming-from', 'decisions'])
    for (const path of markdownIn(`docs/${folder}`)) pages.set(path, path.slice('docs/'.length).replace(/README\.md$/, 'index.md'))
  for (const path of foldersIn('packages', 'api.md')) pages.set(path, `api/${path.split('/')[1]}.md`)
  for (const path of foldersIn('examples', 'README.md')) pages.set(path, `examples/${path.split('/')[1]}.md`)
  pages.set('bench/report/report.md', 'benchmarks.md')
  return pages
}

/** The side bar: groups and their pages, as docs/README.md lists them. Its links are paths in the repository. */
export function contents() {
  const groups = []
  for (const line of readFileSync(join(root, 'docs/README.md'), 'utf8').split('\n')) {
    const group = /^## (.+)$/.exec(line)
    if (group !== null) groups.push({ text: group[1], items: [] })
    const item = /^(?:- |\| )\[([^\]]+)\]\(([^)]+)\)/.exec(line)
    if (item !== null) groups.at(-1)?.items.push({ text: item[1].replaceAll('`', ''), path: posix.join('docs', item[2]) })
  }
  return groups
}

/** Where a link of a page leads on the site: to another page, to a picture that is copied where it is shown, or to the repository. */
export function resolveLink(from, target, pages, shown) {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return { to: target }
  const [file, anchor] = decodeURI(target).split('#')
  if (file === '') return { to: target }
  const path = posix.normalize(posix.join(dirname(from), file)).replace(/\/$/, '')
  if (!existsSync(join(root, path))) return { broken: `${from}: ${target} does not exist` }
  const hash = anchor === undefined ? '' : `#${anchor}`
  const page = pages.get(path) ?? pages.get(`${path}/README.md`)
  if (page !== undefined) return { to: posix.relative(dirname(pages.get(from)), page) + hash, page }
  if (path === 'README.md') return { to: posix.relative(dirname(pages.get(from)), 'index.md') + hash }
  if (shown) return { to: posix.relative(dirname(pages.get(from)), `images/${path}`), copy: path }
  return { to: `${repository}/blob/main/${path}${hash}` }
}

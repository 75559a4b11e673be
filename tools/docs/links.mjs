// Every link of the built site leads to a page, a file or a heading of it. Links to elsewhere are left alone: whether a file of the
// repository is there was asked when the page was written.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, posix, sep } from 'node:path'

const attribute = /\s(?:href|src)="([^"]*)"/g

/** What is broken, one line each. */
export function brokenLinks(dist) {
  const pages = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.html'))
    .map((path) => path.split(sep).join('/'))
  const texts = new Map(pages.map((path) => [path, readFileSync(join(dist, path), 'utf8')]))
  const ids = new Map()
  const idsOf = (path) => {
    const known = ids.get(path) ?? new Set([...texts.get(path).matchAll(/\sid="([^"]+)"/g)].map((found) => unescape(found[1])))
    ids.set(path, known)
    return known
  }
  const broken = []
  for (const [path, text] of texts) {
    for (const found of text.matchAll(attribute)) {
      const target = unescape(found[1])
      if (target === '' || /^([a-z][a-z+.-]*:|\/\/)/i.test(target)) continue
      const [file, anchor] = target.split('#')
      const to = file === '' ? path : pathOf(file, path)
      const at = to.endsWith('/') || to === '' ? `${to}index.html` : to
      if (!existsSync(join(dist, at)) || statSync(join(dist, at)).isDirectory()) broken.push(`${path}: ${target} leads nowhere`)
      else if (anchor && texts.has(at) && !idsOf(at).has(decodeURIComponent(anchor))) broken.push(`${path}: ${target} has no such heading`)
    }
  }
  return [...new Set(broken)]
}

const pathOf = (file, from) => {
  const plain = decodeURIComponent(file.split('?')[0])
  return plain.startsWith('/') ? plain.slice(1) : posix.join(dirname(from), plain)
}

const unescape = (text) => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>')

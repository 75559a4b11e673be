// Reads the Markdown of this repository as far as its tests need it: fenced code blocks, links and headings. By line,
// as CommonMark has it: a fence ends with the same character, at least as long, and nothing in it is a link.

import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root: string = fileURLToPath(new URL('..', import.meta.url))

export interface CodeBlock {
  /** The words after the fence, such as `['ts', 'continued']`. */
  readonly info: readonly string[]
  /** The line of the opening fence, from 1. */
  readonly line: number
  readonly code: string
}

export interface Link {
  readonly target: string
  readonly line: number
}

export interface Page {
  readonly blocks: readonly CodeBlock[]
  readonly links: readonly Link[]
  /** The anchors that its headings have, as code hosts make them. */
  readonly anchors: readonly string[]
}

/** The pages of the repository, as paths from its root: at the top, in docs, and the READMEs of packages and examples. */
export function pagePaths(): string[] {
  const inside = (folder: string, keep: (path: string) => boolean): string[] => {
    try {
      return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.md') && !/(^|[\\/])(node_modules|dist)[\\/]/.test(path) && keep(path))
        .map((path) => relative(root, join(root, folder, path)).replaceAll(sep, '/'))
    } catch {
      return []
    }
  }
  const top = readdirSync(root).filter((name) => name.endsWith('.md'))
  return [
    ...top,
    ...inside('docs', () => true),
    ...['packages', 'examples', 'bench'].flatMap((f) => inside(f, (p) => p.endsWith('README.md'))),
  ].toSorted()
}

export function readPage(path: string): Page {
  return parsePage(readFileSync(join(root, path), 'utf8'))
}

const fence = /^(\s*)(`{3,}|~{3,})\s*(.*)$/
const heading = /^#{1,6}\s+(.*?)\s*#*\s*$/
const inlineLink = /\[(?:[^\]\\]|\\.)*\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g
const namedLink = /^\s{0,3}\[[^\]]+\]:\s+(\S+)/

export function parsePage(text: string): Page {
  const blocks: CodeBlock[] = []
  const links: Link[] = []
  const anchors: string[] = []
  let open: { indent: number; mark: string; info: string[]; line: number; code: string[] } | undefined
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const found = fence.exec(raw)
    if (open !== undefined) {
      const closes = found !== null && found[3] === '' && found[2]!.startsWith(open.mark)
      if (!closes) {
        open.code.push(raw.slice(Math.min(open.indent, raw.length - raw.trimStart().length)))
        continue
      }
      blocks.push({ info: open.info, line: open.line, code: open.code.join('\n') })
      open = undefined
    } else if (found !== null) {
      open = { indent: found[1]!.length, mark: found[2]!, info: found[3]!.split(/\s+/).filter(Boolean), line: index + 1, code: [] }
    } else {
      const line = raw.replaceAll(/`[^`]*`/g, (code) => (code.includes('](') ? '' : code))
      for (const match of line.matchAll(inlineLink)) links.push({ target: match[1]!, line: index + 1 })
      const named = namedLink.exec(line)
      if (named !== null) links.push({ target: named[1]!, line: index + 1 })
      const title = heading.exec(raw)
      if (title !== null) anchors.push(anchorOf(title[1]!, anchors))
    }
  }
  if (open !== undefined) throw new Error(`The code block of line ${open.line} is never closed.`)
  return { blocks, links, anchors }
}

function anchorOf(title: string, before: readonly string[]): string {
  const plain = title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  const slug = plain
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
  let anchor = slug
  for (let n = 1; before.includes(anchor); n++) anchor = `${slug}-${n}`
  return anchor
}

// Every link of every page leads somewhere: to a file or folder of the repository, and where it has one, to a heading.

import { existsSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { pagePaths, readPage, root } from './markdown.ts'

const elsewhere = /^[a-z][a-z+.-]*:/i

describe.each(pagePaths())('%s', (path) => {
  test('every link leads to a file, and every anchor to a heading', () => {
    const broken: string[] = []
    for (const { target, line } of readPage(path).links) {
      if (elsewhere.test(target)) continue
      const [file = '', anchor] = decodeURI(target).split('#')
      const to = file === '' ? path : posix.join(dirname(path), file)
      if (to.startsWith('..')) broken.push(`${path}:${line} ${target} leaves the repository`)
      else if (!existsSync(join(root, to))) broken.push(`${path}:${line} ${target} does not exist`)
      else if (anchor !== undefined && to.endsWith('.md') && !readPage(to).anchors.includes(anchor))
        broken.push(`${path}:${line} ${target} has no such heading`)
    }
    expect(broken).toEqual([])
  })
})

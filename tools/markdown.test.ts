import { expect, test } from 'vitest'
import { parsePage } from './markdown.ts'

test('a fence ends only with its own mark, so that a page may show fences', () => {
  const { blocks } = parsePage('````md\n```ts\nlet a\n```\n````\n\n~~~ts no-run\nlet b\n~~~')
  expect(blocks).toEqual([
    { info: ['md'], line: 1, code: '```ts\nlet a\n```' },
    { info: ['ts', 'no-run'], line: 7, code: 'let b' },
  ])
})

test('an indented block loses the indent of its fence and no more', () => {
  expect(parsePage('- x\n  ```ts\n  if (a) {\n    b()\n  }\n  ```').blocks[0]!.code).toBe('if (a) {\n  b()\n}')
})

test('links are found in text and tables, not in code', () => {
  const { links } = parsePage('[a](x.md) and `[b](y.md)`\n| [`c`](z.md#d "title") |\n```\n[e](w.md)\n```\n[f]: v.md')
  expect(links).toEqual([
    { target: 'x.md', line: 1 },
    { target: 'z.md#d', line: 2 },
    { target: 'v.md', line: 6 },
  ])
})

test('headings give the anchors that code hosts give them', () => {
  expect(parsePage('# A `b` — c!\n## Twice\n## Twice').anchors).toEqual(['a-b--c', 'twice', 'twice-1'])
})

test('a block that is never closed is an error that names its line', () => {
  expect(() => parsePage('x\n```ts\nlet a')).toThrow('line 2')
})

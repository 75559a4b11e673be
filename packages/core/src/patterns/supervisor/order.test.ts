import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InvalidChildren } from './errors.ts'
import { orderByNeeds } from './order.ts'

const named = (name: string, ...needs: string[]) => ({ name, needs })
const names = (children: readonly { readonly name: string }[]): string =>
  orderByNeeds(children as never[], 'It')
    .map((c: { name: string }) => c.name)
    .join('')

test('without needs children stay as declared', () => {
  expect(names([named('c'), named('a'), named('b')])).toBe('cab')
})

test('each child comes after what it needs, and no further from its place than that', () => {
  expect(names([named('a', 'c'), named('b'), named('c'), named('d', 'a')])).toBe('cabd')
})

test('a diamond starts each once', () => {
  expect(names([named('top', 'l', 'r'), named('l', 'base'), named('r', 'base'), named('base')]).length).toBe('toplrbase'.length)
})

test('a chain of 20,000 needs is ordered without recursion', () => {
  const chain = Array.from({ length: 20_000 }, (_, i) => named(`n${i}`, ...(i < 19_999 ? [`n${i + 1}`] : [])))
  expect(orderByNeeds(chain, 'It')[0]!.name).toBe('n19999')
})

test('any graph is either ordered so that needs come first, or refused with a cycle that exists', () => {
  const graph = fc.integer({ min: 1, max: 7 }).chain((n) => fc.array(fc.uniqueArray(fc.nat(n - 1), { maxLength: 2 }), { minLength: n, maxLength: n }))
  fc.assert(
    fc.property(graph, (edges) => {
      const children = edges.map((to, i) => named(`n${i}`, ...to.map((t) => `n${t}`)))
      try {
        const at = new Map(orderByNeeds(children, 'It').map((c, i) => [c.name, i]))
        expect(at.size).toBe(children.length)
        for (const c of children) for (const need of c.needs) expect(at.get(need)!).toBeLessThan(at.get(c.name)!)
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidChildren)
        const cycle = /a cycle, (.*)\. One/.exec((error as Error).message)![1]!.split(' → ')
        expect(cycle.at(-1)).toBe(cycle[0])
        for (let i = 1; i < cycle.length; i++) expect(children.find((c) => c.name === cycle[i - 1])!.needs).toContain(cycle[i])
      }
    }),
  )
})

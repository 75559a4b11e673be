import { expect, test } from 'vitest'
import { anonymousName } from '../../values/path.ts'
import type { Cell } from './cell.ts'
import { Children } from './children.ts'

/** A child that counts how often somebody goes on from it to the next one. */
function family(size: number): { readonly children: Children; readonly steps: () => number; readonly born: (uid: number) => Cell } {
  const children = new Children()
  let steps = 0
  const born = (uid: number): Cell => {
    let next: Cell | undefined
    const cell = {
      ref: { name: undefined, uid },
      previous: undefined,
      get next() {
        steps++
        return next
      },
      set next(other) {
        next = other
      },
    } as unknown as Cell
    children.add(cell)
    return cell
  }
  for (let uid = 1; uid <= size; uid++) born(uid)
  return { children, steps: () => steps, born }
}

test('an actor without a name is found among many without looking at each of them', () => {
  const { children, steps, born } = family(1000)
  expect(children.find(anonymousName(900))?.ref.uid).toBe(900)
  const looked = steps()
  for (let uid = 1; uid <= 1000; uid++) expect(children.find(anonymousName(uid))?.ref.uid).toBe(uid)
  expect(children.find(anonymousName(5000))).toBe(undefined)
  // Neither do those that come and go make it look again.
  const late = born(1001)
  expect(children.find(anonymousName(1001))).toBe(late)
  children.free(late)
  expect(children.find(anonymousName(1001))).toBe(undefined)
  expect(steps()).toBe(looked)
})

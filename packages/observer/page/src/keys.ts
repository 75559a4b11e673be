// Keys that work everywhere: numbers for views (8 and 9 for pages of your own), p to pause, / to search, arrows to scrub while paused.

import { views } from '../../src/feed/news.ts'
import { cursor, hello, linkTo, linkToOwn, moments } from './store.ts'

export function togglePause(): void {
  cursor.value = cursor.value === undefined ? moments.value.at(-1)?.round.seq : undefined
}
export function step(by: number): void {
  const all = moments.value
  const at = cursor.value ?? all.at(-1)?.round.seq
  const index = all.findIndex(({ round }) => round.seq === at)
  const next = all[Math.max(0, Math.min(all.length - 1, index + by))]
  if (next !== undefined) cursor.value = next.round.seq
}

export function listenToKeys(): void {
  addEventListener('keydown', (event) => {
    const { target, key } = event
    if (event.ctrlKey || event.metaKey || event.altKey || (target instanceof HTMLElement && target.matches('input, select, textarea'))) return
    const view = /^[1-7]$/.test(key) ? views[Number(key) - 1] : undefined
    const made = /^[89]$/.test(key) ? hello.value?.pages[Number(key) - 8] : undefined
    if (view !== undefined) location.hash = linkTo(view)
    else if (made !== undefined) location.hash = linkToOwn(made)
    else if (key === 'p') togglePause()
    else if (key === ',' || key === '.') step(key === ',' ? -1 : 1)
    else if (key === '/') {
      location.hash = linkTo('actors')
      setTimeout(() => document.querySelector<HTMLInputElement>('input[type=search]')?.focus(), 50)
    } else return
    event.preventDefault()
  })
}

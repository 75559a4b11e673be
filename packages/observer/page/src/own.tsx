// A page of somebody's own: asked for anew with every round while it is open; its figures are kept for as long as the page is.

import { effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { OwnNews } from '../../src/server/desk.ts'
import { ask } from './connection.ts'
import { Parts } from './parts.tsx'
import { link, moments, own, paused } from './store.ts'

const kept = 300
const shown = signal<{ readonly title: string; readonly news: OwnNews } | undefined>(undefined)
/** The values of each figure, by the page's title and then by its own. */
const past = new Map<string, Map<string, readonly number[]>>()

function remember(title: string, news: OwnNews): void {
  if ('wrong' in news) return
  let figures = past.get(title)
  if (figures === undefined) past.set(title, (figures = new Map()))
  for (const part of news.parts) if (part.kind === 'figure') figures.set(part.title, [...(figures.get(part.title) ?? []).slice(1 - kept), part.value])
}

export function Own() {
  useEffect(
    () =>
      effect(() => {
        const title = own.value
        void (paused.value ? undefined : moments.value)
        if (title !== undefined)
          void ask<OwnNews>('own', { title }).then((news) => {
            if (news === undefined || own.peek() !== title) return
            remember(title, news)
            shown.value = { title, news }
          })
      }),
    [],
  )
  const title = own.value
  const now = shown.value
  if (title === undefined || now?.title !== title)
    return (
      <p class="card empty">
        {link.value === 'report' ? 'This page is not in the report: only the one that was open when it was saved.' : 'Looking…'}
      </p>
    )
  const { news } = now
  if ('wrong' in news)
    return (
      <section class="card verdict bad">
        <div>
          This page could not be made
          <p class="mono">{news.wrong}</p>
        </div>
      </section>
    )
  return news.parts.length === 0 ? <p class="card empty">There is nothing on this page now.</p> : <Parts parts={news.parts} past={past.get(title)} />
}

// A report: this page with all that it has seen, as one file of HTML that anybody can open without a network. What is in it was shown on the
// page; there are no messages in it, and not the key.

import type { ProfileNews } from '../../src/feed/news.ts'
import { answerFrom, ask } from './connection.ts'
import { lastProfile, showProfile } from './flame.tsx'
import { cursor, hello, link, losses, marks, type Moment, moments, own, selected } from './store.ts'

const place = 'troupe-report'

interface Saved {
  readonly hello: typeof hello.value
  readonly moments: readonly (Omit<Moment, 'cells'> & {
    readonly cells: { readonly uids: readonly number[]; readonly state: readonly number[] } | undefined
  })[]
  readonly marks: typeof marks.value
  readonly losses: typeof losses.value
  readonly answers: Readonly<Record<string, unknown>>
}

/** Whether this page is a report; then it is opened. */
export function openReport(): boolean {
  const text = document.getElementById(place)?.textContent
  if (text === undefined || text === null) return false
  const saved = JSON.parse(text) as Saved
  hello.value = saved.hello
  moments.value = saved.moments.map((m) => ({
    ...m,
    cells: m.cells === undefined ? undefined : { uids: m.cells.uids, state: Uint8Array.from(m.cells.state) },
  }))
  marks.value = saved.marks
  losses.value = saved.losses
  cursor.value = saved.moments.at(-1)?.round.seq
  link.value = 'report'
  answerFrom(saved.answers)
  showProfile(saved.answers['profile'] as ProfileNews | undefined)
  return true
}

/** Nothing in it can end the element that it is in. */
const jsonIn = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c')
const scriptIn = (code: string): string => code.replaceAll('</', '<\\/').replaceAll('<!--', '<\\!--')

async function fileText(path: string): Promise<string> {
  return (await fetch(path)).text()
}

export async function saveReport(): Promise<void> {
  const [code, style] = await Promise.all([fileText('/page.js'), fileText('/page.css')])
  const lines = await ask('lines', { mode: 'flat', sort: 'trouble', filter: '', offset: 0, count: 500, opened: [], closed: [], full: [] })
  const uid = selected.value
  const answers = {
    lines,
    letters: await ask('letters'),
    traces: await ask('traces'),
    profile: lastProfile(),
    ...(uid === undefined ? {} : { actor: await ask('actor', { uid }) }),
    ...(own.value === undefined ? {} : { own: await ask('own', { title: own.value }) }),
  }
  const all = moments.value
  const saved: Saved = {
    hello: hello.value,
    // The cells of every round would be most of the file: those of the last minute are kept.
    moments: all.map(({ round, rate, cells }, i) => ({
      round,
      rate,
      cells: cells === undefined || i < all.length - 60 ? undefined : { uids: cells.uids, state: [...cells.state] },
    })),
    marks: marks.value,
    losses: losses.value,
    answers,
  }
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="content-security-policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<title>Troupe report</title><link rel="icon" href="data:,"><style>${style.replaceAll('</', '<\\/')}</style></head>
<body><div id="page"></div><script type="application/json" id="${place}">${jsonIn(saved)}</script>
<script type="module">${scriptIn(code)}</script></body></html>
`
  const anchor = document.createElement('a')
  anchor.href = URL.createObjectURL(new Blob([html], { type: 'text/html' }))
  const at = new Date().toISOString().slice(0, 19).replaceAll(/[:T]/g, '-')
  anchor.download = `troupe-${(hello.value?.system ?? 'system').replaceAll(/[^\w-]/g, '_')}-${at}.html`
  anchor.click()
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000)
}

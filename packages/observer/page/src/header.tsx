// On every view: which system, where one can go, and what the looking itself costs.

import { useEffect, useRef } from 'preact/hooks'
import { type View, views } from '../../src/feed/news.ts'
import { hello, link, linkTo, linkToOwn, losses, own, past, shown, view } from './store.ts'
import { count, duration, percent, plural } from './words.ts'

/** Milliseconds from which on it is said how old it is what is shown of single actors: more than a round may be late. */
const oldFrom = 1900

const titles: Readonly<Record<Exclude<View, 'own'>, string>> = {
  overview: 'Overview',
  actors: 'Actors',
  failures: 'Failures',
  waits: 'Waits',
  flow: 'Flow',
  traces: 'Traces',
  runtime: 'Runtime',
}
const links = {
  connecting: 'connecting',
  live: 'live',
  lost: 'connection lost',
  hidden: 'stopped while hidden',
  denied: 'no key',
  ended: 'system closed',
  report: 'saved report',
} as const

export function Header() {
  const now = shown.value
  const findings = now?.round.findings ?? []
  const nav = useRef<HTMLElement>(null)
  // On a phone there is room for four of them: the one that is open is shown.
  useEffect(() => nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }), [view.value, own.value])
  const worst = findings.some(({ severity }) => severity === 'error')
  return (
    <header class="top">
      <h1>
        <span aria-hidden="true">◧ </span>
        {hello.value?.system ?? 'Troupe'}
      </h1>
      <nav aria-label="Views" ref={nav}>
        <ul>
          {views.flatMap((one, i) =>
            one === 'own'
              ? []
              : [
                  <li key={one}>
                    <a href={linkTo(one)} aria-current={view.value === one ? 'page' : undefined} title={`key ${i + 1}`}>
                      {titles[one]}
                      {one === 'overview' && findings.length > 0 && (
                        <>
                          {' '}
                          <span class={`badge ${worst ? '' : 'warn'}`} aria-label={plural(findings.length, 'finding')}>
                            {findings.length}
                          </span>
                        </>
                      )}
                    </a>
                  </li>,
                ],
          )}
          {hello.value?.pages.map((title, i) => (
            <li key={`own ${title}`}>
              <a
                href={linkToOwn(title)}
                aria-current={view.value === 'own' && own.value === title ? 'page' : undefined}
                title={i < 2 ? `key ${8 + i}` : undefined}
              >
                {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="vitals">
        <span>
          <span class={`dot ${link.value}`} aria-hidden="true" />
          {links[link.value]}
        </span>
        {now !== undefined && <Figures />}
      </div>
    </header>
  )
}

function Figures() {
  const { round, rate } = shown.value!
  const lately = past.value.slice(-5)
  const spent = lately.reduce((sum, moment) => sum + moment.round.spent, 0)
  const passed = Math.max(1000, (lately.at(-1)?.round.at ?? 0) - (lately[0]?.round.at ?? 0))
  const { rounds, events } = losses.value
  return (
    <>
      <span>
        <b>{count(round.figures.actors)}</b> actors
      </span>
      <span>
        <b>{count(rate)}</b> msg/s
      </span>
      <span title="How much of one core it takes to look: surveys, and what is made for this page">looking takes {percent(spent / passed)}</span>
      <span title="Sends are looked at only where Flow or Traces is open">
        {round.sampling > 0 ? `sampled 1:${count(round.sampling)}` : 'not sampling'}
      </span>
      {round.age > oldFrom && (
        <span title="There are so many actors that to look at each of them every second would take too much">
          actors as of {duration(round.age)} ago
        </span>
      )}
      {rounds + events > 0 && <span class="red">lost {count(rounds + events)}</span>}
    </>
  )
}

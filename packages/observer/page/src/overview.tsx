// Is it healthy, and what needs me? The answer in one line, then what it rests on.

import { signal } from '@preact/signals'
import type { Finding } from '../../src/findings/finding.ts'
import { grouped } from '../../src/findings/words.ts'
import { Cells } from './cells.tsx'
import { ask } from './connection.ts'
import { Plot } from './plot.tsx'
import { link, linkTo, past, shown } from './store.ts'
import { count, duration, exact, ms, plural } from './words.ts'

export function Overview() {
  const now = shown.value
  if (now === undefined) return <p class="empty">Nothing was seen yet.</p>
  const moments = past.value
  const findings = now.round.findings.toSorted(worstFirst)
  const delay = moments.map(({ round }) => round.host.delayP99)
  const queued = moments.map(({ round }) => round.figures.queued)
  return (
    <>
      <Verdict findings={findings} />
      <div class="plots">
        <Plot title="Messages handled per second" values={moments.map(({ rate }) => rate).slice(1)} format={count} />
        <Plot
          title="Waiting in mailboxes"
          values={queued}
          format={count}
          tone={findings.some(({ rule }) => rule === 'mailbox-grows' || rule === 'starved') ? 'red' : 'blue'}
        />
        <Plot title="Event loop late by (p99)" values={delay} format={ms} tone={(delay.at(-1) ?? 0) > 50 ? 'amber' : 'blue'} />
        <Plot
          title="Restarts"
          values={moments.map(({ round }) => round.figures.restarts)}
          format={count}
          tone="amber"
          note={`${now.round.figures.restarts - (moments[0]?.round.figures.restarts ?? 0)} while you look`}
        />
      </div>
      <div class="cols">
        <section class="card">
          <h2>
            What needs you <small>worst first</small>
          </h2>
          <Findings findings={findings} at={now.round.at} />
        </section>
        <div class="stack">
          <Cells />
          <Ledger />
        </div>
      </div>
    </>
  )
}

/** What stops others, then what grows, then what is only to be looked at. */
const ranks: readonly Finding['rule'][] = [
  'ledger-off',
  'journal-away',
  'readers-held',
  'wait-cycle',
  'handler-pending',
  'restart-storm',
  'starved',
  'mailbox-grows',
  'dead-letters',
  'drops',
  'holds-loop',
  'uneven-pool',
  'retention-held',
]
const rankOf = ({ rule }: Finding): number => (ranks.includes(rule) ? ranks.indexOf(rule) : ranks.length)
const weightOf = ({ evidence }: Finding): number =>
  Number(evidence['queued'] ?? evidence['longest'] ?? evidence['failures'] ?? evidence['letters'] ?? 0)

function worstFirst(a: Finding, b: Finding): number {
  if (a.severity !== b.severity) return a.severity === 'error' ? -1 : 1
  return rankOf(a) - rankOf(b) || weightOf(b) - weightOf(a) || a.since - b.since
}

function Verdict({ findings }: { readonly findings: readonly Finding[] }) {
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const warnings = findings.length - errors
  const seconds = past.value.length
  if (errors > 0)
    return (
      <section class="card verdict bad" aria-live="polite">
        <span class="red" aria-hidden="true">
          ■
        </span>
        <div>
          It needs you: {plural(errors, 'thing')} will not get better by {errors === 1 ? 'itself' : 'themselves'}
          <p>
            <Named findings={findings.slice(0, errors)} />
            {warnings > 0 ? ` · ${plural(warnings, 'more thing')} to look at after that` : ''}
          </p>
        </div>
      </section>
    )
  if (warnings > 0)
    return (
      <section class="card verdict warn" aria-live="polite">
        <span class="amber" aria-hidden="true">
          ▲
        </span>
        <div>
          {plural(warnings, 'thing')} to look at, nothing that is stuck
          <p>
            <Named findings={findings} />
          </p>
        </div>
      </section>
    )
  return (
    <section class="card verdict good" aria-live="polite">
      <span class="green" aria-hidden="true">
        ✓
      </span>
      <div>
        Nothing needs you
        <p>
          {seconds < 15 ? 'As far as can be said after a few seconds: some things show only after ten.' : 'Fifteen kinds of trouble were looked for.'}
        </p>
      </div>
    </section>
  )
}

/** The first of them by name: what it is, and whom it is about. */
function Named({ findings }: { readonly findings: readonly Finding[] }) {
  return (
    <>
      {findings.slice(0, 2).map(({ id, title, subject }, i) => (
        <span key={id}>
          {i > 0 && ', '}
          {title} <span class="subject">{subject}</span>
        </span>
      ))}
      {findings.length > 2 && ` and ${exact(findings.length - 2)} more`}
    </>
  )
}

const views: Readonly<Record<Finding['view'], string>> = {
  actors: 'Actors',
  waits: 'Waits',
  failures: 'Failures',
  flow: 'Flow',
  runtime: 'Runtime',
  overview: 'Ledger',
}

function Findings({ findings, at }: { readonly findings: readonly Finding[]; readonly at: number }) {
  if (findings.length === 0)
    return (
      <p class="empty">
        <b>No findings</b>
        No cycle of waits, no mailbox that only grows, no restart storm, nobody who holds the loop, no letters lost.
      </p>
    )
  const groups = grouped(findings, ({ rule, severity }) => `${severity} ${rule}`)
  return (
    <ul class="findings">
      {[...groups].map(([key, alike]) => (
        <Alike key={key} rule={key} alike={alike} at={at} />
      ))}
    </ul>
  )
}

/** Findings of one rule that are shown before the rest is folded. */
const alikeShown = 2
const unfolded = signal<ReadonlySet<string>>(new Set())

function Alike({ rule, alike, at }: { readonly rule: string; readonly alike: readonly Finding[]; readonly at: number }) {
  const all = unfolded.value.has(rule) || alike.length <= alikeShown + 1
  const rest = alike.slice(alikeShown)
  return (
    <>
      {(all ? alike : alike.slice(0, alikeShown)).map((finding) => (
        <Found key={finding.id} finding={finding} at={at} />
      ))}
      {!all && (
        <li class="more">
          <span />
          <button type="button" class="quiet" onClick={() => (unfolded.value = new Set([...unfolded.value, rule]))}>
            {exact(rest.length)} more like this:{' '}
            {rest
              .slice(0, 3)
              .map(({ subject }) => subject)
              .join(', ')}
            {rest.length > 3 ? '…' : ''}
          </button>
          <span />
        </li>
      )}
    </>
  )
}

function Found({ finding, at }: { readonly finding: Finding; readonly at: number }) {
  return (
    <li>
      <span class={finding.severity === 'error' ? 'red' : 'amber'} role="img" aria-label={finding.severity}>
        {finding.severity === 'error' ? '■' : '▲'}
      </span>
      <div>
        <b>{finding.title}</b> <span class="subject">{finding.subject}</span>
        <p class="said">
          {finding.sentence}
          {finding.sentence.includes(' for ') ? '' : ` · for ${duration(Math.max(1000, at - finding.since))}`}
        </p>
      </div>
      <div class="acts">
        {finding.view !== 'overview' && (
          <a class="button" href={linkTo(finding.view, finding.uids[0])}>
            {views[finding.view]} →
          </a>
        )}
        <a class="button" href={finding.docs} target="_blank" rel="noreferrer" aria-label={`What ${finding.title} means`}>
          ?
        </a>
        {link.value === 'live' && (
          <button type="button" class="quiet" title="Say no more of this one" onClick={() => void ask('mute', { id: finding.id })}>
            Mute
          </button>
        )}
      </div>
    </li>
  )
}

function Ledger() {
  const ledger = shown.value?.round.ledger
  if (ledger === undefined) return null
  const rows: readonly (readonly [name: string, value: number, tone: string])[] = [
    ['handled', ledger.handled, ''],
    ['queued', ledger.queued, ''],
    ['in progress', ledger.inProgress, ''],
    ['stashed', ledger.stashed, ''],
    ['failed', ledger.failed, 'red'],
    ['unhandled', ledger.unhandled, 'amber'],
    ['dropped', ledger.dropped, 'amber'],
    ['dead letters', ledger.deadLettered, 'amber'],
    ['unknown', ledger.unknown, 'red'],
  ]
  const sum = rows.reduce((all, [, value]) => all + value, 0)
  const off = ledger.sent - sum
  return (
    <section class="card">
      <h2>
        Where every message is <small>counted every fifth round</small>
      </h2>
      <table>
        <tbody>
          <tr>
            <th scope="row">sent</th>
            <td class="num">{exact(ledger.sent)}</td>
            <td />
          </tr>
          {rows
            .filter(([name, value]) => value > 0 || name === 'handled' || name === 'queued' || name === 'failed' || name === 'dead letters')
            .map(([name, value, tone]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="num">{exact(value)}</td>
                <td>
                  <div class={`bar ${tone}`}>
                    <span style={{ width: `${ledger.sent === 0 ? 0 : Math.max(value > 0 ? 1 : 0, (value / ledger.sent) * 100)}%` }} />
                  </div>
                </td>
              </tr>
            ))}
        </tbody>
      </table>
      {off === 0 ? (
        <p class="green">✓ adds up</p>
      ) : (
        <p class={Math.abs(off) > 0 ? 'red' : ''}>
          ✗ {exact(Math.abs(off))} {off > 0 ? 'are missing' : 'too many'}
        </p>
      )}
    </section>
  )
}

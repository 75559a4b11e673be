// Who floods whom? Kinds of actors, and what goes between them, from samples.

import { useState } from 'preact/hooks'
import { Graph } from './graph.tsx'
import { linkToKind, shown } from './store.ts'
import { count, plural } from './words.ts'

const behindFrom = 100

export function Flow() {
  const [chosen, choose] = useState<string | undefined>(undefined)
  const round = shown.value?.round
  const flow = round?.flow
  if (flow === undefined) return <p class="card empty">Flow was not sampled at that moment: it is only while this view is open.</p>
  if (flow.edges.length === 0)
    return (
      <section class="card">
        <p class="empty">
          <b>No message was seen yet</b>Sends are sampled from now on; if the system does anything it shows within a second or two.
        </p>
      </section>
    )
  const most = Math.max(...flow.edges.map(({ rate }) => rate))
  const boxes = flow.nodes.map(({ kind, actors, queued }) => ({
    id: kind,
    title: actors > 1 ? `${kind} ×${count(actors)}` : kind,
    text:
      kind === 'outside' || kind === 'timers'
        ? 'not an actor'
        : kind === 'ended'
          ? 'have ended'
          : `${queued > behindFrom ? '▲ ' : ''}${count(queued)} queued`,
    tone: queued > behindFrom ? ('red' as const) : undefined,
    href: actors > 0 ? linkToKind(kind) : undefined,
  }))
  const arrows = flow.edges.map(({ from, to, type, otherTypes, rate }) => ({
    from,
    to,
    text: `${type}${otherTypes > 0 ? ` +${otherTypes}` : ''} ${rate < 10 ? rate.toFixed(1) : count(rate)}/s`,
    // By the logarithm: else all but the thickest would be a hair.
    width: 1.2 + 6 * (Math.log10(1 + rate) / Math.log10(1 + most)),
  }))
  const rows = flow.edges.filter(({ from, to }) => chosen === undefined || from === chosen || to === chosen).toSorted((a, b) => b.rate - a.rate)
  return (
    <>
      <section class="card">
        <h2>
          Who talks to whom{' '}
          <small>
            by kind; about, from one of {count(round?.sampling ?? 1)} sends · thicker: more per second · red: over {behindFrom} queued · +2: and two
            other types
          </small>
        </h2>
        <Graph boxes={boxes} arrows={arrows} label={`${plural(flow.nodes.length, 'kind')}, ${plural(flow.edges.length, 'way')} between them`} />
        {flow.leftOut > 0 && <p class="dim">{plural(flow.leftOut, 'more kind')} with less traffic are not shown.</p>}
      </section>
      <section class="card">
        <div class="tools">
          <h2>Ways</h2>
          <label>
            <span class="dim">of </span>
            <select value={chosen ?? ''} onChange={(event) => choose(event.currentTarget.value || undefined)}>
              <option value="">all kinds</option>
              {flow.nodes.map(({ kind }) => (
                <option key={kind} value={kind}>
                  {kind}
                </option>
              ))}
            </select>
          </label>
        </div>
        <div class="scroll">
          <table class="ways">
            <thead>
              <tr>
                <th>from</th>
                <th>to</th>
                <th>mostly</th>
                <th class="num">messages/s</th>
                <th>beside the others</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, 60).map(({ from, to, type, otherTypes, rate }) => (
                <tr key={`${from} ${to}`}>
                  <td class="mono">{from}</td>
                  <td class="mono">{to}</td>
                  <td>
                    {type}
                    {otherTypes > 0 && <span class="dim"> and {plural(otherTypes, 'other type')}</span>}
                  </td>
                  <td class="num">{count(rate)}</td>
                  <td>
                    <div class="bar">
                      <span style={{ width: `${(rate / most) * 100}%` }} />
                    </div>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </>
  )
}

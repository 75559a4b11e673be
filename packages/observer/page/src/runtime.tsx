// What it runs on: threads, dispatchers, the event loop, the collector, memory; and who held the loop.

import { Flame } from './flame.tsx'
import { Parts } from './parts.tsx'
import { Plot } from './plot.tsx'
import { hello, linkTo, past, shown } from './store.ts'
import { bytes, count, exact, ms, percent, plural } from './words.ts'

export function Runtime() {
  const now = shown.value
  if (now === undefined) return null
  const hosts = past.value.map(({ round }) => round.host)
  const { host, runtime } = now.round
  return (
    <>
      <div class="plots">
        <Plot
          title="Event loop late by, at most"
          values={hosts.map(({ delayMax }) => delayMax)}
          format={ms}
          tone={host.delayMax > 100 ? 'amber' : 'blue'}
        />
        <Plot title="Processor" values={hosts.map(({ cpu }) => cpu)} format={percent} note="of one core" />
        <Plot title="Heap" values={hosts.map(({ heapUsed }) => heapUsed)} format={bytes} note={`limit ${bytes(host.heapLimit)}`} />
        <Plot
          title="Garbage collector"
          values={hosts.map(({ gcMs }) => gcMs)}
          format={ms}
          note={`${plural(host.gcCount, 'run')} in the last round`}
        />
      </div>
      <div class="cols even">
        <section class="card">
          <h2>
            Threads{' '}
            <small>
              process {hello.value?.pid}, Node {hello.value?.node}, {bytes(host.rss)} resident
            </small>
          </h2>
          {runtime === undefined ? <p class="dim">Not kept for that moment.</p> : <Threads threads={runtime.threads} />}
        </section>
        <section class="card">
          <h2>
            Who held the loop <small>in the last minute, longest first</small>
          </h2>
          {runtime === undefined || runtime.slow.length === 0 ? (
            <p class="empty">Nobody held it for long.</p>
          ) : (
            <div class="scroll">
              <table>
                <thead>
                  <tr>
                    <th>actor</th>
                    <th>at</th>
                    <th class="num">times</th>
                    <th class="num">longest</th>
                  </tr>
                </thead>
                <tbody>
                  {runtime.slow.slice(0, 8).map(({ path, uid, message, times, longest }) => (
                    <tr key={path}>
                      <td class="mono">{uid === undefined ? path : <a href={linkTo('actors', uid)}>{path}</a>}</td>
                      <td>{message ?? '–'}</td>
                      <td class="num">{exact(times)}</td>
                      <td class="num amber">{ms(longest)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </section>
      </div>
      <Flame />
      {runtime !== undefined && runtime.others.length > 0 && <Parts parts={runtime.others} />}
      {runtime !== undefined && (
        <section class="card">
          <h2>
            Dispatchers <small>fair: 1 when all who had turns shared evenly · pressure: after how many turns there was more to do</small>
          </h2>
          <div class="scroll" tabIndex={0} role="group" aria-label="Dispatchers">
            <table>
              <thead>
                <tr>
                  <th>name</th>
                  <th class="num">turns</th>
                  <th class="num">messages</th>
                  <th class="num">per turn</th>
                  <th class="num">fair</th>
                  <th class="num">pressure</th>
                  <th class="num">loop latency p99</th>
                </tr>
              </thead>
              <tbody>
                {runtime.dispatchers.map((one) => (
                  <tr key={one.name}>
                    <td class="mono">{one.name}</td>
                    <td class="num">{count(one.turns)}</td>
                    <td class="num">{count(one.messages)}</td>
                    <td class="num">{one.messagesPerTurn.toFixed(1)}</td>
                    <td class="num">{one.fairness.toFixed(2)}</td>
                    <td class={`num ${one.pressure > 90 ? 'amber' : ''}`}>{Math.round(one.pressure)} %</td>
                    <td class="num">{ms(one.latencyP99)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
    </>
  )
}

function Threads({ threads }: { readonly threads: NonNullable<NonNullable<typeof shown.value>['round']['runtime']>['threads'] }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Threads">
      <table>
        <thead>
          <tr>
            <th>thread</th>
            <th class="num">actors</th>
            <th class="num">queued</th>
            <th class="num">messages/s</th>
            <th>busy with turns</th>
            <th>answers</th>
          </tr>
        </thead>
        <tbody>
          {threads.map(({ thread, actors, queued, rate, load, silent }) => (
            <tr key={thread}>
              <td class="name">{thread < 0 ? 'main' : `thread ${thread}`}</td>
              <td class="num">{exact(actors)}</td>
              <td class="num">{count(queued)}</td>
              <td class="num">{count(rate)}</td>
              <td>
                <div class={`bar ${load > 900 ? 'amber' : ''}`} title={`${Math.round(load / 10)} %`}>
                  <span style={{ width: `${Math.min(100, load / 10)}%` }} />
                </div>
              </td>
              <td class={silent ? 'red' : 'green'}>{silent ? '◆ does not answer' : '✓'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

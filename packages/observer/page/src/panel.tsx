// One actor: why it is behind, in words; its figures; what it waits for; what happened to it.

import { effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { CloseNews } from '../../src/feed/news.ts'
import type { SeenEvent } from '../../src/findings/frame.ts'
import { sortOf } from '../../src/findings/words.ts'
import type { ActorNews } from '../../src/server/desk.ts'
import { CapsuleButton } from './capsule.tsx'
import { Bars } from './bars.tsx'
import { ask } from './connection.ts'
import { Plot } from './plot.tsx'
import { hello, link, linkTo, moments, past, paused, selected } from './store.ts'
import { count, duration, exact, ms, percent, plural, timeOfDay } from './words.ts'

type Answer = ActorNews | { readonly gone: true }
const actor = signal<{ readonly uid: number; readonly answer: Answer } | undefined>(undefined)
/** What its mailbox held, for as long as it has been looked at. */
const queued = signal<{ readonly uid: number; readonly values: readonly number[] }>({ uid: -1, values: [] })

async function refresh(uid: number): Promise<void> {
  const answer = await ask<Answer>('actor', { uid })
  if (answer === undefined || selected.value !== uid) return
  actor.value = { uid, answer }
  if ('gone' in answer) return
  const before = queued.value.uid === uid ? queued.value.values : []
  queued.value = { uid, values: [...before.slice(-299), answer.detail.queued] }
}

export function ActorPanel() {
  useEffect(
    () =>
      effect(() => {
        const uid = selected.value
        void (paused.value ? undefined : moments.value)
        if (uid !== undefined) void refresh(uid)
      }),
    [],
  )
  const uid = selected.value
  const known = actor.value
  if (uid === undefined)
    return (
      <aside class="card" aria-label="The actor that is chosen">
        <p class="empty">
          <b>Choose an actor</b>Here it says why it is behind, what it waits for and what happened to it.
        </p>
      </aside>
    )
  if (known?.uid !== uid)
    return (
      <aside class="card" aria-label="The actor that is chosen">
        <p class="empty">
          {link.value === 'report' ? 'This actor is not in the report: only the one that was chosen when it was saved.' : 'Looking…'}
        </p>
      </aside>
    )
  if ('gone' in known.answer)
    return (
      <aside class="card" aria-label="The actor that is chosen">
        <p class="empty">
          <b>It has ended</b>
          Actor {uid} is no more.
        </p>
        <Happened uid={uid} />
      </aside>
    )
  return <Shown uid={uid} news={known.answer} />
}

function Shown({ uid, news }: { readonly uid: number; readonly news: ActorNews }) {
  const { detail, why, pace, oldest, close } = news
  const [reason = '', ...rest] = why
  const fine = reason.startsWith('It is not')
  const { mailbox } = detail
  return (
    <aside class="card" aria-label="The actor that is chosen">
      <h2 class="mono">{detail.path}</h2>
      <p class="dim">
        {detail.kind}
        {detail.label === undefined ? '' : ` · ${detail.label}`} · <span class={detail.phase === 'running' ? 'green' : 'red'}>{detail.phase}</span> ·{' '}
        {mailbox.kind} mailbox
        {mailbox.capacity === undefined ? '' : ` of ${count(mailbox.capacity)}`} · {detail.dispatcher}
        {detail.thread === undefined ? '' : ` · thread ${detail.thread}`} · uid {uid}
      </p>
      <div class={`why ${fine ? '' : 'bad'}`}>
        <h3>Why is it behind?</h3>
        {[reason, ...rest].map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        {oldest !== undefined && detail.queued > 0 && (
          <p>
            The oldest message{detail.nextType === undefined ? '' : `, ${detail.nextType},`} has waited {oldest.atLeast ? 'at least ' : ''}
            <b>{duration(Math.max(1, oldest.ms))}</b>.
          </p>
        )}
      </div>
      <dl class="figures">
        <Figure name="handled" value={pace === undefined ? '–' : `${count(pace.rate)}/s`} />
        <Figure name="per message" value={pace === undefined || pace.rate === 0 ? '–' : ms(pace.load / pace.rate)} />
        <Figure name="turns" value={pace === undefined ? '–' : `${count(pace.turns)}/s`} />
        <Figure name="of the loop" value={pace === undefined ? '–' : percent(pace.load / 1000)} />
        <Figure name="restarts" value={exact(detail.incarnation)} />
        <Figure name="stashed" value={exact(detail.stashed)} />
        <Figure name="children" value={exact(detail.childCount)} />
        <Figure name="timers" value={detail.timers === undefined ? '–' : exact(detail.timers)} />
      </dl>
      {detail.thread !== undefined && (
        <p class="dim">It runs on thread {detail.thread}: its timers, how long messages wait and what it was given last are not seen from here.</p>
      )}
      <Plot
        title="In its mailbox"
        values={queued.value.uid === uid ? queued.value.values : [detail.queued]}
        format={count}
        tone={fine ? 'blue' : 'red'}
      />
      {close !== undefined && <Close close={close} />}
      <Questions uid={uid} waits={detail.waits} />
      <Timers timers={detail.timers ?? 0} set={detail.timersSet} />
      <Watches watchers={detail.watchers ?? 0} watchedBy={detail.watchedBy} watching={detail.watching} />
      <Happened uid={uid} failures={news.failures} />
      {news.failures.length > 0 && news.capsules && link.value === 'live' && <CapsuleButton path={detail.path} />}
      {close !== undefined && <LastGiven last={close.last} payloads={close.payloads} />}
      {hello.value?.control === true && link.value === 'live' && detail.path !== '/user' && (
        <p>
          <button type="button" class="danger" onClick={() => confirm(`Stop ${detail.path}?`) && void ask('stop', { path: detail.path })}>
            Stop this actor
          </button>
        </p>
      )}
    </aside>
  )
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function Close({ close: { senders, receivers, queueTime, handlerTime, since } }: { readonly close: CloseNews }) {
  const few = senders.length === 0 && receivers.length === 0
  return (
    <>
      <Bars title="Handler time" of={handlerTime} tone="blue" />
      <Bars title="Time in the mailbox" of={queueTime} tone="amber" />
      {few ? (
        since > 3000 && <p class="dim">Nobody has sent to it since you look.</p>
      ) : (
        <>
          <Partners title="Who sends to it" partners={senders} />
          <Partners title="To whom it sends" partners={receivers} />
        </>
      )}
    </>
  )
}

function Partners({ title, partners }: { readonly title: string; readonly partners: CloseNews['senders'] }) {
  if (partners.length === 0) return null
  const all = partners.reduce((sum, { rate }) => sum + rate, 0)
  return (
    <>
      <h2>
        {title} <small>sampled</small>
      </h2>
      <ol class="partners">
        {partners.slice(0, 6).map(({ who, uid, type, rate }) => (
          <li key={`${who} ${type}`}>
            <span class="mono">{uid === undefined ? who : <a href={linkTo('actors', uid)}>{who}</a>}</span>
            <span>{type}</span>
            <span class="num">{rate < 10 ? rate.toFixed(1) : count(rate)}/s</span>
            <span class="num dim">{percent(rate / Math.max(0.001, all))}</span>
          </li>
        ))}
      </ol>
    </>
  )
}

function Timers({ timers, set }: { readonly timers: number; readonly set: ActorNews['detail']['timersSet'] }) {
  if (set.length === 0) return null
  return (
    <>
      <h2>
        Timers <small>those first that are due next</small>
      </h2>
      <ol class="partners">
        {set.map(({ key, due, every, type }) => (
          <li key={key}>
            <span class="mono">{key}</span>
            <span>{type}</span>
            <span class="num">{due === 0 ? 'due' : `in ${duration(due)}`}</span>
            <span class="num dim">{every === undefined ? 'once' : `every ${duration(every)}`}</span>
          </li>
        ))}
      </ol>
      {timers > set.length && <p class="dim">and {exact(timers - set.length)} more</p>}
    </>
  )
}

function Watches({ watchers, watchedBy, watching }: Pick<ActorNews['detail'], 'watchedBy' | 'watching'> & { readonly watchers: number }) {
  if (watchers === 0 && watching.length === 0) return null
  const named = (paths: readonly string[], more: number): string => paths.slice(0, 5).join(', ') + (more > 5 ? ` and ${exact(more - 5)} more` : '')
  return (
    <>
      <h2>Watches</h2>
      {watchers > 0 && (
        <p>
          watched by <span class="mono">{named(watchedBy, watchers)}</span>
        </p>
      )}
      {watching.length > 0 && (
        <p>
          watches <span class="mono">{named(watching, watching.length)}</span>
        </p>
      )}
    </>
  )
}

const whats = { message: '■', signal: '◇', answer: '↩', phase: '○' } as const

function LastGiven({ last, payloads }: { readonly last: CloseNews['last']; readonly payloads: boolean }) {
  if (last.length === 0) return null
  return (
    <>
      <h2>
        What it was given last{' '}
        <small>newest first · ■ message ◇ signal ↩ answer ○ phase{payloads ? '' : ' · contents are not shown: payloads are off'}</small>
      </h2>
      <ol class="log" tabIndex={0}>
        {last.toReversed().map(({ what, at, type, sender, text }, i) => (
          <li key={i}>
            <span class="dim">{timeOfDay((hello.value?.clockZero ?? 0) + at)}</span>
            <span>
              <span aria-hidden="true">{whats[what]}</span> {what === 'phase' ? <i>{type}</i> : type}
              {sender !== undefined && <span class="dim"> from {sender}</span>}
              {text !== undefined && <span class="payload"> {text}</span>}
            </span>
          </li>
        ))}
      </ol>
    </>
  )
}

function Questions({ uid, waits }: { readonly uid: number; readonly waits: ActorNews['detail']['waits'] }) {
  if (waits.length === 0) return null
  return (
    <>
      <h2>Questions without an answer</h2>
      <ol class="log" tabIndex={0}>
        {waits.slice(0, 20).map((wait, i) => (
          <li key={i}>
            <span>{duration(wait.ms)}</span>
            <span>
              {wait.asker === uid ? 'asks ' : 'is asked by '}
              <a href={linkTo('actors', (wait.asker === uid ? wait.target : wait.asker) ?? uid)}>
                {wait.asker === uid ? wait.targetPath : (wait.askerPath ?? 'outside')}
              </a>{' '}
              {wait.type ?? ''} <span class="dim">{wait.state}</span>
            </span>
          </li>
        ))}
      </ol>
    </>
  )
}

/** Alike ones that follow each other are one line. */
function gathered(events: readonly SeenEvent[]): { readonly event: SeenEvent; readonly times: number }[] {
  const lines: { event: SeenEvent; times: number }[] = []
  for (const event of events) {
    const last = lines.at(-1)
    if (last !== undefined && sortOf(last.event.text) === sortOf(event.text)) Object.assign(last, { event, times: last.times + 1 })
    else lines.push({ event, times: 1 })
  }
  return lines
}

function Happened({ uid, failures = [] }: { readonly uid: number; readonly failures?: ActorNews['failures'] }) {
  const events = past.value.flatMap(({ round }) => round.events.filter((event) => event.uid === uid))
  const from = past.value[0]?.round.at ?? 0
  // What the system remembers from before anybody looked.
  const before = failures
    .filter(({ at }) => at < from)
    .map(({ at, cause, message, directive }): SeenEvent => ({
      type: 'actor.failed',
      at,
      text: `failed${message === undefined ? '' : ` at ${message}`}: ${cause}${directive === undefined ? '' : `, then ${directive}`}`,
    }))
  const lines = gathered([...before, ...events]).slice(-30)
  if (lines.length === 0) return null
  return (
    <>
      <h2>
        What happened to it <small>newest first</small>
      </h2>
      <ol class="log" tabIndex={0}>
        {lines.toReversed().map(({ event, times }, i) => (
          <li key={i}>
            <span class="dim">{timeOfDay((hello.value?.clockZero ?? 0) + event.at)}</span>
            <span class={event.type === 'actor.failed' ? 'red' : ''}>
              {event.text}
              {times > 1 && <span class="dim"> and {plural(times - 1, 'time')} like it before</span>}
            </span>
          </li>
        ))}
      </ol>
    </>
  )
}

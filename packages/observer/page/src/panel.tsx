// One actor: why it is behind, in words; its figures; what it waits for; what happened to it.

import { effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ActorNews } from '../../src/server/desk.ts'
import { ask } from './connection.ts'
import { Plot } from './plot.tsx'
import { hello, link, linkTo, moments, past, paused, selected } from './store.ts'
import { count, duration, exact, ms, timeOfDay } from './words.ts'

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
  const { detail, why, pace } = news
  const [reason = '', ...rest] = why
  const fine = reason.startsWith('It is not')
  const { mailbox, metrics } = detail
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
      </div>
      <Plot
        title="In its mailbox"
        values={queued.value.uid === uid ? queued.value.values : [detail.queued]}
        format={count}
        tone={fine ? 'blue' : 'red'}
      />
      <dl>
        <dt>handled</dt>
        <dd>{pace === undefined ? '–' : `${count(pace.rate)}/s`}</dd>
        <dt>per message</dt>
        <dd>{pace === undefined || pace.rate === 0 ? '–' : ms(pace.load / pace.rate)}</dd>
        <dt>turns</dt>
        <dd>{pace === undefined ? '–' : `${count(pace.turns)}/s`}</dd>
        <dt>restarts</dt>
        <dd>{exact(detail.incarnation)}</dd>
        <dt>stashed</dt>
        <dd>{exact(detail.stashed)}</dd>
        <dt>watchers</dt>
        <dd>{exact(detail.watchers)}</dd>
        <dt>children</dt>
        <dd>{exact(detail.childCount)}</dd>
        {metrics !== undefined && (
          <>
            <dt>handler p50 / p99</dt>
            <dd>
              {ms(metrics.invoker.handlerTime.p50)} / {ms(metrics.invoker.handlerTime.p99)}
            </dd>
            <dt>in the mailbox p50 / p99</dt>
            <dd>
              {ms(metrics.mailbox.queueTime.p50)} / {ms(metrics.mailbox.queueTime.p99)}
            </dd>
          </>
        )}
      </dl>
      <Questions uid={uid} waits={detail.waits} />
      <Happened uid={uid} />
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

function Questions({ uid, waits }: { readonly uid: number; readonly waits: ActorNews['detail']['waits'] }) {
  if (waits.length === 0) return null
  return (
    <>
      <h2>Questions without an answer</h2>
      <ol class="log">
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

function Happened({ uid }: { readonly uid: number }) {
  const events = past.value.flatMap(({ round }) => round.events.filter((event) => event.uid === uid)).slice(-30)
  if (events.length === 0) return null
  return (
    <>
      <h2>
        What happened to it <small>while you look, newest first</small>
      </h2>
      <ol class="log">
        {events.toReversed().map((event, i) => (
          <li key={i}>
            <span class="dim">{timeOfDay((hello.value?.clockZero ?? 0) + event.at)}</span>
            <span class={event.type === 'actor.failed' ? 'red' : ''}>{event.text}</span>
          </li>
        ))}
      </ol>
    </>
  )
}

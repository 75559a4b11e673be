// On every view: pause, scrub through what this page has seen, mark a moment, save all of it as one file.

import { saveReport } from './report.ts'
import { step, togglePause } from './keys.ts'
import { cursor, hello, link, marks, moments, paused, shown } from './store.ts'
import { duration, timeOfDay } from './words.ts'

export function Footer() {
  const all = moments.value
  const now = shown.value
  const first = all[0]
  const last = all.at(-1)
  const index = now === undefined ? 0 : all.findIndex(({ round }) => round.seq === now.round.seq)
  const span = first === undefined || last === undefined ? 0 : last.round.at - first.round.at
  const behind = now === undefined || last === undefined ? 0 : last.round.at - now.round.at
  const clock = (at: number): string => timeOfDay((hello.value?.clockZero ?? 0) + at)
  return (
    <footer>
      {link.value !== 'report' && (
        <button type="button" aria-pressed={paused.value} onClick={togglePause} title="key p">
          {paused.value ? 'Go live' : 'Pause'}
        </button>
      )}
      <label>
        <span class="when from">last {duration(Math.max(1000, span))}</span>
        <input
          type="range"
          min={0}
          max={Math.max(0, all.length - 1)}
          value={index}
          aria-label="Moment that is shown"
          aria-valuetext={now === undefined ? 'now' : clock(now.round.at)}
          onInput={(event) => {
            const to = all[Number(event.currentTarget.value)]
            cursor.value = to === undefined || (to === last && link.value === 'live') ? undefined : to.round.seq
          }}
        />
        <output class="when">
          {paused.value && now !== undefined ? `${clock(now.round.at)}${behind > 0 ? `, ${duration(behind)} ago` : ''}` : 'now'}
        </output>
      </label>
      {paused.value && (
        <>
          <button type="button" class="quiet" onClick={() => step(-1)} aria-label="One round back" title="key ,">
            ◀
          </button>
          <button type="button" class="quiet" onClick={() => step(1)} aria-label="One round on" title="key .">
            ▶
          </button>
        </>
      )}
      {marks.value.slice(-3).map(({ seq, at }) => (
        <button type="button" class="quiet" key={seq} onClick={() => (cursor.value = seq)}>
          ⚑ {clock(at)}
        </button>
      ))}
      <button type="button" onClick={() => now !== undefined && (marks.value = [...marks.value, { seq: now.round.seq, at: now.round.at }])}>
        Mark
      </button>
      {link.value !== 'report' && (
        <button type="button" onClick={() => void saveReport()}>
          Save report
        </button>
      )}
    </footer>
  )
}

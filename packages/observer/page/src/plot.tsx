// A line of numbers over the rounds that are kept, with its last value large and any other under the pointer.

import { useState } from 'preact/hooks'

interface Props {
  readonly title: string
  readonly values: readonly number[]
  readonly format: (value: number) => string
  readonly tone?: 'blue' | 'red' | 'amber' | 'green'
  /** What the large number says, where it is not the last value. */
  readonly shown?: string
  readonly note?: string
}

export function Plot({ title, values, format, tone = 'blue', shown, note }: Props) {
  const [at, setAt] = useState<number | undefined>(undefined)
  const last = values.at(-1) ?? 0
  const most = Math.max(...values, 0) || 1
  const pointed = at === undefined ? undefined : values[at]
  const x = (i: number): number => (values.length < 2 ? 100 : (i / (values.length - 1)) * 100)
  const y = (value: number): number => 38 - (value / most) * 36
  const line = (values.length < 2 ? [last, last] : values).map((value, i, all) => `${(i / (all.length - 1)) * 100},${y(value).toFixed(1)}`).join(' ')
  const summary = `${title}: ${shown ?? format(last)} now, at most ${format(Math.max(...values, 0))}`
  return (
    <section class="card plot">
      <h2>{title}</h2>
      <div class="value">
        {pointed === undefined ? (shown ?? format(last)) : format(pointed)}{' '}
        <small>{pointed === undefined ? (note ?? `most ${format(Math.max(...values, 0))}`) : `${values.length - 1 - at!} rounds ago`}</small>
      </div>
      <svg
        viewBox="0 0 100 40"
        preserveAspectRatio="none"
        role="img"
        aria-label={summary}
        onPointerMove={(event) => {
          const { left, width } = event.currentTarget.getBoundingClientRect()
          setAt(Math.round(((event.clientX - left) / width) * (values.length - 1)))
        }}
        onPointerLeave={() => setAt(undefined)}
      >
        <polyline points={`0,40 ${line} 100,40`} fill={`var(--${tone})`} opacity="0.1" />
        <polyline points={line} fill="none" stroke={`var(--${tone})`} stroke-width="1.8" vector-effect="non-scaling-stroke" />
        {pointed !== undefined && (
          <line x1={x(at!)} x2={x(at!)} y1="0" y2="40" stroke="var(--dim)" stroke-width="1" vector-effect="non-scaling-stroke" />
        )}
      </svg>
    </section>
  )
}

// How times are spread: bars, each of times up to twice as long as those of the bar before it.

import type { HistogramNews } from '../../src/feed/news.ts'
import { duration, exact, plural } from './words.ts'

export function Bars({
  title,
  of: { bars, count, p50, p99, max, from },
  tone,
}: {
  readonly title: string
  readonly of: HistogramNews
  readonly tone: string
}) {
  if (count === 0) return null
  const most = Math.max(...bars)
  const wide = 100 / Math.max(6, bars.length)
  return (
    <div class="bars">
      <h3>
        {title}{' '}
        <small>
          half within <b>{duration(p50)}</b>, 99 % within <b>{duration(p99)}</b>, longest <b>{duration(max)}</b>
        </small>
      </h3>
      <svg
        viewBox="0 0 100 26"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} of ${plural(count, 'message')}: half within ${duration(p50)}, 99 % within ${duration(p99)}`}
      >
        {bars.map((n, i) => (
          <rect
            key={i}
            x={i * wide + 0.4}
            y={26 - (n / most) * 25}
            width={wide - 0.8}
            height={Math.max(n > 0 ? 0.8 : 0, (n / most) * 25)}
            fill={`var(--${tone})`}
          >
            <title>{`${exact(n)} took ${i === 0 ? 'up to' : `${duration(from * 2 ** (i - 1))} to`} ${duration(from * 2 ** i)}`}</title>
          </rect>
        ))}
      </svg>
      <div class="axis dim">
        <span>≤ {duration(from)}</span>
        <span>{exact(count)} sampled</span>
        <span>{duration(from * 2 ** (Math.max(6, bars.length) - 1))}</span>
      </div>
    </div>
  )
}

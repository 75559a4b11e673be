// Where a thread spent its time: a bar for each function, as wide as it took, below it what it called. The first row are kinds of actors,
// because every sample was put to the one whose turn it fell into.

import { signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { FlameNode, ProfileNews } from '../../src/feed/news.ts'
import { ask } from './connection.ts'
import { hello, link } from './store.ts'
import { useWidth } from './width.ts'
import { duration, percent } from './words.ts'

const profile = signal<ProfileNews | undefined>(undefined)
const taking = signal(false)
const zoomed = signal<FlameNode | undefined>(undefined)
const pointed = signal<FlameNode | undefined>(undefined)
const seconds = 5
const tall = 19

/** What was taken last, for a report. */
export const lastProfile = (): ProfileNews | undefined => profile.value
export function showProfile(saved: ProfileNews | undefined): void {
  profile.value = saved
}

async function take(): Promise<void> {
  taking.value = true
  const news = await ask<ProfileNews>('profile', { ms: seconds * 1000 })
  if (news !== undefined) {
    profile.value = news
    zoomed.value = undefined
  }
  taking.value = false
}

/** As the profilers of browsers read it: a file of samples would be larger, and tell no kinds. */
function save(news: ProfileNews): void {
  const lines: string[] = []
  const walk = (node: FlameNode, above: string): void => {
    const path = above === '' ? node.name : `${above};${node.name}`
    const own = node.ms - node.below.reduce((sum, child) => sum + child.ms, 0)
    if (own >= 0.5) lines.push(`${path} ${Math.round(own)}`)
    for (const child of node.below) walk(child, path)
  }
  for (const child of news.flame.below) walk(child, '')
  const anchor = document.createElement('a')
  anchor.href = URL.createObjectURL(new Blob([`${lines.join('\n')}\n`], { type: 'text/plain' }))
  anchor.download = `troupe-${(hello.value?.system ?? 'system').replaceAll(/[^\w-]/g, '_')}.folded.txt`
  anchor.click()
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000)
}

export function Flame() {
  const news = profile.value
  return (
    <section class="card">
      <div class="tools">
        <h2>
          What the thread did <small>first row: kinds of actors, by whose turn it was · below: functions · as wide as the time it took</small>
        </h2>
        {link.value === 'live' && (
          <button type="button" onClick={() => void take()} disabled={taking.value} title="Costs the thread a few percent meanwhile">
            {taking.value ? `Profiling for ${seconds} s…` : `Profile ${seconds} s`}
          </button>
        )}
        {news !== undefined && (
          <button type="button" onClick={() => save(news)} title="One line for each stack, as speedscope and flamegraph.pl read it">
            Save stacks
          </button>
        )}
        {zoomed.value !== undefined && (
          <button type="button" onClick={() => (zoomed.value = undefined)}>
            Show all
          </button>
        )}
      </div>
      {news === undefined ? (
        <p class="empty">Nothing was profiled yet. It is asked of the engine only when you press the button.</p>
      ) : (
        <Picture news={news} />
      )}
    </section>
  )
}

interface Bar {
  readonly node: FlameNode
  readonly x: number
  readonly width: number
  readonly depth: number
}

function barsOf(root: FlameNode, all: number): Bar[] {
  const bars: Bar[] = []
  const put = (node: FlameNode, x: number, depth: number): void => {
    let at = x
    for (const child of node.below) {
      const width = (child.ms / root.ms) * all
      if (width >= 1.5) {
        bars.push({ node: child, x: at, width, depth })
        put(child, at, depth + 1)
      }
      at += width
    }
  }
  put(root, 0, 0)
  return bars
}

const colours = ['--blue', '--green', '--amber', '--red']
/** The same for the same name. */
function colourOf(name: string): string {
  let sum = 7
  for (let i = 0; i < name.length; i++) sum = (sum * 31 + name.charCodeAt(i)) % 997
  return `var(${colours[sum % colours.length]!})`
}

function Picture({ news }: { readonly news: ProfileNews }) {
  const root = zoomed.value ?? news.flame
  const frame = useRef<SVGSVGElement>(null)
  const all = useWidth(frame)
  const whole = barsOf(zoomed.value === undefined ? root : { name: '', place: '', ms: root.ms, below: [root] }, all)
  const depth = Math.max(1, ...whole.map((bar) => bar.depth + 1))
  const said = pointed.value
  return (
    <>
      <p class="dim" aria-live="off">
        {said === undefined
          ? `${duration(news.ms)} looked at, ${percent(news.ms === 0 ? 0 : news.idle / news.ms)} of it with nothing to do${news.cut ? '; there were too many turns to tell all of them apart' : ''}. Click a bar to zoom.`
          : `${said.name} ${said.place === '' ? '' : `(${said.place}) `}${duration(said.ms)}, ${percent(said.ms / Math.max(0.001, news.flame.ms))} of what was not idle`}
      </p>
      <svg
        class="flame"
        ref={frame}
        viewBox={`0 0 ${all} ${depth * tall}`}
        width={all}
        height={depth * tall}
        preserveAspectRatio="none"
        role="group"
        aria-label="Functions by the time they took"
        onPointerLeave={() => (pointed.value = undefined)}
      >
        {whole.map(({ node, x, width, depth: row }, i) => (
          <g key={i} onPointerMove={() => (pointed.value = node)} onClick={() => (zoomed.value = node)}>
            <rect
              x={x + 0.5}
              y={row * tall + 0.5}
              width={Math.max(1, width - 1)}
              height={tall - 1}
              rx="2"
              fill={colourOf(node.name)}
              fill-opacity={row === 0 ? 0.5 : 0.25}
            >
              <title>{`${node.name} ${node.place} ${duration(node.ms)}`}</title>
            </rect>
            {width > 34 && (
              <svg x={x} y={row * tall} width={width - 4} height={tall}>
                <text x="5" y="13.5" font-weight={row === 0 ? 650 : 400}>
                  {node.name}
                </text>
              </svg>
            )}
          </g>
        ))}
      </svg>
      <table class="visually-hidden">
        <caption>Kinds of actors by time</caption>
        <tbody>
          {news.flame.below.map(({ name, ms }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{duration(ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

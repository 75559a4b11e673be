// All actors, one cell each, on a canvas: the worst colour wins, and where there is room the shape says it too. A click shows the actor.

import { useEffect, useRef, useState } from 'preact/hooks'
import { states } from '../../src/feed/cells.ts'
import { type CellsSeen, linkTo, shown } from './store.ts'
import { exact } from './words.ts'

const said = { idle: 'idle', busy: 'busy in the last round', behind: 'behind, or has a warning', trouble: 'failed, or stuck' } as const
const signs = { idle: '■', busy: '■', behind: '▲', trouble: '◆' } as const
const highest = 190

interface Layout {
  readonly size: number
  readonly columns: number
  readonly rows: number
}

/** The largest cells with which all fit. */
function layoutOf(count: number, width: number): Layout {
  let size = 14
  while (size > 1 && Math.ceil(count / Math.floor(width / size)) * size > highest) size--
  const columns = Math.max(1, Math.floor(width / size))
  return { size, columns, rows: Math.ceil(count / columns) }
}

function draw(canvas: HTMLCanvasElement, { uids, state }: CellsSeen, { size, columns, rows }: Layout): void {
  const scale = devicePixelRatio
  const width = canvas.clientWidth
  canvas.width = width * scale
  canvas.height = rows * size * scale
  canvas.style.height = `${rows * size}px`
  const context = canvas.getContext('2d')!
  context.scale(scale, scale)
  const style = getComputedStyle(canvas)
  const colours = ['--idle', '--blue', '--amber', '--red'].map((name) => style.getPropertyValue(name))
  const probe = document.createElement('span')
  canvas.after(probe)
  const resolved = ['--idle', '--blue', '--amber', '--red'].map((name, i) => {
    probe.style.color = `var(${name})`
    return getComputedStyle(probe).color || colours[i]!
  })
  probe.remove()
  const gap = size > 3 ? 1 : 0
  // One colour after another, the worst last: where cells are smaller than a pixel of the screen, it is the one that stays.
  for (let level = 0; level < states.length; level++) {
    context.fillStyle = resolved[level]!
    for (let i = 0; i < uids.length; i++) {
      if (state[i] !== level) continue
      const x = (i % columns) * size
      const y = Math.floor(i / columns) * size
      const side = size - gap
      if (size < 7 || level < 2) context.fillRect(x, y, side, side)
      else {
        const half = side / 2
        context.beginPath()
        context.moveTo(x + half, y)
        if (level === 3) context.lineTo(x + side, y + half)
        context.lineTo(x + (level === 3 ? half : side), y + side)
        context.lineTo(x, level === 3 ? y + half : y + side)
        context.fill()
      }
    }
  }
}

export function Cells() {
  const cells = shown.value?.cells
  const canvas = useRef<HTMLCanvasElement>(null)
  const [width, setWidth] = useState(0)
  const count = cells?.uids.length ?? 0
  const layout = layoutOf(count, Math.max(100, width))
  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [cells === undefined])
  useEffect(() => {
    if (canvas.current !== null && cells !== undefined && width > 0) draw(canvas.current, cells, layout)
  })
  if (cells === undefined)
    return <section class="card dim">How each actor stood at that moment was not kept: it is only while Overview is open.</section>
  const counts = states.map((_name, level) => cells.state.reduce((sum, one) => sum + (one === level ? 1 : 0), 0))
  const words = states.map((name, level) => `${exact(counts[level]!)} ${said[name]}`).join(', ')
  return (
    <section class="card">
      <h2>
        All {exact(shown.value!.round.figures.actors)} actors <small>one cell each; click one</small>
      </h2>
      <canvas
        ref={canvas}
        class="cells"
        role="img"
        aria-label={words}
        onClick={(event) => {
          const uid = cells.uids[Math.floor(event.offsetY / layout.size) * layout.columns + Math.floor(event.offsetX / layout.size)]
          if (uid !== undefined) location.hash = linkTo('actors', uid)
        }}
      />
      <div class="legend">
        {states.map((name, level) => (
          <span key={name}>
            <span class={`key ${name}`} aria-hidden="true">
              {signs[name]}
            </span>
            <b>{exact(counts[level]!)}</b> {said[name]}
          </span>
        ))}
      </div>
    </section>
  )
}

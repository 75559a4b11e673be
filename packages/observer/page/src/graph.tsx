// A picture of boxes and arrows in layers, at most some forty boxes: who is to the left sends to whom is to the right.

import dagre from '@dagrejs/dagre'

export interface Box {
  readonly id: string
  readonly title: string
  readonly text: string
  readonly tone?: 'red' | 'amber' | undefined
  readonly href?: string | undefined
}
export interface Arrow {
  readonly from: string
  readonly to: string
  readonly text: string
  readonly width: number
  readonly tone?: 'red' | undefined
}

const tall = 46

const shortened = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

export function Graph({ boxes, arrows, label }: { readonly boxes: readonly Box[]; readonly arrows: readonly Arrow[]; readonly label: string }) {
  const graph = new dagre.graphlib.Graph({ multigraph: true })
  // Whoever sends to its own kind has a loop on its box, and room for it.
  const loops = arrows.some(({ from, to }) => from === to)
  graph.setGraph({ rankdir: 'LR', nodesep: loops ? 34 : 22, ranksep: 56, edgesep: 14, marginx: loops ? 24 : 6, marginy: loops ? 24 : 6 })
  graph.setDefaultEdgeLabel(() => ({}))
  const widths = new Map(
    boxes.map(({ id, title, text }) => [id, Math.max(110, 24 + Math.max(shortened(title, 30).length, shortened(text, 30).length) * 7.2)]),
  )
  for (const { id } of boxes) graph.setNode(id, { width: widths.get(id)!, height: tall })
  arrows.forEach(({ from, to, text }, i) => {
    if (from !== to) graph.setEdge(from, to, { width: shortened(text, 32).length * 6.6 + 12, height: 26, labelpos: 'c' }, String(i))
  })
  dagre.layout(graph)
  const { width = 100, height = 100 } = graph.graph()
  return (
    <div class="scroll">
      <svg class="picture" viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="group" aria-label={label}>
        <defs>
          {['dim', 'red'].map((tone) => (
            <marker
              key={tone}
              id={`tip-${tone}`}
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="9"
              markerHeight="9"
              markerUnits="userSpaceOnUse"
              orient="auto"
            >
              <path d="M0,0 L8,4 L0,8 Z" fill={`var(--${tone})`} />
            </marker>
          ))}
        </defs>
        {arrows.map(({ from, to, width: stroke, tone = 'dim' }, i) => {
          return (
            <path
              key={i}
              d={from === to ? loopOn(graph.node(from), widths.get(from)!) : smooth(graph.edge({ v: from, w: to, name: String(i) }).points)}
              fill="none"
              stroke={`var(--${tone})`}
              stroke-width={stroke}
              stroke-opacity={tone === 'red' ? 1 : 0.55}
              marker-end={`url(#tip-${tone})`}
            />
          )
        })}
        {labelsOf(arrows, graph, widths).map(({ x, y, text, anchor }, i) => (
          // Above its arrow, with a rim: a box on the arrow would cut it in two.
          <text key={i} class="rimmed" x={x} y={y} text-anchor={anchor}>
            {text}
          </text>
        ))}
        {boxes.map((box) => {
          const { x, y } = graph.node(box.id)
          const wide = widths.get(box.id)!
          const drawn = (
            <g>
              {box.title.length > 30 && <title>{box.title}</title>}
              <rect
                x={x - wide / 2}
                y={y - tall / 2}
                width={wide}
                height={tall}
                rx="8"
                fill="var(--card)"
                stroke={box.tone === undefined ? 'var(--line)' : `var(--${box.tone})`}
                stroke-width={box.tone === undefined ? 1.5 : 2.5}
              />
              <text x={x - wide / 2 + 12} y={y - 4} font-weight="650">
                {shortened(box.title, 30)}
              </text>
              <text x={x - wide / 2 + 12} y={y + 14} class={box.tone ?? 'dim'}>
                {shortened(box.text, 30)}
              </text>
            </g>
          )
          return box.href === undefined ? (
            <g key={box.id}>{drawn}</g>
          ) : (
            <a key={box.id} href={box.href}>
              {drawn}
            </a>
          )
        })}
      </svg>
    </div>
  )
}

interface Label {
  readonly x: number
  readonly y: number
  readonly text: string
  readonly anchor: 'middle' | 'end'
}

/** Where two would lie on one another the later one makes room. */
function labelsOf(arrows: readonly Arrow[], graph: InstanceType<typeof dagre.graphlib.Graph>, widths: ReadonlyMap<string, number>): Label[] {
  const placed: { readonly left: number; readonly right: number; readonly y: number }[] = []
  return arrows.map(({ from, to, text: whole, width: stroke }, i): Label => {
    const text = shortened(whole, 32)
    const long = text.length * 6.2
    let label: Label
    if (from === to) {
      const box = graph.node(from) as { readonly x: number; readonly y: number }
      label = { x: box.x + widths.get(from)! / 2 - 42, y: box.y - tall / 2 - 5, text, anchor: 'end' }
    } else {
      const { x, y, points } = graph.edge({ v: from, w: to, name: String(i) }) as { readonly x: number; readonly y: number; readonly points: Points }
      label = { x, y: Math.min(y, heightAt(points, x)) - stroke / 2 - 4, text, anchor: 'middle' }
    }
    const left = label.anchor === 'end' ? label.x - long : label.x - long / 2
    let { y } = label
    while (placed.some((other) => Math.abs(other.y - y) < 13 && other.left < left + long && left < other.right)) y += 13
    placed.push({ left, right: left + long, y })
    return { ...label, y }
  })
}

type Points = readonly { readonly x: number; readonly y: number }[]

/** Out of the top of a box and back, at its right. */
function loopOn({ x, y }: { readonly x: number; readonly y: number }, wide: number): string {
  const right = x + wide / 2
  const top = y - tall / 2
  return `M${right - 36},${top} C${right - 36},${top - 22} ${right - 12},${top - 22} ${right - 12},${top}`
}

/** About where an arrow is that goes through the middles between these: it bows less than they do. */
function heightAt(points: Points, x: number): number {
  let nearest = 0
  for (const [i, point] of points.entries()) if (Math.abs(point.x - x) < Math.abs(points[nearest]!.x - x)) nearest = i
  const at = (i: number): number => points[Math.min(points.length - 1, Math.max(0, i))]!.y
  return (at(nearest - 1) + 2 * at(nearest) + at(nearest + 1)) / 4
}

/** Through the middles between points, so that no arrow has a corner. */
function smooth(points: Points): string {
  const [start, ...rest] = points
  if (start === undefined) return ''
  let path = `M${start.x},${start.y}`
  rest.forEach((point, i) => {
    const next = rest[i + 1]
    path += next === undefined ? ` L${point.x},${point.y}` : ` Q${point.x},${point.y} ${(point.x + next.x) / 2},${(point.y + next.y) / 2}`
  })
  return path
}

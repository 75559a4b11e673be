// Figures, tables and texts as somebody's function gave them. Everything is text: nothing of it is read as HTML.

import type { FigurePart, PagePart, TablePart } from '../../src/feed/parts.ts'
import { Plot } from './plot.tsx'
import { count } from './words.ts'

const figureText = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 10_000 ? String(value) : Math.abs(value) < 100 ? value.toFixed(2) : count(value)

/** `past` has the values of a figure, by its title, the oldest first. */
export function Parts({ parts, past }: { readonly parts: readonly PagePart[]; readonly past?: ReadonlyMap<string, readonly number[]> | undefined }) {
  const figures = parts.filter((part): part is FigurePart => part.kind === 'figure')
  return (
    <>
      {figures.length > 0 && (
        <div class="plots">
          {figures.map(({ title, value, unit = '', tone }) => (
            <Plot
              key={title}
              title={title}
              values={past?.get(title) ?? [value]}
              format={(n) => `${figureText(n)}${unit === '' ? '' : ` ${unit}`}`}
              tone={tone ?? 'blue'}
            />
          ))}
        </div>
      )}
      {parts.map((part, i) =>
        part.kind === 'table' ? (
          <Table key={i} part={part} />
        ) : part.kind === 'text' ? (
          <section key={i} class="card">
            {part.title !== undefined && part.title !== '' && <h2>{part.title}</h2>}
            <p class={part.tone}>{part.text}</p>
          </section>
        ) : null,
      )}
    </>
  )
}

const toneOf = (cell: unknown): string =>
  typeof cell !== 'string' ? '' : cell.startsWith('◆') ? 'red' : cell.startsWith('▲') ? 'amber' : cell.startsWith('✓') ? 'green' : ''

function Table({ part: { title, note, columns, rows } }: { readonly part: TablePart }) {
  const numeric = columns.map((_name, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'))
  return (
    <section class="card">
      <h2>
        {title} {note !== undefined && <small>{note}</small>}
      </h2>
      {rows.length === 0 ? (
        <p class="empty">Nothing in it.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="group" aria-label={title}>
          <table>
            <thead>
              <tr>
                {columns.map((name, i) => (
                  <th key={i} class={numeric[i] === true ? 'num' : ''}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, r) => (
                <tr key={r}>
                  {columns.map((_name, i) => {
                    const cell = row[i]
                    return (
                      <td key={i} class={numeric[i] === true ? 'num' : toneOf(cell)}>
                        {typeof cell === 'number' ? cell.toLocaleString('en-US', { maximumFractionDigits: 2 }) : String(cell ?? '')}
                      </td>
                    )
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

// What a page of somebody's own is made of: figures, tables and texts, and nothing else. What a function returned is copied field by field and
// cut to what fits a screen, so that no page can be more than that.

/** A number that is plotted over the last minutes. */
export interface FigurePart {
  readonly kind: 'figure'
  readonly title: string
  readonly value: number
  /** Stands behind it, such as `ms` or `/s`. */
  readonly unit?: string | undefined
  readonly tone?: 'blue' | 'green' | 'amber' | 'red' | undefined
}
/** Rows under columns. Numbers stand to the right. */
export interface TablePart {
  readonly kind: 'table'
  readonly title: string
  readonly note?: string | undefined
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | boolean | null | undefined)[])[]
}
/** A sentence. */
export interface TextPart {
  readonly kind: 'text'
  readonly title?: string | undefined
  readonly text: string
  readonly tone?: 'plain' | 'green' | 'amber' | 'red' | undefined
}
/** A part of a page of your own. */
export type PagePart = FigurePart | TablePart | TextPart
/** What such a page shows: called once a round while somebody has it open. */
export type OwnPage = () => readonly PagePart[] | Promise<readonly PagePart[]>

const partsMost = 30
const rowsMost = 500
const columnsMost = 20
const longestText = 500

const text = (value: unknown): string => {
  const said = typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
  return said.length > longestText ? `${said.slice(0, longestText)}…` : said
}
const tones = ['blue', 'green', 'amber', 'red', 'plain'] as const
const tone = (value: unknown): never => tones.find((one) => one === value) as never
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const cell = (value: unknown): string | number => (typeof value === 'number' && Number.isFinite(value) ? value : text(value))

/** Copies of what a function returned; throws a text that says what is wrong with it. */
export function checkedParts(value: unknown): PagePart[] {
  if (!Array.isArray(value)) throw new TypeError('it must return a list of parts: { kind: "figure" | "table" | "text", … }')
  return value.slice(0, partsMost).map((part: unknown, i): PagePart => {
    if (typeof part !== 'object' || part === null) throw new TypeError(`part ${i} is no object`)
    const given = part as Readonly<Record<string, unknown>>
    switch (given['kind']) {
      case 'figure':
        if (typeof given['value'] !== 'number') throw new TypeError(`the value of figure ${i} is no number`)
        return { kind: 'figure', title: text(given['title']), value: given['value'], unit: text(given['unit']), tone: tone(given['tone']) }
      case 'table': {
        const columns = list(given['columns']).slice(0, columnsMost).map(text)
        const rows = list(given['rows'])
          .slice(0, rowsMost)
          .map((row) => list(row).slice(0, columns.length).map(cell))
        return { kind: 'table', title: text(given['title']), note: text(given['note']) || undefined, columns, rows }
      }
      case 'text':
        return { kind: 'text', title: text(given['title']) || undefined, text: text(given['text']), tone: tone(given['tone']) }
      default:
        throw new TypeError(`part ${i} is neither a figure, a table nor a text`)
    }
  })
}

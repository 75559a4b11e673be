// What comes from the system, as a page can show it.

import { expect, test } from 'vitest'
import { madeBrief } from '../../page/src/brief.ts'

test('what is long is cut and what turns letters around is replaced, wherever it stands; paths and numbers are left', () => {
  const path = `/user/${'n'.repeat(400)}`
  const columns = new Float64Array([1, 2])
  const made = madeBrief({
    kind: 'x'.repeat(10_000),
    rows: [{ type: 'safe\u202Etxt.exe\u001B[2J', path }],
    columns,
    at: 5,
    none: null,
    text: 'two\nlines',
  })
  expect(made.kind).toBe(`${'x'.repeat(159)}…`)
  expect(made.rows).toEqual([{ type: 'safe\uFFFDtxt.exe\uFFFD[2J', path }])
  expect(made).toMatchObject({ columns, at: 5, none: null, text: 'two\nlines' })
})

// For terminals that do not know UTF-8: what is drawn with is drawn with letters that everybody has.

const letters: Readonly<Record<string, string>> = {
  '■': '#',
  '▲': '!',
  '✓': '+',
  '→': '>',
  '←': '<',
  '◀': '<',
  '├': '|',
  '└': '`',
  '│': '|',
  '─': '-',
  '…': '~',
  '·': '.',
  '↓': 'v',
  '█': '#',
  '▁': '1',
  '▂': '2',
  '▃': '3',
  '▄': '4',
  '▅': '5',
  '▆': '6',
  '▇': '7',
  µ: 'u',
  '“': '"',
  '”': '"',
  '\uFFFD': '?',
  '×': 'x',
}

/** Whether the locale says that the terminal knows UTF-8; one that says nothing is taken to. */
export function knowsUtf8(env: Readonly<Record<string, string | undefined>>, platform: string): boolean {
  if (platform === 'win32') return true
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((one) => one !== undefined && one !== '')
  return locale === undefined || /utf-?8/i.test(locale)
}

/** Each letter for one, so that columns stay columns; what has no likeness is a question mark. */
export function ascii(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[^\u0000-\u007F]/gu, (letter) => letters[letter] ?? '?')
}

// A picture of lines on a terminal, of which only those are written again that changed. It takes the whole screen, and gives it back.

import type { Screen } from './style.ts'

export class Painter {
  readonly #screen: Screen
  #shown: readonly string[] = []
  #open = false
  constructor(screen: Screen) {
    this.#screen = screen
  }

  /** Shows these lines, as many as there is room for. */
  paint(lines: readonly string[]): void {
    const fit = lines.slice(0, Math.max(1, this.#screen.rows))
    let out = ''
    if (!this.#open) {
      // Another screen, without a cursor: what was there before comes back at the end.
      out += '\u001B[?1049h\u001B[?25l\u001B[2J'
      this.#open = true
      this.#shown = []
    }
    for (const [i, line] of fit.entries()) if (line !== this.#shown[i]) out += `\u001B[${i + 1};1H${line}\u001B[K`
    if (fit.length < this.#shown.length) out += `\u001B[${fit.length + 1};1H\u001B[J`
    this.#shown = fit
    if (out !== '') this.#screen.write(out)
  }

  /** All of it anew: the screen has another size. */
  reset(): void {
    this.#shown = []
    if (this.#open) this.#screen.write('\u001B[2J')
  }
  close(): void {
    if (this.#open) this.#screen.write('\u001B[?25h\u001B[?1049l')
    this.#open = false
  }
}

// Runs axe-core in a page, and returns each violation with what is needed to fix it: rule, view, element, and the colors that axe measured.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page as Tab } from 'playwright-core'

/** The script that defines `axe` in a page. */
export const axe: string = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Check {
  readonly id: string
  readonly data: unknown
  readonly message: string
}
interface Violation {
  readonly id: string
  readonly nodes: readonly {
    readonly html: string
    readonly target: readonly unknown[]
    readonly any: readonly Check[]
    readonly all: readonly Check[]
    readonly none: readonly Check[]
  }[]
}

/** Lists every violation of the open view, one per element. An element that changed meanwhile is reported with its transitions. */
export async function violations(tab: Tab, rules?: readonly string[]): Promise<readonly object[]> {
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  const found = (await tab.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => ({ violations, view: location.hash, fading: ${fading} }))`,
  )) as { readonly violations: readonly Violation[]; readonly view: string; readonly fading: readonly string[] }
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, target, any, all, none }) => ({
      rule: id,
      view: found.view,
      target: target.join(' '),
      html,
      checks: [...any, ...all, ...none].map(({ id: check, message, data }) => `${check}: ${message} ${JSON.stringify(data)}`),
      fading: found.fading,
    })),
  )
}

/** An expression that lists the running transitions of colors: while one runs, text and background may belong to different schemes. */
export const fading = `document.getAnimations()
  .filter(({ transitionProperty }) => ['color', 'background-color', 'fill', 'opacity'].includes(transitionProperty))
  .map(({ transitionProperty, effect }) => transitionProperty + ' of ' + effect.target.outerHTML.slice(0, 80))`

// The echo server of packages/node in each of its forms on a runtime, with clients on this Node that end their side at once: what is lost.

import { Tally } from './tally.mjs'

/** One form counts as one test. */
export async function runEchoes(command, clients) {
  const { echo, forms } = await import('../../packages/node/dist-test/echo.js')
  const tally = new Tally()
  tally.hear({ tests: forms.length })
  for (const form of forms) {
    const end = `${form}, ${clients} clients`
    try {
      const { lost, errors, served } = await echo(command, form, clients, 100)
      const ok = lost === 0 && errors === 0 && served.errors === 0 && served.unaccounted === 0
      tally.hear({ end, state: ok ? 'pass' : 'fail', error: `${lost} lost; ${errors + served.errors} errors; ${served.unaccounted} unaccounted for` })
    } catch (cause) {
      tally.hear({ end, state: 'fail', error: String(cause) })
    }
  }
  tally.close('ended', forms.length)
  return tally
}

// The browser of this machine: Debian's Chromium, or one of its relatives, where there is one.

import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { engineOrSkip } from '../../../../tools/engines/require.mjs'

const programs = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

function find(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const given = process.env['TROUPE_CHROMIUM']
  if (given !== undefined) return existsSync(given) ? given : undefined
  return programs.flatMap((program) => folders.map((folder) => join(folder, program))).find((path) => existsSync(path))
}

/** Its program; undefined where there is none, which is said aloud. */
export const chromium: string | undefined = engineOrSkip(
  'chromium',
  find,
  'Install chromium (apt-get install chromium), or name one with TROUPE_CHROMIUM.',
)

/** As a test wants it: no window, no network of its own. */
export const flags: string[] = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

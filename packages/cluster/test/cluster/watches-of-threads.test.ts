// K4: watches of sharded actors from another thread are those of the main thread.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('an actor on another thread hears of the end of each life of a sharded actor that it watches, once and with the reason', async () => {
  const program = fileURLToPath(new URL('../threads/lives.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [program])
  expect(stdout.trim().split('\n')).toEqual([
    ...['a', 'b'].flatMap((node) => [
      `${node} quiet 0`,
      `${node} ends failure:broken normal kept 0`,
      `${node} again here`,
      `${node} next normal`,
      `${node} absent passivated`,
    ]),
    'sleeps passivated',
    'flooded 0',
    'left failure:node-lost failure:node-lost',
  ])
})

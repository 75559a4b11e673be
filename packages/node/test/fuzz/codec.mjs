// The codec of the border as a module of its own. Its package is one file that shows nothing of it, and who tries it wants nothing else around.

import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'

/** Writes it beside the built tests; returns where. */
export async function buildCodec() {
  const out = new URL('../../dist-test/codec.js', import.meta.url)
  await build({
    stdin: {
      contents: "export { Reader } from './reader.ts'\nexport { Writer } from './writer.ts'",
      resolveDir: fileURLToPath(new URL('../../../border/src/codec/', import.meta.url)),
    },
    outfile: fileURLToPath(out),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
    packages: 'external',
    logLevel: 'error',
  })
  return out.href
}

// In which order packages are published: each after those of ours that it depends on, so that nobody installs one whose parts are not there
// yet. Run, it prints their names, for the workflow.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')

export function publishOrder() {
  const manifests = new Map(
    readdirSync(join(root, 'packages'))
      .map((folder) => JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')))
      .filter((manifest) => manifest.private !== true)
      .map((manifest) => [manifest.name, manifest]),
  )
  const order = []
  const visit = (name) => {
    if (order.includes(name)) return
    const { dependencies, peerDependencies } = manifests.get(name)
    for (const other of Object.keys({ ...peerDependencies, ...dependencies })) if (manifests.has(other)) visit(other)
    order.push(name)
  }
  for (const name of manifests.keys()) visit(name)
  return order
}

if (argv[1] === fileURLToPath(import.meta.url)) console.log(publishOrder().join('\n'))

// What a reader must know of the machine; no host name, no path.

import { cpus, totalmem } from 'node:os'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memory: string
  readonly platform: string
  readonly node: string
  readonly v8: string
}

export function machine(): Machine {
  const all = cpus()
  return {
    cpu: all[0]?.model.trim() ?? 'unknown',
    cores: all.length,
    memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    v8: process.versions.v8,
  }
}

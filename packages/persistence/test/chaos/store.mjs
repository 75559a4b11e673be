// The store of a chaos run, opened by whoever is told where it is.

import { lmdb, postgres } from '@troupe/persistence'

export const environment = {
  now: () => Date.now(),
  random: () => Math.random(),
  after(ms, task) {
    const timer = setTimeout(() => task(), ms)
    return () => clearTimeout(timer)
  },
  logger: { debug() {}, info() {}, warn() {}, error() {} },
}

export function openStore({ store, directory, url }, world) {
  return (store === 'lmdb' ? lmdb(directory) : postgres({ connectionString: url })).open(world)
}

export const ids = Array.from({ length: 40 }, (_, i) => `account/${i}`)

/** What the event with that number says, whoever looks. */
export function dataOf(id, seq, epoch) {
  return JSON.stringify({ type: 'moved', id, seq, epoch, text: 'x'.repeat((seq * 7) % 90) })
}

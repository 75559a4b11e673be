// Ways to damage the files of a journal, each at a place that a random number chooses.

import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'

const pageBytes = 4096
const frameBytes = 24 + pageBytes

function changed(path, change) {
  const bytes = readFileSync(path)
  const where = change(bytes)
  writeFileSync(path, bytes)
  return where
}
const whole = (random, n) => Math.floor(random() * n)

function flip(path, random, times) {
  return changed(path, (bytes) => {
    const places = Array.from({ length: times }, () => [whole(random, bytes.length), whole(random, 8)])
    for (const [at, bit] of places) bytes[at] ^= 1 << bit
    return places.map(([at, bit]) => `bit ${bit} of byte ${at}`).join(', ')
  })
}
function zero(path, random, size, first = 0) {
  return changed(path, (bytes) => {
    const page = whole(random, Math.floor((bytes.length - first) / size))
    bytes.fill(0, first + page * size, first + (page + 1) * size)
    return `unit ${page} of ${size} bytes`
  })
}
function swap(path, random, size, first = 0) {
  return changed(path, (bytes) => {
    const count = Math.floor((bytes.length - first) / size)
    const one = whole(random, count)
    const other = (one + 1 + whole(random, count - 1)) % count
    const [a, b] = [first + one * size, first + other * size]
    const kept = Buffer.from(bytes.subarray(a, a + size))
    bytes.copy(bytes, a, b, b + size)
    kept.copy(bytes, b)
    return `units ${one} and ${other} of ${size} bytes`
  })
}
/** A page as it was earlier, or of another place: a write that went astray. */
function stale(path, random, size, first = 0) {
  return changed(path, (bytes) => {
    const count = Math.floor((bytes.length - first) / size)
    const [from, to] = [whole(random, count), whole(random, count)]
    bytes.copy(bytes, first + to * size, first + from * size, first + (from + 1) * size)
    return `unit ${from} over unit ${to} of ${size} bytes`
  })
}
function cut(path, random, size = 1, first = 0) {
  const length = readFileSync(path).length
  const at = first + Math.floor(whole(random, length - first) / size) * size
  truncateSync(path, at)
  return `at byte ${at} of ${length}`
}
/** Where commits end in a log. */
function commitEnds(path) {
  const bytes = readFileSync(path)
  const ends = []
  for (let at = 32; at + frameBytes <= bytes.length; at += frameBytes)
    if (bytes.readUInt32BE(at + 4) !== 0 && bytes.subarray(at + 8, at + 16).equals(bytes.subarray(16, 24))) ends.push(at + frameBytes)
  return ends
}

/** By name: which file, how often, and what is done. */
export const kinds = [
  { name: 'bit flipped in the file', of: '', weight: 30, damage: (path, random) => flip(path, random, 1) },
  { name: 'several bits flipped in the file', of: '', weight: 10, damage: (path, random) => flip(path, random, 2 + whole(random, 6)) },
  { name: 'page of the file zeroed', of: '', weight: 10, damage: (path, random) => zero(path, random, pageBytes) },
  { name: 'sector of the file zeroed', of: '', weight: 5, damage: (path, random) => zero(path, random, 512) },
  { name: 'pages of the file swapped', of: '', weight: 10, damage: (path, random) => swap(path, random, pageBytes) },
  { name: 'page of the file written to another place', of: '', weight: 5, damage: (path, random) => stale(path, random, pageBytes) },
  { name: 'file cut', of: '', weight: 5, damage: (path, random) => cut(path, random, random() < 0.5 ? pageBytes : 1) },
  { name: 'bit flipped in the log', of: '-wal', weight: 10, damage: (path, random) => flip(path, random, 1) },
  { name: 'page of the log zeroed', of: '-wal', weight: 4, damage: (path, random) => zero(path, random, pageBytes) },
  { name: 'frame of the log zeroed', of: '-wal', weight: 3, damage: (path, random) => zero(path, random, frameBytes, 32) },
  { name: 'frames of the log swapped', of: '-wal', weight: 4, damage: (path, random) => swap(path, random, frameBytes, 32) },
  { name: 'log cut', of: '-wal', weight: 4, damage: (path, random) => cut(path, random) },
  {
    name: 'log cut at the end of a commit',
    of: '-wal',
    weight: 3,
    damage: (path, random) => {
      const ends = commitEnds(path)
      const at = ends[whole(random, ends.length - 1)]
      truncateSync(path, at)
      return `at byte ${at}`
    },
  },
  { name: 'log removed', of: '-wal', weight: 1, damage: (path) => (truncateSync(path, 0), 'all of it') },
]
const total = kinds.reduce((sum, { weight }) => sum + weight, 0)

/** Damages a journal; says how. */
export function damageAt(path, random) {
  let at = random() * total
  const kind = kinds.find(({ weight }) => (at -= weight) < 0) ?? kinds[0]
  const file = path + kind.of
  return { kind: kind.name, where: existsSync(file) ? kind.damage(file, random) : 'there is no such file' }
}

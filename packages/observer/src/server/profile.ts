// What the thread did for some seconds, by whose turn it was and by function: samples of the engine's profiler, each put to the actor whose turn
// it fell into. One at a time; it costs the thread a few percent meanwhile.

import { Session } from 'node:inspector/promises'
import type { Profiler } from 'node:inspector'
import { type Cell, kindOfActor, type SystemCore } from '@troupe/core/internal'
import type { FlameNode, ProfileNews } from '../feed/news.ts'
import { TurnLog } from './turn-log.ts'

/** Microseconds between two samples; what is below this share is put to its neighbours; deeper is not shown. */
const interval = 500
const leastShare = 0.002
const deepest = 60

/** Milliseconds that one may take. */
export const longestProfile = 30_000
const shortestProfile = 100
/** Actors that are named, those that took longest. */
const actorsMost = 50

const taking = new WeakMap<SystemCore, Promise<ProfileNews>>()

/** Whoever asks while one of a system is taken gets that one. */
export function takeProfile(core: SystemCore, ms: number): Promise<ProfileNews> {
  let one = taking.get(core)
  if (one === undefined) {
    one = take(core, Math.max(shortestProfile, Math.min(longestProfile, ms))).finally(() => taking.delete(core))
    taking.set(core, one)
  }
  return one
}

async function take(core: SystemCore, ms: number): Promise<ProfileNews> {
  const session = new Session()
  session.connect()
  const log = new TurnLog()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval })
    const began = performance.now()
    await session.post('Profiler.start')
    const started = performance.now()
    log.begin(core)
    await new Promise((resolve) => setTimeout(resolve, ms))
    const { profile } = await session.post('Profiler.stop')
    log.end()
    return flameOf(profile, log, beginOf(profile, began, started))
  } finally {
    log.end()
    session.disconnect()
  }
}

/** When the profile began, on the clock of the turns. Its own is that of the machine, which is believed where it agrees with when it was asked for. */
function beginOf({ startTime }: Profiler.Profile, began: number, started: number): number {
  const ours = startTime / 1000 - (Number(process.hrtime.bigint()) / 1e6 - performance.now())
  return ours >= began - 1 && ours <= started + 1 ? ours : (began + started) / 2
}

interface Draft {
  readonly name: string
  readonly place: string
  self: number
  readonly below: Map<string, Draft>
}
const draft = (name: string, place = ''): Draft => ({ name, place, self: 0, below: new Map() })

function under(parent: Draft, name: string, place: string): Draft {
  const key = `${name} ${place}`
  let child = parent.below.get(key)
  if (child === undefined) parent.below.set(key, (child = draft(name, place)))
  return child
}

/** Pure: samples and turns in, a tree of milliseconds out. `zero` is when the profile began, on the clock of the turns. */
export function flameOf(profile: Profiler.Profile, log: Pick<TurnLog, 'at' | 'who' | 'full'>, zero: number): ProfileNews {
  const stacks = stacksOf(profile)
  const root = draft('all')
  const { samples = [], timeDeltas = [] } = profile
  let at = zero
  let turn = -1
  let idle = 0
  const actors = new Map<Cell, number>()
  for (let i = 0; i < samples.length; i++) {
    // A delta is from the sample before; the sample stands for the time until the next.
    at += timeDeltas[i]! / 1000
    const took = (timeDeltas[i + 1] ?? 0) / 1000
    if (took <= 0) continue
    const stack = stacks.get(samples[i]!) ?? []
    const [top] = stack
    if (top?.name === '(idle)') {
      idle += took
      continue
    }
    while (turn + 1 < log.at.length && log.at[turn + 1]! <= at) turn++
    const cell = turn < 0 ? undefined : log.who[turn]
    const late = log.full && turn === log.at.length - 1
    const whose = late ? 'turns too many to tell apart' : cell === undefined ? 'outside of turns' : kindOfActor(cell)
    let node = under(root, whose, '')
    for (const { name, place } of cell === undefined ? stack : ownPart(stack)) node = under(node, name, place)
    node.self += took
    if (cell !== undefined && !late) actors.set(cell, (actors.get(cell) ?? 0) + took)
  }
  const whole = totalOf(root)
  const longest = [...actors].sort((a, b) => b[1] - a[1]).slice(0, actorsMost)
  return {
    ms: whole + idle,
    idle,
    samples: samples.length,
    cut: log.full,
    actors: longest.map(([cell, took]) => ({ path: cell.ref.path, kind: kindOfActor(cell), ms: took })),
    flame: shown(root, Math.max(0.01, whole * leastShare), 0),
  }
}

interface StackFrame {
  readonly name: string
  readonly place: string
}

/** By the number of the innermost frame: all of them, from the outermost in. */
function stacksOf({ nodes }: Profiler.Profile): Map<number, readonly StackFrame[]> {
  const parents = new Map<number, number>()
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id)
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const stacks = new Map<number, readonly StackFrame[]>()
  for (const { id } of nodes) {
    const stack: StackFrame[] = []
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const { functionName, url, lineNumber } = frames.get(at)!
      if (functionName !== '(root)')
        stack.push({ name: functionName || shortened(`${url}:${lineNumber + 1}`), place: url === '' ? '' : `${url}:${lineNumber + 1}` })
    }
    stacks.set(id, stack.reverse())
  }
  return stacks
}

const machinery = /[/\\](core|@troupe[/\\]core)[/\\](dist|src)[/\\]|^node:/

/** From the first function that is neither the host's nor Troupe's; where there is none, it is Troupe itself. */
function ownPart(stack: readonly StackFrame[]): readonly StackFrame[] {
  const first = stack.findIndex(({ place }) => place !== '' && !machinery.test(place))
  return first < 0
    ? [{ name: stack.at(-1)?.name === '(garbage collector)' ? '(garbage collector)' : 'Troupe itself', place: '' }]
    : stack.slice(first)
}

function totalOf(node: Draft): number {
  let sum = node.self
  for (const child of node.below.values()) sum += totalOf(child)
  return sum
}

function shown(node: Draft, least: number, depth: number): FlameNode {
  const below = depth >= deepest ? [] : [...node.below.values()].map((child) => [child, totalOf(child)] as const).filter(([, ms]) => ms >= least)
  return {
    name: node.name,
    place: shortened(node.place),
    ms: totalOf(node),
    below: below.sort((a, b) => b[1] - a[1]).map(([child]) => shown(child, least, depth + 1)),
  }
}

/** The file and its folder are enough to find it, and tell nothing of the machine. */
function shortened(place: string): string {
  return place
    .replace(/^file:\/\//, '')
    .split(/[/\\]/)
    .slice(-2)
    .join('/')
}

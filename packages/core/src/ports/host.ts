// The file that touches `globalThis` (announce.ts is the other): monotonic time, microtasks, macrotasks, timers, abort controllers, the console, and
// an async context that belongs to nobody. Everything is optional there, so that Node, Bun, Deno and browsers all fit.

import type { AbortSource } from '../values/abort.ts'
import type { ExecutionRuntime } from '../values/runtime.ts'

interface HostTimer {
  unref?(): void
}
interface HostPort {
  onmessage: (() => void) | null
  postMessage(value: unknown): void
}
interface Host {
  readonly performance: { now(): number }
  readonly AbortController: new () => AbortSource
  queueMicrotask(task: () => void): void
  setTimeout(task: () => void, ms: number): HostTimer
  clearTimeout(timer: HostTimer): void
  setInterval(task: () => void, ms: number): HostTimer
  clearInterval(timer: HostTimer): void
  readonly setImmediate?: (task: () => void) => unknown
  readonly MessageChannel?: new () => { readonly port1: HostPort; readonly port2: HostPort }
  readonly process?: { getBuiltinModule?(name: string): unknown }
  readonly console?: { warn?(text: string): void; error?(text: string): void }
}
interface AsyncHooks {
  readonly AsyncLocalStorage?: { snapshot?(): (task: () => void) => void }
}

const host = globalThis as unknown as Host
// Held: the property is a getter in Node, which costs as much as a message.
const { performance } = host

/** The longest delay that hosts take; longer timers are armed again on the way. */
const longest = 2 ** 31 - 1

export function makeAbortSource(): AbortSource {
  return new host.AbortController()
}

export function hostNow(): number {
  return performance.now()
}

export function hostRandom(): number {
  return Math.random()
}

/** Writes to standard error, or where a browser shows such things. */
export function hostPrint(level: 'warn' | 'error', text: string): void {
  host.console?.[level]?.(text)
}

/** Runs the task once the host has served its events. */
export const hostYield: (task: () => void) => void = /* @__PURE__ */ makeYield()

function makeYield(): (task: () => void) => void {
  const immediate = host.setImmediate
  if (immediate !== undefined) return (task) => void immediate(task)
  if (host.MessageChannel === undefined) return (task) => void host.setTimeout(task, 0)
  const { port1, port2 } = new host.MessageChannel()
  const tasks: (() => void)[] = []
  port1.onmessage = () => tasks.shift()?.()
  return (task) => {
    tasks.push(task)
    port2.postMessage(null)
  }
}

/** Runs the task outside every AsyncLocalStorage store: in the context in which this module was loaded. */
export const hostEnter: (task: () => void) => void = /* @__PURE__ */ makeEnter()

function makeEnter(): (task: () => void) => void {
  const hooks = host.process?.getBuiltinModule?.('node:async_hooks') as AsyncHooks | undefined
  return hooks?.AsyncLocalStorage?.snapshot?.() ?? ((task) => task())
}

// Microtasks in a context that belongs to nobody: a chain of promises begun in the neutral context, which each link hands
// on whoever wakes it. Having run, it looks once more before it sleeps: whoever was answered may already have asked again,
// and a link that exists costs a third of being woken.
const done = /* @__PURE__ */ Promise.resolve()
let first: (() => void) | undefined
let others: (() => void)[] = []
let wakeChain: (() => void) | undefined
let asleep = false
const fallAsleep = (resolve: () => void): void => {
  wakeChain = resolve
  asleep = true
}

/** Runs the task in a microtask, outside every AsyncLocalStorage store. */
export function hostSoon(task: () => void): void {
  if (wakeChain === undefined) hostEnter(runSoon)
  if (first === undefined) first = task
  else others.push(task)
  if (!asleep) return
  asleep = false
  wakeChain!()
}

function runSoon(): void {
  const task = first
  if (task === undefined) {
    void new Promise<void>(fallAsleep).then(runSoon)
    return
  }
  first = undefined
  if (others.length === 0) runTask(task)
  else {
    const more = others
    others = []
    runTask(task)
    for (const other of more) runTask(other)
  }
  void done.then(runSoon)
}

function runTask(task: () => void): void {
  try {
    task()
  } catch (cause) {
    // Not ours to swallow, and no reason to stop: the host hears of it.
    hostYield(() => {
      throw cause
    })
  }
}

/** The host's timer, of at most `longest` ms; keeps the process alive only where asked to. */
export function hostTimer(ms: number, task: () => void, keepAlive = false): () => void {
  const timer = host.setTimeout(task, Math.min(Math.ceil(ms), longest))
  if (!keepAlive) timer.unref?.()
  return () => host.clearTimeout(timer)
}

/** Keeps the process alive until released. */
export function hostHold(): () => void {
  const handle = host.setInterval(() => {}, longest)
  return () => host.clearInterval(handle)
}

/**
 * The event loop. Waking is a microtask, for latency; a marker behind it tells when the loop has turned, so that a
 * chain of wakes shares one slice and cannot starve sockets and timers. What a system runs on if nothing else is said.
 *
 * @example
 * const system = ActorSystem.create('shop', { runtime: new HostRuntime() })
 */
export class HostRuntime implements ExecutionRuntime {
  readonly id: string = 'host'
  readonly wakesNeutral = true
  pass = 0
  #marked = false
  readonly #mark = (): void => {
    this.#marked = false
    this.pass++
  }
  now(): number {
    return performance.now()
  }
  random(): number {
    return hostRandom()
  }
  wake(task: () => void): void {
    if (!this.#marked) {
      this.#marked = true
      hostYield(this.#mark)
    }
    hostSoon(task)
  }
  yield(task: () => void): void {
    if (!this.#marked) {
      this.#marked = true
      hostYield(this.#mark)
    }
    hostYield(task)
  }
  timer(ms: number, task: () => void): () => void {
    return hostTimer(ms, task)
  }
  enter(task: () => void): void {
    hostEnter(task)
  }
  hold(): () => void {
    return hostHold()
  }
}

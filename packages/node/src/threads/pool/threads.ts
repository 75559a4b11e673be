// Gives a system its threads: the dispatchers `parallel` and `pinned`, and tasks.

import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { ResourceLimits } from 'node:worker_threads'
import { ActorSystem, type AnyRef, InvalidOption, NotAllowed, type SystemView } from '@troupe/core'
import {
  checkBoolean,
  checkFinite,
  checkList,
  checkObject,
  checkWhole,
  coreOf,
  hostOf,
  readOptions,
  requireCore,
  type Table,
} from '@troupe/core/internal'
import { threadEntry } from '../../thread-entry.ts'
import { onWorkers } from './engine.ts'
import { isMadeThread } from './here.ts'
import { recorderOriginOf } from './recording.ts'
import { hostLoop } from '@troupe/border'
import { hostShares, mediumOf } from '../wire/media.ts'
import { ThreadPool } from './pool.ts'
import { reportOn } from '../survey/report.ts'
import type { Vitals } from '../wire/signs.ts'
import type { TaskOptions } from './task-queue.ts'

/** How the threads of a system are set up; every field has a default. */
export interface ThreadsOptions {
  /** Threads of the pool behind `parallel`: 2 to 1,024; as many as the machine runs at once if left out. */
  readonly size?: number | undefined
  /** Milliseconds without a sign of life until a thread is ended and replaced, for actors without their own `hangAfter`; 10,000 if left out. */
  readonly hangAfter?: number | undefined
  /** Bytes that may be under way in each direction between two threads, a power of two from 4 KiB to 1 GiB; 1 MiB if left out. */
  readonly ringBytes?: number | undefined
  /** Milliseconds that an idle thread looks for more before it sleeps; 0.05 if left out. */
  readonly spin?: number | undefined
  /**
   * Whether threads talk through shared memory: if left out, where the host has it. With `false` everything goes by message
   * ports: the promises are the same, answers take longer, and what a hung thread was doing cannot be told.
   */
  readonly sharedMemory?: boolean | undefined
  /**
   * What each thread runs, such as `new URL('./worker.js', import.meta.url)`: a file of yours that imports the modules of your actors and
   * `@troupe/node/worker`. For programs that are bundled. Threads then find definitions by name, and load no module.
   */
  readonly worker?: URL | string | undefined
  /** Limits of memory for each thread, as Node takes them. */
  readonly resourceLimits?: ResourceLimits | undefined
  /** Options of Node for each thread. */
  readonly execArgv?: readonly string[] | undefined
  /** Whether running threads keep the process alive; they end with the system. True if left out. */
  readonly keepAlive?: boolean | undefined
}

/** The threads of a system. */
export interface Threads {
  readonly size: number
  /**
   * How each thread is doing: actors, messages queued, how busy and how late its loop is. `thread` is its number: below `size` for those of
   * the pool, from `size` on for pinned ones; it stays the same when the thread is replaced.
   */
  vitals(): readonly (Vitals & { readonly thread: number; readonly state: 'starting' | 'up' | 'ending' | 'gone' })[]
  /**
   * Calls an exported function of a module on an idle thread of the pool; it gets the arguments, and last `{ signal }`.
   * Rejects with what the function throws, with `Cancelled` or `TaskCancelled` when given up, with `ThreadLost`.
   */
  runTask<F extends (...args: never) => unknown>(url: string, name: string, args: ArgsOf<F>, options?: TaskOptions): Promise<Awaited<ReturnType<F>>>
  runTask<R = unknown>(url: string, name: string, args?: readonly unknown[], options?: TaskOptions): Promise<R>
  /** The actor of that path on whatever thread: what `system.find` sees, and what lives below it elsewhere. */
  find(path: string): Promise<AnyRef | undefined>
  /** Where everything stands, line by line: threads, ways, actors, and what is waited for. For a log, when something seems stuck. */
  report(): readonly string[]
  /** Ends one thread for good and replaces it; what it held is lost. For tests and for operators. */
  terminate(thread: number): void
}

/** The arguments of a task without what the thread adds. */
type ArgsOf<F extends (...args: never) => unknown> = Parameters<F> extends readonly [...infer A, { readonly signal: AbortSignal }] ? A : Parameters<F>

/** By the inside of their system, which `ctx.system` leads to as well. */
const installed = new WeakMap<object, Threads>()

/**
 * Installs threads: the dispatchers `parallel` (a pool) and `pinned` (a thread of its own for each actor), and tasks.
 *
 * Guarantees: what holds for actors of one thread holds across threads (SEMANTICS.md, T1 to T5); a lost or hung thread is
 * replaced and each of its actors fails with `ThreadLost`; the threads end with the system.
 * Fails: with `InvalidOption` on a wrong option, with `NotAllowed` when the system has threads already, on a thread of another system, or when
 * shared memory is asked for that the host does not have.
 *
 * @example
 * threads(system, { size: 4 })
 * const ref = system.spawn(hasher(12), { dispatcher: 'parallel' })
 */
export function threads(system: ActorSystem, options: ThreadsOptions = {}): Threads {
  requireCore('@troupe/node', 1)
  checkSystem(system)
  const read = readOptions('threads', options, table)
  if (installed.has(coreOf(system)))
    throw new NotAllowed(
      `System ${system.name} has its threads already, such as by troupe run --threads. Use threadsOf(system), and give options where threads(system) is called first.`,
    )
  if (coreOf(system).otherPlaces !== undefined)
    throw new NotAllowed(`System ${system.name} is a node of a cluster already. Call threads(system) before it joins.`)
  // Most likely the module of an actor that is also the program: each thread would run it again, and start threads that do the same.
  if (isMadeThread())
    throw new NotAllowed(
      `System ${system.name} cannot have threads: this is itself a thread of a system. If the module of an actor is also your program, put the program behind if (isMainThread) of node:worker_threads, or the actor into a module of its own.`,
    )
  const { size = Math.max(2, availableParallelism()), hangAfter = 10_000, ringBytes = 1024 * 1024, sharedMemory: shared = hostShares() } = read
  if (shared && !hostShares())
    throw new NotAllowed(
      'Threads cannot share memory: this host has no SharedArrayBuffer. Leave sharedMemory out, or start Node without the flag that takes it away.',
    )
  const worker = read.worker as URL | undefined
  if (worker === undefined) checkEntry()
  const core = coreOf(system)
  if (core.runtime.id === 'virtual' || core.runtime.id === 'manual')
    throw new NotAllowed(
      `System ${system.name} cannot have threads: it runs on a ${core.runtime.id} runtime, and threads run by the clock of the host. In a test, let actors live where they are spawned, or use a system on real time.`,
    )
  const pool = new ThreadPool(core, {
    size,
    hangAfter,
    medium: mediumOf(shared, ringBytes),
    systemName: core.name,
    systemId: core.id,
    askTimeout: core.askTimeout,
    spin: read.spin ?? 0.05,
    loop: hostLoop,
    byName: worker !== undefined,
    recorder: recorderOriginOf(core.flightRecorder),
    launch: onWorkers({ worker, resourceLimits: read.resourceLimits, execArgv: read.execArgv, keepAlive: read.keepAlive ?? true }),
  })
  const made: Threads = {
    size,
    vitals: () => pool.vitals(),
    report: () => reportOn(pool),
    find: (path) => {
      if (typeof path !== 'string') return Promise.reject(new InvalidOption('path', path, 'use a path such as /user/cart'))
      const here = system.find(path)
      return here === undefined ? pool.find(path) : Promise.resolve(here)
    },
    runTask: (url: string, name: string, args?: readonly unknown[], taskOptions?: TaskOptions) =>
      pool.tasks.run(url, name, args ?? [], taskOptions ?? {}) as never,
    terminate: (slot) => {
      const all = [...pool.threads]
      const thread = all.find((t) => t.slot === slot)
      if (thread === undefined)
        throw new InvalidOption('thread', slot, `there is no thread of that number now; there are ${all.map((t) => t.slot).join(', ')}`)
      thread.kill('terminated')
    },
  }
  installed.set(core, made)
  return made
}

/**
 * The threads that a system has, whoever installed them; undefined where nobody did.
 *
 * For code that is given a system which may have threads already, as by `troupe run --threads`. Guarantees: starts nothing, and returns what
 * `threads` returned. Fails: with `InvalidOption` on what is no system.
 *
 * @example
 * const pool = threadsOf(ctx.system)
 * if (pool !== undefined) ctx.log.info({ threads: pool.size }, 'ready')
 */
export function threadsOf(system: SystemView): Threads | undefined {
  return installed.get(hostOf(system))
}

const maxThreads = 1024
const minRingBytes = 4096
/** Positions in a ring are 32-bit numbers. */
const maxRingBytes = 2 ** 30

const table: Table<ThreadsOptions> = {
  size: checkSize,
  hangAfter: [checkWhole, 20],
  ringBytes: checkRingBytes,
  spin: [checkFinite, 'from'],
  sharedMemory: checkBoolean,
  worker: checkWorker,
  resourceLimits: checkObject,
  execArgv: (option, value) => checkList(option, value, (one) => typeof one === 'string', 'texts'),
  keepAlive: checkBoolean,
}

/** Each thread is started at once: a number that was mistyped would hold the process for ever, or exhaust its memory. */
function checkSize(option: string, value: unknown): number {
  const whole = checkWhole(option, value, 2)
  if (whole > maxThreads) throw new InvalidOption(option, value, `use at most ${maxThreads}`)
  return whole
}

function checkRingBytes(option: string, value: unknown): number {
  const bytes = checkWhole(option, value, minRingBytes)
  if (bytes > maxRingBytes || !Number.isInteger(Math.log2(bytes)))
    throw new InvalidOption(option, value, `use a power of two, from ${minRingBytes} to ${maxRingBytes}`)
  return bytes
}

/** As a URL of a file that is there. */
function checkWorker(option: string, value: unknown): URL {
  const url = value instanceof URL ? value : typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol !== 'file:') throw new InvalidOption(option, value, "use the URL of a file, such as new URL('./worker.js', import.meta.url)")
  if (!existsSync(url)) throw new InvalidOption(option, url.href, 'there is no such file')
  return url
}

/** A bundle takes the code of this package along, and leaves the program of its threads behind. */
function checkEntry(): void {
  const entry = threadEntry()
  if (existsSync(entry)) return
  throw new NotAllowed(
    `Threads cannot start: ${entry.href} is not there. If this program is bundled, write a worker entry that imports the modules of your actors and @troupe/node/worker, bundle it too, and give it as threads(system, { worker: new URL('./worker.js', import.meta.url) }).`,
  )
}

function checkSystem(system: unknown): void {
  try {
    if (system instanceof ActorSystem) return
  } catch {}
  throw new InvalidOption('system', system, 'use an ActorSystem')
}

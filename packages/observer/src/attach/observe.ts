// Lets others look at a system: opens the socket, writes the descriptor, and takes both away with the system or the process.

import { createServer, type Server } from 'node:net'
import { chmodSync, rmSync } from 'node:fs'
import { type ActorSystem, InvalidOption, NotAllowed } from '@troupe/core'
import { checkBoolean, checkList, checkWhole, readOptions, type Table } from '@troupe/core/internal'
import { checkSystem } from '../survey/look.ts'
import { ObservationSource } from '../source/source.ts'
import { checkedPage, type PageOptions } from '../server/page-options.ts'
import { type Page, servePage } from '../server/page-server.ts'
import { type Descriptor, openDirectory, removeDescriptor, runtimeDirectory, socketPath, writeDescriptor } from './directory.ts'
import { Session } from './session.ts'

/** How a system may be looked at. */
export interface ObserveOptions {
  /** Whether the command line may attach; true if left out. */
  readonly socket?: boolean | undefined
  /** Milliseconds between two looks while somebody looks; 1,000 if left out, at least 100. */
  readonly every?: number | undefined
  /** Rules, or findings by their ids, that are not said. */
  readonly mute?: readonly string[] | undefined
  /** Serves a page that shows the system, from the start: as `openPage` does later. */
  readonly page?: boolean | PageOptions | undefined
}

/** What `observe` gives: where the system can be looked at, and what ends that. */
export interface Observer {
  /** What all who look subscribe to. */
  readonly source: ObservationSource
  /** The socket, once it is open; undefined where there is none. */
  readonly socket: string | undefined
  /**
   * Resolves once others can attach, and the page is served where one was asked for. Rejects if the socket or the page cannot be opened, and where the system
   * ends before they are.
   */
  readonly ready: Promise<void>
  /**
   * Serves a page on this machine that shows the system, to whoever has its URL.
   *
   * Guarantees: as long as nobody has the page open nothing is counted, sampled or listened to; it tells no message, only types, names and
   * numbers; it does not keep the process alive, and closes with the system. Fails: with `InvalidOption` on a wrong option, with the host's error where
   * the port is taken.
   *
   * @example
   * const page = await observe(system).openPage({ port: 4000 })
   * console.log(page.url)
   */
  openPage(options?: PageOptions): Promise<Page>
  /** Nobody can look any more; those who do are sent away. */
  close(): Promise<void>
}

/** What `observe` gives where it was asked for a page. */
export interface ObserverWithPage extends Observer {
  /** The page, once it is served. Rejects where it cannot be, as where the port is taken. */
  readonly page: Promise<Page>
}

const table: Table<ObserveOptions> = {
  socket: checkBoolean,
  every: [checkWhole, 100],
  mute: (option, value) => checkList(option, value, (one) => typeof one === 'string', 'texts'),
  page: (option, value) => {
    if (typeof value === 'boolean') return value
    if (typeof value !== 'object' || value === null) throw new InvalidOption(option, value, 'use true, false, or options of the page')
    checkedPage(value)
    return value
  },
}

/** Clients at once. */
const mostClients = 16

/** The observer of each system that is not closed. */
const observers = new WeakMap<ActorSystem, Observer>()
/** Systems whose end closes their observer, whichever that is then: what was closed before is kept by nobody. */
const heeded = new WeakSet<ActorSystem>()

/**
 * Lets a running system be looked at: by `troupe top`, `troupe doctor` and the other commands, through a socket in a directory that only
 * you may open.
 *
 * Guarantees: as long as nobody looks nothing is counted, sampled or listened to; nothing that a client sends changes the system; it does not keep
 * the process alive, and ends with the system. Fails: with `InvalidOption` on a wrong option, with `NotAllowed` for a system that is observed already;
 * where the socket cannot be opened `ready` rejects, and it is logged by nobody else.
 *
 * @example
 * const system = ActorSystem.create('shop')
 * const observer = observe(system, { page: true })
 * console.log(`Look at ${(await observer.page).url}`)
 */
export function observe(system: ActorSystem, options: ObserveOptions & { readonly page: true | PageOptions }): ObserverWithPage
export function observe(system: ActorSystem, options?: ObserveOptions): Observer
export function observe(system: ActorSystem, options: ObserveOptions = {}): Observer & { readonly page: Promise<Page> | undefined } {
  checkSystem(system)
  const { socket = true, every = 1000, mute = [], page: wanted = false } = readOptions('observe', options, table)
  if (observers.has(system))
    throw new NotAllowed(
      `System ${system.name} is observed already, as by troupe run. Use that observer: observerOf(system) gives it. Or close it first.`,
    )
  const source = new ObservationSource(system, { every, mute })
  const door = socket ? openDoor(system, source) : undefined
  const pages = new Set<Page>()
  let closed = false
  const openPage = async (given: PageOptions = {}): Promise<Page> => {
    const page = await servePage(source, given)
    pages.add(page)
    if (!closed) return page
    await page.close()
    throw new NotAllowed(`The observer of ${system.name} was closed before its page was served.`)
  }
  const close = async (): Promise<void> => {
    closed = true
    // There may be another one meanwhile.
    if (observers.get(system) === observer) observers.delete(system)
    await Promise.all([...pages].map((page) => page.close()))
    source.close()
    await door?.close()
  }
  const served = wanted === false ? undefined : openPage(wanted === true ? {} : wanted)
  const ready = Promise.all([door?.ready, served]).then(() => {})
  // Whoever does not ask need not know; whoever does is told.
  for (const one of [ready, served]) one?.catch(() => {})
  const observer = { source, socket: door?.path, ready, page: served, openPage, close }
  observers.set(system, observer)
  heed(system)
  return observer
}

/** Closes with the system whichever observer it has then. Not in `observe`, whose variables the callback would keep for as long as the system lives. */
function heed(system: ActorSystem): void {
  if (heeded.has(system)) return
  heeded.add(system)
  void system.terminated.then(() => observers.get(system)?.close())
}

/**
 * The observer that a system has, whoever made it; undefined where nobody did, or it was closed.
 *
 * For those who were given a system that may be observed already, as by `troupe run`, and have figures to serve or a page to open. Guarantees: makes
 * nothing. Fails: with `InvalidOption` on what is no system.
 *
 * @example
 * export default function shop(system: ActorSystem): void {
 *   prometheusMetrics(observerOf(system) ?? observe(system, { socket: false }))
 * }
 */
export function observerOf(system: ActorSystem): Observer | undefined {
  checkSystem(system)
  return observers.get(system)
}

interface Door {
  readonly path: string
  readonly ready: Promise<void>
  close(): Promise<void>
}

function openDoor(system: ActorSystem, source: ObservationSource): Door {
  const directory = openDirectory(runtimeDirectory())
  const { pid } = process
  const path = socketPath(directory, pid, system.id)
  const descriptor: Descriptor = {
    protocol: 1,
    system: system.name,
    id: system.id,
    pid,
    socket: path,
    since: new Date().toISOString(),
    program: process.argv.slice(1, 4).join(' '),
  }
  const sessions = new Set<Session>()
  let refuse: (cause: unknown) => void
  const server: Server = createServer((client) => {
    if (sessions.size >= mostClients) return void client.destroy()
    const session = new Session(client, source)
    sessions.add(session)
    client.unref()
    client.on('close', () => sessions.delete(session))
  })
  server.unref()
  const leave = (): void => removeDescriptor(directory, descriptor)
  const ready = new Promise<void>((resolve, reject) => {
    refuse = reject
    server.once('error', reject)
    // One of this number that was killed may have left it.
    if (process.platform !== 'win32') rmSync(path, { force: true })
    server.listen(path, () => {
      try {
        if (process.platform !== 'win32') chmodSync(path, 0o600)
        writeDescriptor(directory, descriptor)
        process.on('exit', leave)
        resolve()
      } catch (cause) {
        reject(cause)
      }
    })
  })
  return {
    path,
    ready,
    close: () =>
      new Promise((resolve) => {
        process.off('exit', leave)
        for (const session of sessions) session.close()
        // Whoever waits to attach waits in vain; of one that was ready this says nothing.
        refuse(new NotAllowed(`Nobody can attach to ${system.name} any more: it has ended, or its observer was closed, before its socket was open.`))
        server.close(() => resolve())
        leave()
      }),
  }
}

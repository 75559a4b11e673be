// Files as messages: read as a stream, append, watch.

import { createReadStream, createWriteStream, type FSWatcher, watch as fsWatch } from 'node:fs'
import type { Duplex } from 'node:stream'
import { type ActorRef, type Behavior, same } from '@troupe/core'
import { type Cell, checkText } from '@troupe/core/internal'
import { ownedConnection } from './connection.ts'
import { Carrier } from './credit.ts'
import { type IoError, toIoError } from './errors.ts'
import { fileLines } from './line-feed.ts'
import { checkOptions, fileChecks, watchChecks } from './limits.ts'
import type { ConnectionCommand, ConnectionEvent, ConnectionOptions } from './protocol.ts'
import { resource } from './resource.ts'
import { SocketLink } from './socket-link.ts'

/** Which part of a file, and who hears it. */
export interface ReadFileOptions extends ConnectionOptions {
  /** Who is told the chunks and the end. */
  readonly owner: ActorRef<ConnectionEvent>
  /** The first byte; 0 if left out. */
  readonly start?: number | undefined
  /** The last byte, included. */
  readonly end?: number | undefined
  /** Bytes of a chunk; 65,536 if left out. */
  readonly chunkSize?: number | undefined
}

function read(path: string, given: ReadFileOptions): Behavior<ConnectionCommand> {
  checkText('path', path)
  const options = checkOptions('file.read', given, fileChecks, ['owner'])
  const { start, end, chunkSize = 65_536 } = options
  const open = (): SocketLink => {
    const range = { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) }
    const stream = createReadStream(path, { highWaterMark: chunkSize, ...range })
    // The link writes to no stream that says it is not writable.
    return new SocketLink(stream as unknown as Duplex, `read ${path}`, options)
  }
  return ownedConnection({ open }, options.owner, options)
}

/** Who hears of the file that is appended to. */
export interface AppendFileOptions extends ConnectionOptions {
  /** Who is told when it is open, when it fails and when it is closed; nobody if left out. */
  readonly owner?: ActorRef<ConnectionEvent> | undefined
  /** Permission bits of a file that is created; 0o666 less the umask if left out. */
  readonly mode?: number | undefined
}

function append(path: string, given: AppendFileOptions = {}): Behavior<ConnectionCommand> {
  checkText('path', path)
  const options = checkOptions('file.append', given, fileChecks)
  const { mode = 0o666 } = options
  const open = (): SocketLink => new SocketLink(createWriteStream(path, { flags: 'a', mode }) as unknown as Duplex, `append to ${path}`, options)
  return ownedConnection({ open }, options.owner, options)
}

/** Names that may be unhandled; beyond, it is told that something changed, but not what. */
const mostNames = 1024

/** What the watcher of a file or folder tells. Equal news that was not handled yet is told once; without a `name`, anything may have changed. */
export type WatchEvent =
  | { readonly type: 'changed'; readonly change: 'rename' | 'change'; readonly name: string | undefined; readonly path: string }
  | { readonly type: 'error'; readonly code: string; readonly error: IoError; readonly path: string }
  | { readonly type: 'watch-ended'; readonly path: string }

/** Who hears of changes. */
export interface WatchOptions {
  /** Who is told the changes. */
  readonly owner: ActorRef<WatchEvent>
  /** Whether folders in it are watched too; false if left out. */
  readonly recursive?: boolean | undefined
}

function watch(path: string, options: WatchOptions): Behavior<never> {
  checkText('path', path)
  const { owner, recursive = false } = checkOptions('file.watch', options, watchChecks, ['owner'])
  return resource<never, WatchEvent>(owner, ({ self, report, finish }) => {
    const told = new Set<string>()
    let watcher: FSWatcher | undefined
    let stale = false
    const fail = (cause: unknown): void => {
      const error = toIoError(`watch ${path}`, cause)
      report(error, { type: 'error', code: error.code, error, path })
      finish({ type: 'watch-ended', path })
    }
    try {
      watcher = fsWatch(path, { recursive, persistent: true }, (change, name) => {
        const known = told.size < mostNames ? (name ?? undefined) : undefined
        const key = `${change} ${known}`
        if (stale || told.has(key)) return
        told.add(key)
        owner.tell({ type: 'changed', change, name: known, path }, new Coalesced(self, told, key, () => self.stop()))
      })
      watcher.on('error', fail)
    } catch (cause) {
      fail(cause)
    }
    return {
      onCommand: () => same,
      release: () => {
        stale = true
        watcher?.close()
      },
    }
  })
}

/** News that is told again only once its handler has begun: a burst of changes is one message. */
class Coalesced extends Carrier {
  readonly #told: Set<string>
  readonly #key: string
  constructor(sender: ActorRef<never>, told: Set<string>, key: string, gone: () => void) {
    super(sender, { stale: false, credited: () => {}, undelivered: gone })
    this.#told = told
    this.#key = key
  }
  override open(cell: Cell, message: unknown): unknown {
    this.#told.delete(this.#key)
    return super.open(cell, message)
  }
}

/**
 * Files as actors. `read` tells chunks with the flow control of a connection and then `closed`; `lines` the same line by
 * line; `append` takes `write`, `flush` and `end`; `watch` tells what changed.
 *
 * Guarantees: the file is closed with its actor, unsent bytes of `append` are given `linger` to be written.
 * Fails: a missing file or right is an `error` with `code` (`ENOENT`, `EACCES`); unhandled, the actor fails.
 *
 * @example
 * ctx.spawn(file.read('/etc/hosts', { owner: ctx.self }))
 */
export const file: {
  readonly read: typeof read
  readonly lines: typeof fileLines
  readonly append: typeof append
  readonly watch: typeof watch
} = { read, lines: fileLines, append, watch }

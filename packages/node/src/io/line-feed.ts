// Lines as messages: of standard input, of a file, of any readable stream.

import { createReadStream } from 'node:fs'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { type ActorRef, type Behavior, same, unhandled } from '@troupe/core'
import { checkText } from '@troupe/core/internal'
import { Credited } from './credit.ts'
import { type IoError, toIoError } from './errors.ts'
import { Feed } from './feed.ts'
import { lines } from './framing/lines.ts'
import { checkOptions, lineChecks } from './limits.ts'
import { resource } from './resource.ts'

/** One line, without its end. */
export interface Line {
  readonly type: 'line'
  readonly line: string
}

/** What the owner of a stream of lines receives. */
export type LineEvent = Line | { readonly type: 'lines-ended' } | { readonly type: 'error'; readonly code: string; readonly error: IoError }

/** What a stream of lines understands. */
export type LineCommand = { readonly type: 'pause' } | { readonly type: 'resume' }

/** Who hears the lines, and how far ahead they may run. */
export interface LineOptions {
  /** Who is told the lines. */
  readonly owner: ActorRef<LineEvent>
  /** Lines unhandled before reading pauses; 256 if left out. One chunk's lines may go beyond. */
  readonly credits?: number | undefined
  /** Bytes of the longest line; 65,536 if left out. Beyond: the error `frame-error`. */
  readonly maxLength?: number | undefined
}

class LineMessage extends Credited implements Line {
  readonly type = 'line'
  readonly line: string
  constructor(line: string) {
    super()
    this.line = line
  }
}

export function lineFeed(open: (input: Readable | undefined) => Readable, what: string, options: LineOptions): Behavior<LineCommand> {
  const read = checkOptions<LineOptions & { readonly input?: Readable | undefined }>('lines', options, lineChecks, ['owner'])
  const { owner, credits = 256, maxLength } = read
  return resource<LineCommand, LineEvent>(owner, ({ self, report, finish }) => {
    const stream = open(read.input)
    const decoder = lines({ maxLength })
    const fail = (cause: unknown): void => {
      const error = toIoError(what, cause)
      report(error, { type: 'error', code: error.code, error })
    }
    const messages = (chunk: Buffer): LineMessage[] => {
      try {
        return decoder.push(chunk).map((line) => new LineMessage(line))
      } catch (cause) {
        stream.destroy(cause as Error)
        return []
      }
    }
    const feed = new Feed<LineMessage>(stream, owner, self, credits, messages, () => self.stop())
    const ended = (): void => finish({ type: 'lines-ended' })
    const end = (): void => {
      const rest = decoder.rest()
      if (rest !== '') feed.tellAll([new LineMessage(rest)])
      // Standard input that was ended by a terminal may never say `close`.
      if (stream === process.stdin) ended()
    }
    stream.on('error', fail)
    stream.on('end', end)
    stream.on('close', ended)
    // An earlier incarnation may have paused it, or seen its end.
    if (stream.destroyed || stream.readableEnded) ended()
    else stream.resume()
    return {
      onCommand: (m) => {
        if (m.type === 'pause') feed.pause()
        else if (m.type === 'resume') feed.resume()
        else return unhandled
        return same
      },
      release: () => {
        // Standard input goes on where it was: what was read and waits for the owner will not come again.
        feed.close(stream === process.stdin)
        if (stream !== process.stdin) return void stream.destroy()
        stream.removeListener('error', fail)
        stream.removeListener('end', end)
        stream.removeListener('close', ended)
        stream.pause()
      },
    }
  })
}

/**
 * Standard input, line by line.
 *
 * Guarantees: lines in order, reading pauses while the owner is behind; `lines-ended` is last.
 * Fails: an `error` with `code`; unhandled, the actor fails.
 *
 * @example
 * system.spawn(stdinLines({ owner: ctx.self }))
 */
export function stdinLines(options: LineOptions & { readonly input?: Readable | undefined }): Behavior<LineCommand> {
  return lineFeed((input) => input ?? process.stdin, 'read standard input', options)
}

/** The lines of a file, from its beginning to its present end; a restart begins again. */
export function fileLines(path: string, options: LineOptions): Behavior<LineCommand> {
  checkText('path', path)
  return lineFeed(() => createReadStream(path), `read ${path}`, options)
}

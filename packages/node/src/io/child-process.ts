// A child process as an actor: its output as messages with credits, its input as commands, its exit as the last word.
// Its stop ends the process: politely, then for good.

import { spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { type ActorRef, type Behavior, same, unhandled } from '@troupe/core'
import { checkBytes } from './bytes.ts'
import { checkText } from '@troupe/core/internal'
import { Credited } from './credit.ts'
import { IoError, toIoError } from './errors.ts'
import { Feed } from './feed.ts'
import { atMost } from './later.ts'
import { checkOptions, processChecks } from './limits.ts'
import type { Bytes } from './protocol.ts'
import { resource } from './resource.ts'

/** What the owner of a child process receives. */
export type ProcessEvent =
  | { readonly type: 'started'; readonly pid: number; readonly process: ActorRef<ProcessCommand> }
  | { readonly type: 'stdout'; readonly chunk: Buffer; readonly process: ActorRef<ProcessCommand> }
  | { readonly type: 'stderr'; readonly chunk: Buffer; readonly process: ActorRef<ProcessCommand> }
  /** What was written to its input has been taken. */
  | { readonly type: 'drained'; readonly process: ActorRef<ProcessCommand> }
  /** The last message; all output came before it. */
  | { readonly type: 'exited'; readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly process: ActorRef<ProcessCommand> }
  | { readonly type: 'error'; readonly code: string; readonly error: IoError; readonly process: ActorRef<ProcessCommand> }

/** What a child process understands. */
export type ProcessCommand =
  | { readonly type: 'write'; readonly data: Bytes }
  | { readonly type: 'end' }
  | { readonly type: 'kill'; readonly signal?: NodeJS.Signals | undefined }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }

/** What to run, and who hears of it. */
export interface ProcessOptions {
  /** Who is told the output and the end of the process. */
  readonly owner: ActorRef<ProcessEvent>
  /** What the command is given, without a shell; nothing if left out. */
  readonly args?: readonly string[] | undefined
  /** The folder that it starts in; that of this process if left out. */
  readonly cwd?: string | undefined
  /** All of its environment; that of this process if left out. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Chunks of each output unhandled before it is paused; 16 if left out. */
  readonly credits?: number | undefined
  /** Bytes that may wait for a process that does not read; 16 MiB if left out. */
  readonly maxBuffered?: number | undefined
  /** Milliseconds between SIGTERM and SIGKILL when the actor stops; 2,000 if left out. */
  readonly killAfter?: number | undefined
}

class Output extends Credited {
  readonly type: 'stdout' | 'stderr'
  readonly chunk: Buffer
  readonly process: ActorRef<ProcessCommand>
  constructor(type: 'stdout' | 'stderr', chunk: Buffer, process: ActorRef<ProcessCommand>) {
    super()
    this.type = type
    this.chunk = chunk
    this.process = process
  }
}

/**
 * A child process, started without a shell.
 *
 * Guarantees: output in order within each stream, paused while the owner is behind; `exited` comes last; no process
 * outlives its actor by more than `killAfter`. Fails: a command that cannot be started is an `error` with `code`
 * (`ENOENT`); unhandled, the actor fails.
 *
 * @example
 * ctx.spawn(childProcess('git', { args: ['log', '-1'], owner: ctx.self }))
 */
export function childProcess(command: string, given: ProcessOptions): Behavior<ProcessCommand> {
  checkText('command', command)
  const options = checkOptions('childProcess', given, processChecks, ['owner'])
  const { owner, args = [], cwd, env, credits = 16, maxBuffered = 16 * 1024 * 1024, killAfter = 2000 } = options
  return resource<ProcessCommand, ProcessEvent>(owner, ({ tell, report, finish }, ctx) => {
    const self = ctx.self
    const child = spawn(command, [...args], { ...(cwd === undefined ? {} : { cwd }), ...(env === undefined ? {} : { env }), stdio: 'pipe' })
    let ended = false
    let overflown = false
    let refused = false
    const fail = (error: IoError): void => report(error, { type: 'error', code: error.code, error, process: self })
    child.on('error', (cause) => {
      fail(toIoError(`run ${command}`, cause))
      if (child.pid !== undefined) return
      ended = true
      finish({ type: 'exited', code: null, signal: null, process: self })
    })
    const input = child.stdin as Writable | undefined
    // Without a file to spare there are no streams at all.
    const outputs = [child.stdout, child.stderr].filter((stream: Readable | undefined) => stream !== undefined)
    const feeds = outputs.map((stream, i) => {
      const type = i === 0 ? 'stdout' : 'stderr'
      return new Feed<Output>(
        stream,
        owner,
        self,
        credits,
        (chunk) => [new Output(type, chunk, self)],
        () => self.stop(),
      )
    })
    child.on('spawn', () => tell({ type: 'started', pid: child.pid!, process: self }))
    input?.on('drain', () => tell({ type: 'drained', process: self }))
    /** What is written goes nowhere: told once, and not where the process was to be killed. */
    const refuse = (error: IoError): void => {
      if (refused || ended) return
      refused = true
      fail(error)
    }
    input?.on('error', (cause) => refuse(toIoError(`write to ${command}`, cause)))
    child.on('exit', () => {
      if (input !== undefined && input.writableLength > 0)
        refuse(new IoError(`write to ${command}`, 'write-lost', `${input.writableLength} bytes were not sent, because it has ended`))
    })
    child.on('close', (code, signal) => {
      if (ended) return
      ended = true
      finish({ type: 'exited', code, signal, process: self })
    })
    return {
      onCommand: (m) => {
        switch (m.type) {
          case 'write':
            if (input === undefined || overflown) return same
            try {
              checkBytes('data', m.data)
            } catch (cause) {
              fail(toIoError(`write to ${command}`, cause))
              return same
            }
            overflown = input.writableLength >= maxBuffered
            if (overflown) {
              refuse(new IoError(`write to ${command}`, 'write-overflow', `${input.writableLength} bytes already wait for it`))
              child.kill('SIGKILL')
            } else if (input.writable) input.write(m.data)
            else refuse(new IoError(`write to ${command}`, 'write-refused', 'its input has ended'))
            return same
          case 'end':
            input?.end()
            return same
          case 'kill':
            refused = true
            child.kill(m.signal ?? 'SIGTERM')
            return same
          case 'pause':
            for (const feed of feeds) feed.pause()
            return same
          case 'resume':
            for (const feed of feeds) feed.resume()
            return same
          default:
            return unhandled
        }
      },
      release: () => {
        for (const feed of feeds) feed.close()
        if (ended || child.pid === undefined) return
        // Children of the child may hold its pipes open long after it; nobody listens to them any more.
        const letGo = (): void => {
          for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
        }
        if (child.exitCode !== null || child.signalCode !== null) return letGo()
        // Read on into nothing: a child blocked on a full pipe could not end politely.
        child.stdout.resume()
        child.stderr.resume()
        child.stdin.destroy()
        child.kill('SIGTERM')
        const cancel = atMost(killAfter, () => child.kill('SIGKILL'))
        child.once('exit', () => {
          cancel()
          letGo()
        })
      },
    }
  })
}
